import ModelStore

/// The journal row at a reader's position.
///
/// Positions are reused only if another program empties the journal. If the journal then grows past
/// the position, the row there differs: a transaction's last row holds its id. Only a change of
/// another program with exactly the same values would look the same.
struct JournalAnchor {
  private let position: JournalPosition
  /// nil if unknown: before the first entry, and for a trimmed position.
  private let content: [SQLValue]?

  /// - Complexity: One seek.
  init(at position: JournalPosition, in journal: ChangeJournal) throws {
    self.position = position
    content = try journal.row(at: position)
  }

  /// Whether the row is still the same, or unknown. Rows read after the position then follow it.
  func holds(in journal: ChangeJournal) throws -> Bool {
    guard let content, let present = try journal.row(at: position) else { return true }
    return present == content
  }
}
