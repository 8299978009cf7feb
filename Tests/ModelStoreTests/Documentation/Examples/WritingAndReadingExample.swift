import ModelStore
import Testing

@Suite(.tags(.unit)) struct WritingAndReadingExample {
  @Test func aWriteCommitsAsAWholeAndReadsSeeOneState() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: writing-and-reading
    let store = try Store(at: path, models: Author.self, Book.self)

    let earthsea = try store.write { tx in
      try tx.insert(Author(id: 1, name: "Ursula K. Le Guin"))
      try tx.insert(Book(id: 2, title: "The Dispossessed", pages: 341, authorID: 1))
      return try tx.insert(Book(id: 1, title: "A Wizard of Earthsea", pages: 183, authorID: 1))
    }

    try store.write { tx in
      try tx.set(\Book.rating, to: 5, for: earthsea.id)
      try tx.update(Book.where { $0.authorID == 1 }, set: \.authorName, to: "U. K. Le Guin")
      do {
        try tx.savepoint { tx in
          try tx.delete(Book.self, 2)
          try tx.insert(Book(id: 3, title: "", pages: 1))
        }
      } catch let error as StoreError where error.code == .rejected {
        // The savepoint is undone: book 2 is still there. The transaction goes on.
      }
    }

    let (titles, pages) = try store.read { tx in
      let titles = try tx.fetch(Book.all.order { $0.title }).map(\.title)
      let pages = try tx.aggregate(.sum, of: \Book.pages, in: Book.all, as: Int.self)
      return (titles, pages)
    }
    // titles: ["A Wizard of Earthsea", "The Dispossessed"], pages: 524

    let wouldChange = try store.preview { tx in try tx.delete(Author.self, 1) }.changes
    let changed = try store.writeReturningChanges { tx in try tx.delete(Book.self, 2) }.changes
    // changed.changes: one deletion of Book 2
    // end
    #expect(titles == ["A Wizard of Earthsea", "The Dispossessed"])
    #expect(pages == 524)
    #expect(
      wouldChange.changes.map { "\($0.operation) \($0.model) \($0.key)" }.sorted() == [
        "delete Author [1]", "update Book [1]", "update Book [2]",
      ])
    #expect(changed.changes.map { "\($0.operation) \($0.model) \($0.key)" } == ["delete Book [2]"])
    #expect(try store.find(Author.self, 1) == Author(id: 1, name: "Ursula K. Le Guin"))
    var expected = earthsea
    expected.rating = 5
    expected.authorName = "U. K. Le Guin"
    #expect(try store.fetch(Book.all) == [expected])
  }

  @Test func oneStatementSetsSeveralFields() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(
      at: directory.file("library.store"), models: Author.self, Book.self)
    try store.write { tx in
      try tx.insert(Book(id: 1, title: "Notes", pages: 20))
      try tx.insert(Book(id: 2, title: "Gifts", pages: 274))
    }
    // snippet: bulk-update
    let count = try store.write { tx in
      try tx.update(Book.where { $0.authorID == nil && $0.pages < 100 }) {
        $0.set(\.rating, to: 1)
        $0.set(\.shelfMark, to: "misc")
      }
    }
    // count: 1
    // end
    #expect(count == 1)
    #expect(try store.fetch(Book.all).map(\.rating) == [1, nil])
    #expect(try store.fetch(Book.all).map(\.shelfMark) == ["misc", nil])
  }

  @Test func aCopyHasTheContentHashOfItsOriginal() throws {
    let directory = try TemporaryDirectory()
    let copyPath = directory.file("copy.store")
    let store = try Store(
      at: directory.file("library.store"), models: Author.self, Book.self)
    try store.write { tx in
      try tx.insert(Author(id: 1, name: "Ursula K. Le Guin"))
      try tx.insert(Book(id: 2, title: "The Dispossessed", pages: 341, authorID: 1))
    }
    // snippet: content-hash
    let copy = try Store(at: copyPath, models: Author.self, Book.self)
    try copy.write { tx in
      for author in try store.fetch(Author.all) { try tx.insert(author) }
      for book in try store.fetch(Book.all) { try tx.insert(book) }
    }
    let isComplete = try copy.contentHash() == store.contentHash()

    // Of one model, of a query, and as text to compare later:
    let books = try store.contentHash(of: Book.self)
    let rated = try store.contentHash(of: Book.where { $0.rating > 3 })
    let kept = books.description
    // end
    #expect(isComplete)
    #expect(rated != books)
    #expect(ContentHash(kept) == books)
  }

  @Test func aFunctionWritesInTheTransactionOfItsCaller() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("library.store"), models: Author.self, Book.self)
    try store.write { tx in
      try tx.insert(Author(id: 1, name: "Ursula K. Le Guin"))
      try tx.insert(Book(id: 1, title: "Gifts", pages: 274))
    }
    // snippet: transaction-in-a-function
    func assign(_ book: Int64, to author: Author, in tx: borrowing WriteTransaction) throws {
      try tx.set(\Book.authorID, to: author.id, for: book)
      try tx.set(\Book.authorName, to: author.name, for: book)
    }

    try store.write { tx in
      if let author = try tx.find(Author.self, 1) { try assign(1, to: author, in: tx) }
    }
    // end
    #expect(try store.find(Book.self, 1)?.authorName == "Ursula K. Le Guin")
  }
}
