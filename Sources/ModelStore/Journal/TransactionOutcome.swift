/// What became of a transaction, as its file tells.
public enum TransactionOutcome: String, Hashable, Sendable, Codable, CaseIterable {
  /// The file holds what it did.
  case committed
  /// The file does not hold it, and never will.
  case notCommitted
  /// The file cannot tell: its change journal was off when the transaction began, or does not reach
  /// back so far.
  case unknown
}
