/// The outcome of a transaction, according to its file.
public enum TransactionOutcome: String, Hashable, Sendable, Codable, CaseIterable {
  /// The file contains the transaction.
  case committed
  /// The file does not contain the transaction, and never will.
  case notCommitted
  /// The file cannot say: its change journal was disabled when the transaction began, or was
  /// trimmed since.
  case unknown
}
