/// The ledger of a shared store, and the store's name in it. See ``StoreConfiguration/ledger``.
public struct SharedLedger: Sendable {
  /// The name of the store in the ledger.
  public let name: String
  /// Whether opening a store replaces a member's file that no longer fits the shared store, because
  /// it diverged or is too old. False by default.
  ///
  /// The member then begins again from the ledger's snapshot. Its earlier file stays beside it,
  /// with `.diverged-1` after its name, and ``Store`` reports that with the code `memberDiverged`
  /// or `memberOutdated`. A file with commits that the ledger has lost is never replaced. To find
  /// out, opening waits until the member has caught up.
  ///
  /// If only the schema of the shared store has changed, a member begins again in any case, and
  /// nothing is kept or reported: the ledger has everything of its file.
  public var rebuildsMembers = false
  /// Describes the ledger without a password. Two stores in one process with the same text share
  /// their connections.
  package let description: String
  /// The bytes of commits for which a new snapshot of a small file is not worth while; tests lower
  /// it. A larger file gets a new snapshot after as many bytes as it has.
  package var snapshotByteCountMin: Int64 = 64 << 20
  private let connect: @Sendable () throws -> any CommitLedger

  /// - Parameter connect: Makes the ledger. It may connect later.
  package init(
    name: String, description: String,
    connect: @escaping @Sendable () throws -> any CommitLedger
  ) {
    self.name = name
    self.description = description
    self.connect = connect
  }

  func open() throws -> any CommitLedger { try connect() }
}

/// Equal if they name the same store of the same ledger.
extension SharedLedger: Hashable {
  public static func == (left: SharedLedger, right: SharedLedger) -> Bool {
    left.name == right.name && left.description == right.description
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(description)
  }
}

extension LedgerError {
  /// The error that callers of a store see.
  package var storeError: StoreError {
    switch self {
    case .unreachable(let text):
      StoreError(
        .ledgerUnavailable,
        "The ledger cannot be reached: \(Self.sentence(text)) Nothing was changed; try again.")
    case .timedOut(let text):
      StoreError(
        .busy,
        "Other members of the shared store keep writing: \(Self.sentence(text)) Nothing was changed; try again."
      )
    case .readOnly(let text):
      StoreError(
        .ledgerUnavailable,
        "The ledger cannot be written now: \(Self.sentence(text)) Nothing was changed; try again.")
    case .notAuthenticated(let text), .notPermitted(let text):
      StoreError(
        .ledgerUnavailable,
        "The ledger refuses this program: \(Self.sentence(text)) Nothing was changed.")
    case .outOfSpace(let text):
      StoreError(
        .outOfSpace, "The ledger has no space left: \(Self.sentence(text)) Nothing was changed.")
    case .mismatch(let text), .failed(let text):
      StoreError(
        .ledgerUnavailable, "The ledger failed: \(Self.sentence(text)) Nothing was changed.")
    case .outcomeUnknown(let transaction): StoreError.outcomeUnknown(transaction, message)
    }
  }

  /// PostgreSQL's messages have no full stop.
  private static func sentence(_ text: String) -> String {
    text.hasSuffix(".") ? text : text + "."
  }
}

extension StoreError {
  fileprivate static func outcomeUnknown(
    _ transaction: TransactionID, _ message: String
  ) -> StoreError {
    var error = StoreError(.outcomeUnknown, message)
    error.transaction = transaction
    return error
  }
}
