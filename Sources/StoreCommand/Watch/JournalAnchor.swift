import ModelStore

/// What stands at a reader's place in the change journal.
///
/// Positions are used again only where somebody emptied the journal by hand. When it has grown
/// beyond the place since, the position says nothing, but something else stands there. Only another
/// program's change that is the same to the last value would be taken for what it was.
struct JournalAnchor {
  private enum Content: Equatable {
    case signed(TransactionID)
    case unsigned(JournalTransaction)

    init(_ transaction: JournalTransaction) {
      self = transaction.id.map { .signed($0) } ?? .unsigned(transaction)
    }
  }

  private let position: JournalPosition
  /// nil where nobody knows: before the first entry, and where it is trimmed.
  private let content: [Content]?

  /// - Complexity: Reads the transaction that ends there.
  init(at position: JournalPosition, in journal: ChangeJournal) throws {
    self.position = position
    content = try Self.content(at: position, in: journal)
  }

  /// Whether the same stands there, as far as anybody knows. What was read of the journal in
  /// between, behind the place, then follows it.
  func holds(in journal: ChangeJournal) throws -> Bool {
    guard let content, let present = try Self.content(at: position, in: journal) else {
      return true
    }
    return present == content
  }

  private static func content(
    at position: JournalPosition, in journal: ChangeJournal
  ) throws -> [Content]? {
    guard position > .start else { return nil }
    let before = JournalPosition(rawValue: position.rawValue - 1)
    do {
      return try journal.transactions(after: before, through: position).map { Content($0) }
    } catch let error as StoreError where error.code == .journalTrimmed {
      return nil
    }
  }
}
