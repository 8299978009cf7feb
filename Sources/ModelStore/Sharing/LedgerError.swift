/// Why a ledger did not do what it was asked.
package enum LedgerError: Error, Hashable, Sendable {
  /// The ledger cannot be reached, or the connection broke. Nothing was changed; try again.
  case unreachable(String)
  /// The ledger does not know the user, or the password is wrong.
  case notAuthenticated(String)
  /// The user may not do this in the ledger.
  case notPermitted(String)
  /// The ledger can only be read, for example because it is a standby.
  case readOnly(String)
  /// Other members kept the turn until the deadline.
  case timedOut(String)
  /// The ledger has no space left.
  case outOfSpace(String)
  /// The ledger is not the store's: its tables are missing, newer than this library, or the commit
  /// does not follow its head.
  case mismatch(String)
  /// The connection broke while a commit was on its way. Ask for its transaction before the next
  /// write.
  case outcomeUnknown(TransactionID)
  /// A statement of the ledger failed for another reason.
  case failed(String)
}

extension LedgerError {
  /// What the ledger said.
  package var message: String {
    switch self {
    case .unreachable(let text), .notAuthenticated(let text), .notPermitted(let text),
      .readOnly(let text), .timedOut(let text), .outOfSpace(let text), .mismatch(let text),
      .failed(let text):
      text
    case .outcomeUnknown(let transaction):
      "The connection broke while the transaction \(transaction) was on its way."
    }
  }
}
