/// How much of each change of a model the journal keeps.
public enum JournalDetail: String, Hashable, Sendable, Codable, CaseIterable {
  /// The key, and the old and new value of each changed field. Other processes receive exact
  /// changes, and you can undo changes.
  case full
  /// The key and the operation. Other processes refetch.
  case keys
}
