/// How much the change journal keeps of each change of a model.
public enum JournalDetail: String, Hashable, Sendable, Codable, CaseIterable {
  /// The key, and of each changed field the value before and after. What other processes are told
  /// is then exact, and changes can be undone.
  case full
  /// The key and what happened to it. Others are told to look anew.
  case keys
}
