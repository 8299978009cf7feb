/// Errors of a member that does not fit its ledger.
extension StoreError {
  /// What a program does about a file that no longer fits.
  private static let remedy =
    "Set SharedLedger.rebuildsMembers, or move the file away, and open the store again: it begins from the ledger's snapshot."

  /// The message without the advice, for a program that has followed it.
  var messageWithoutRemedy: String { message.replacing(" \(Self.remedy)", with: "") }

  static func diverged(_ number: CommitNumber, _ reason: String) -> StoreError {
    StoreError(
      .memberDiverged,
      "The commit \(number) does not fit this file: \(reason). Another program has probably changed the file without the ledger. Nothing was applied. \(remedy)"
    )
  }

  static var notAMember: StoreError {
    StoreError(
      .memberDiverged,
      "The file has left its shared store. Nothing was changed. Close the store, and open it again."
    )
  }

  /// Following waits for a program that writes to the file.
  static func locked(_ path: String) -> StoreError {
    StoreError(
      .busy,
      "A program has kept \(path) locked for longer than the busy timeout. Until it ends its transaction, this member receives nothing that others commit."
    )
  }

  static func otherEpoch(_ path: String, _ store: String) -> StoreError {
    StoreError(
      .memberOutdated,
      "The schema of the shared store \(store) has changed, and \(path) has the earlier one. Open the store again: it begins from the ledger's snapshot."
    )
  }

  /// For a command that was decided with the earlier schema. The file has the new one.
  static func schemaChangedMeanwhile(_ path: String, _ store: String) -> StoreError {
    StoreError(
      .memberOutdated,
      "Another member has changed the schema of the shared store \(store) meanwhile. \(path) has the new schema now, and nothing else was changed. Try again."
    )
  }

  static func schemaChanged(_ number: CommitNumber) -> StoreError {
    StoreError(
      .memberOutdated,
      "The commit \(number) changes the schema of the shared store, and this file has the commits before it. Update this program if it has earlier models, and open the store again: it begins from the ledger's snapshot."
    )
  }

  static func otherSchema(_ path: String, _ store: String) -> StoreError {
    StoreError(
      .memberDiverged,
      "Tables, indexes or triggers of \(path) are not those of the shared store \(store). Another program has probably changed them without the ledger. \(remedy)"
    )
  }

  static func unknownSchemaChange(_ transaction: TransactionID) -> StoreError {
    var error = StoreError(
      .outcomeUnknown,
      "The connection to the ledger broke while a change of the schema was on its way, and the ledger cannot be asked yet. Open the store again: it begins from the new schema, or repeats the change."
    )
    error.transaction = transaction
    return error
  }

  /// - Parameter oldest: The oldest commit that the ledger keeps.
  static func outdated(_ number: CommitNumber, oldest: CommitNumber) -> StoreError {
    StoreError(
      .memberOutdated,
      "This file has the commit \(number), and the ledger keeps only commits from \(oldest) on. Nothing was applied. \(remedy)"
    )
  }

  static func lostCommits(_ path: String, _ store: String) -> StoreError {
    StoreError(
      .ledgerLostCommits,
      "\(path) has commits of the shared store \(store) that its ledger does not have. The ledger has probably been restored to an earlier state. Nothing was changed. Keep the file, and compare it with a new member before you decide which content to keep."
    )
  }

  static func withoutLedger(_ path: String, _ store: String) -> StoreError {
    StoreError(
      .configurationConflict,
      "\(path) is a member of the shared store \(store), so a program needs its ledger to write. \(ledgerRemedy)"
    )
  }
}
