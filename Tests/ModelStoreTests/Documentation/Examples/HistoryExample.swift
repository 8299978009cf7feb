import ModelStore
import Testing

@Suite(.tags(.unit)) struct HistoryExample {
  private static func library(at path: String) throws -> Store {
    let store = try Store(at: path, models: Author.self, Book.self)
    try store.changeJournal.enable()
    return store
  }

  @Test func theJournalReportsWhoChangedWhat() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: reading-history
    let store = try Store(at: path, models: Author.self, Book.self)
    try store.changeJournal.enable()
    try store.write { tx in
      tx.sign(author: "ann", tag: "first books")
      try tx.insert(Book(id: 1, title: "Gifts", pages: 286))
    }
    try store.write { tx in
      tx.sign(author: "bob")
      try tx.set(\Book.pages, to: 288, for: 1)
    }

    var lines: [String] = []
    let filter = JournalFilter(model: "Book", key: [.integer(1)])
    for transaction in try store.changeJournal.transactions(matching: filter) {
      for change in transaction.changes {
        let author = transaction.author ?? "unknown"
        lines.append("\(author): \(change.operation), pages \(change["pages"]?.new ?? .null)")
      }
    }
    // lines: ["ann: insert, pages 286", "bob: update, pages 288"]
    // end
    #expect(lines == ["ann: insert, pages 286", "bob: update, pages 288"])
  }

  @Test func anEarlierStateIsRead() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.library(at: directory.file("library.store"))
    // snippet: reading-the-past
    try store.write { tx in try tx.insert(Book(id: 1, title: "Gifts", pages: 286)) }
    let before = try store.changeJournal.position()
    try store.write { tx in
      try tx.insert(Book(id: 2, title: "Voices", pages: 341))
      try tx.delete(Book.self, 1)
    }

    let books = Book.all.order { $0.title }
    let then = try store.fetch(books, at: before).map(\.title)
    // then: ["Gifts"]
    let gifts = try store.find(Book.self, 1, at: before)
    // gifts?.pages: 286
    let changes = try store.difference(of: books, from: before)
    // changes.deletions[0].index: 0, changes.insertions[0].record.title: "Voices"
    // end
    #expect(then == ["Gifts"])
    #expect(gifts?.pages == 286)
    #expect(changes.deletions.map(\.index) == [0])
    #expect(changes.insertions.map(\.record.title) == ["Voices"])
  }

  @Test func aTransactionIsUndone() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.library(at: directory.file("library.store"))
    // snippet: undoing
    try store.write { tx in try tx.insert(Book(id: 1, title: "Gifts", pages: 286)) }
    let renaming = try store.write { tx in
      try tx.set(\Book.title, to: "Gaben", for: 1)
      return tx.id
    }
    try store.write { tx in try tx.set(\Book.pages, to: 288, for: 1) }

    try store.revert(renaming)
    let book = try store.find(Book.self, 1)
    // book?.title: "Gifts", book?.pages: 288
    try store.undo()  // the number of pages
    try store.redo()

    var conflicts: [Violation] = []
    do {
      try store.write { tx in try tx.set(\Book.title, to: "Geschenke", for: 1) }
      try store.revert(renaming)
    } catch let error as StoreError where error.code == .conflict {
      conflicts = error.violations
    }
    // conflicts[0].fields: ["title"], conflicts[0].message: "changed since"
    // end
    #expect(book?.title == "Gifts")
    #expect(book?.pages == 288)
    #expect(conflicts.map(\.fields) == [["title"]])
    #expect(conflicts.map(\.message) == ["changed since"])
  }

  @Test func anOutcomeIsFound() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    var store = try Self.library(at: path)
    // snippet: finding-an-outcome
    func insert(_ author: Author) throws -> TransactionOutcome {
      do {
        try store.write { tx in try tx.insert(author) }
        return .committed
      } catch let error as StoreError where error.code == .outcomeUnknown {
        store.close()
        store = try Store(at: path, models: Author.self, Book.self)
        guard let transaction = error.transaction else { return .unknown }
        return try store.changeJournal.outcome(of: transaction)
      }
    }
    let outcome = try insert(Author(id: 1, name: "Ursula K. Le Guin"))
    // outcome: .committed
    // end
    #expect(outcome == .committed)
  }
}
