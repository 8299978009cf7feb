import ModelStore

/// What stands at a reader's place in the change journal.
///
/// Positions are used again only where somebody emptied the journal by hand. When it has grown
/// beyond the place since, the position says nothing, but something else stands there: a
/// transaction's last row holds its id. Only another program's change that is the same to the last
/// value would be taken for what it was.
struct JournalAnchor {
  private let position: JournalPosition
  /// nil where nobody knows: before the first entry, and where it is trimmed.
  private let content: [SQLValue]?

  /// - Complexity: One seek.
  init(at position: JournalPosition, in journal: ChangeJournal) throws {
    self.position = position
    content = try journal.row(at: position)
  }

  /// Whether the same stands there, as far as anybody knows. What was read of the journal in
  /// between, behind the place, then follows it.
  func holds(in journal: ChangeJournal) throws -> Bool {
    guard let content, let present = try journal.row(at: position) else { return true }
    return present == content
  }
}
