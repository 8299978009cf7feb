import Foundation
import ModelStore
import Synchronization
import Testing

@Suite(.tags(.unit)) struct JoinsExample {
  private static func library(at path: String) throws -> Store {
    let store = try Store(at: path, models: Author.self, Book.self)
    try store.write { tx in
      try tx.insert(Author(id: 1, name: "Ursula K. Le Guin"))
      try tx.insert(Book(id: 1, title: "Gifts", pages: 274, authorID: 1))
      try tx.insert(Book(id: 2, title: "The Tombs of Atuan", pages: 163, authorID: 1))
    }
    return store
  }

  @Test func relatedRecordsAreReadInOneSnapshot() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.library(at: directory.file("library.store"))
    // snippet: joins-in-swift
    let shelf = try store.read { tx in
      let books = try tx.fetch(Book.all.order { $0.title })
      let ids = Set(books.compactMap(\.authorID))
      let authors = try tx.fetch(Author.where { $0.id.in(ids) })
      let names = Dictionary(uniqueKeysWithValues: authors.map { ($0.id, $0.name) })
      return books.map { "\($0.title), \($0.authorID.flatMap { names[$0] } ?? "unknown")" }
    }
    // shelf: ["Gifts, Ursula K. Le Guin", "The Tombs of Atuan, Ursula K. Le Guin"]
    // end
    #expect(shelf == ["Gifts, Ursula K. Le Guin", "The Tombs of Atuan, Ursula K. Le Guin"])
    // snippet: joins-raw-sql
    struct Total: Decodable {
      var name: String
      var books: Int
      var pages: Int?
    }
    let pattern = "Ursula%"
    let totals = try store.read { tx in
      try tx.rows(
        """
        SELECT Author.name AS name, count(*) AS books, sum(Book.pages) AS pages
        FROM Author JOIN Book ON Book.authorID = Author.id
        WHERE Author.name LIKE \(pattern) GROUP BY Author.id ORDER BY pages DESC
        """, as: Total.self)
    }
    let pages = totals.map(\.pages)
    // pages: [437]
    // end
    #expect(totals.map { "\($0.name) \($0.books)" } == ["Ursula K. Le Guin 2"])
    #expect(pages == [437])
    // snippet: joins-arguments
    let rating: Int? = nil
    let ids: [Int64] = try store.read { tx in
      try tx.rows("SELECT id FROM Book WHERE rating IS \(rating) ORDER BY title", as: Int64.self)
    }
    // ids: [1, 2]
    // end
    #expect(ids == [1, 2])
    // snippet: joins-live-condition
    let theirs = Book.where { _ in
      .sql("authorID IN (SELECT id FROM Author WHERE name LIKE \(pattern))")
    }
    let live = try store.liveQuery(theirs.order { $0.title })
    let plan = live.plan.description
    // plan: re-executed after each commit that touches it, because …
    // end
    #expect(plan.hasPrefix("re-executed after each commit that touches it, because "))
    #expect(live.count == 2)
  }

  @Test func aViewIsAModelWithoutAKey() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.library(at: directory.file("library.store"))
    // snippet: joins-view
    try store.write { tx in
      try tx.execute(
        """
        CREATE VIEW BookCard AS
        SELECT Book.id, Book.title, Author.name AS author
        FROM Book LEFT JOIN Author ON Author.id = Book.authorID
        """)
    }
    try store.adopt(["BookCard"])

    let schema = try store.schema.model(named: "BookCard")
    let parser = PredicateParser(schema: schema, now: Date())
    let cards = StoreQuery<DynamicRecord>(
      schema, where: try parser.condition(parsing: "author is not null"),
      orderings: try parser.orderings(parsing: "title"))
    let titles = try store.fetch(cards).map { $0["title"] }
    // titles: [.text("Gifts"), .text("The Tombs of Atuan")]
    // end
    #expect(titles == [.text("Gifts"), .text("The Tombs of Atuan")])
    // snippet: joins-view-live
    let log = Mutex<[String]>([])
    let live = try store.liveQuery(cards)
    let subscription = try live.observe { changes in
      log.withLock { log in
        log.append("delete \(changes.deletions.map(\.index))")
        log.append("insert \(changes.insertions.map(\.index))")
      }
    }
    try store.write { tx in try tx.set(\Book.title, to: "Gifts, revised", for: 1) }
    store.waitForDelivery()
    // log: ["delete [0]", "insert [0]"]
    subscription.cancel()
    // end
    #expect(log.withLock { $0 } == ["delete [0]", "insert [0]"])
  }

  @Test func anIndexOfWordsIsWrittenWithTheRecords() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: full-text-table
    let migrations = [
      Migration(
        version: 1, name: "book text", sql: "CREATE VIRTUAL TABLE BookText USING fts5(title);")
    ]
    let store = try Store(at: path, models: Author.self, Book.self, migrations: migrations)

    func save(_ book: Book) throws {
      try store.write { tx in
        try tx.upsert(book)
        try tx.execute("DELETE FROM BookText WHERE rowid = \(book.id)")
        try tx.execute("INSERT INTO BookText (rowid, title) VALUES (\(book.id), \(book.title))")
      }
    }
    try save(Book(id: 1, title: "Gifts", pages: 274))
    try save(Book(id: 2, title: "The Tombs of Atuan", pages: 163))
    // end
    // snippet: full-text-search
    let words = "tombs"
    let found = try store.fetch(
      Book.where { _ in
        .sql("id IN (SELECT rowid FROM BookText WHERE BookText MATCH \(words))")
      })
    let ranked = try store.read { tx in
      try tx.rows(
        """
        SELECT Book.id, highlight(BookText, 0, '[', ']') AS title
        FROM BookText JOIN Book ON Book.id = BookText.rowid
        WHERE BookText MATCH \(words) ORDER BY rank LIMIT 20
        """)
    }
    let highlighted = ranked.map { $0["title"] }
    // found: The Tombs of Atuan, highlighted: [.text("The [Tombs] of Atuan")]
    // end
    #expect(found.map(\.id) == [2])
    #expect(highlighted == [.text("The [Tombs] of Atuan")])
    #expect(throws: StoreError.self) {
      try store.liveQuery(
        Book.where { _ in
          .sql("id IN (SELECT rowid FROM BookText WHERE BookText MATCH \(words))")
        })
    }
  }

  @Test func aConsumerKeepsTheIndexForEveryProgram() throws {
    let directory = try TemporaryDirectory()
    let migrations = [
      Migration(
        version: 1, name: "book text", sql: "CREATE VIRTUAL TABLE BookText USING fts5(title);")
    ]
    let store = try Store(
      at: directory.file("library.store"), models: Author.self, Book.self, migrations: migrations)
    // snippet: full-text-consumer
    try store.changeJournal.enable(.keys, for: ["Book"])
    let consumer = try store.consumer("book-text", startingAt: .start)

    func updateIndex() throws {
      while let batch = try consumer.next(limit: 500) {
        try store.write { tx in
          if batch.reset != nil {
            try tx.execute("DELETE FROM BookText")
            try tx.execute("INSERT INTO BookText (rowid, title) SELECT id, title FROM Book")
          }
          for change in batch.changes where change.model == "Book" {
            let id = change.key[0]
            try tx.execute("DELETE FROM BookText WHERE rowid = \(id)")
            try tx.execute(
              "INSERT INTO BookText (rowid, title) SELECT id, title FROM Book WHERE id = \(id)")
          }
          try tx.acknowledge(batch)
        }
      }
    }
    // end
    func hits(_ words: String) throws -> [Int64] {
      try store.fetch(
        Book.where { _ in
          .sql("id IN (SELECT rowid FROM BookText WHERE BookText MATCH \(words))")
        }
      ).map(\.id)
    }
    try store.write { tx in
      try tx.insert(Book(id: 1, title: "Gifts", pages: 274))
      try tx.insert(Book(id: 2, title: "The Tombs of Atuan", pages: 163))
    }
    try updateIndex()
    #expect(try hits("tombs") == [2])
    try store.write { tx in
      try tx.set(\Book.title, to: "Tombs", for: 1)
      try tx.delete(Book.self, 2)
    }
    try updateIndex()
    #expect(try hits("tombs") == [1])
  }
}
