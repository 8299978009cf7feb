import ModelStore
import Testing

@Suite(.tags(.unit)) struct ComingFromGRDBExample {
  @Test func theTenTasksOfAGRDBProgram() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: from-grdb-open
    let store = try await Store(at: path, models: Author.self, Book.self)
    // end
    // snippet: from-grdb-insert
    try await store.write { tx in
      try tx.insert(Author(id: 1, name: "Ursula K. Le Guin"))
      try tx.insert(Book(id: 1, title: "Gifts", pages: 274, authorID: 1))
      _ = try tx.insert(Book(id: 2, title: "Voices", pages: 341, authorID: 1))
    }
    // end
    // snippet: from-grdb-find
    let gifts = try await store.find(Book.self, 1)
    // end
    // snippet: from-grdb-query
    let long = Book.where { $0.pages > 300 && $0.title.hasPrefix("V") }.order { $0.title }
    let books = try await store.fetch(long.limit(20))
    let count = try await store.read { tx in try tx.count(long) }
    // end
    #expect(gifts?.title == "Gifts")
    #expect(books.map(\.id) == [2])
    #expect(count == 1)
    // snippet: from-grdb-update
    try await store.write { tx in
      guard var book = try tx.find(Book.self, 1) else { return }
      book.rating = 4
      try tx.update(book)
      try tx.set(\Book.pages, to: 286, for: 1)
      try tx.update(Book.where { $0.rating == nil }, set: \.rating, to: 3)
    }
    // end
    // snippet: from-grdb-delete
    try await store.write { tx in
      try tx.delete(Book.self, 2)
      try tx.delete(Book.where { $0.rating < 2 })
    }
    // end
    #expect(try await store.fetch(Book.all).map(\.rating) == [4])
    // snippet: from-grdb-raw-sql
    let minimum = 200
    let rows = try await store.read { tx in
      try tx.rows(
        """
        SELECT Author.name, count(*) AS books FROM Author
        JOIN Book ON Book.authorID = Author.id WHERE Book.pages > \(minimum)
        GROUP BY Author.id
        """)
    }
    let line = rows.map { "\($0["name"] ?? .null): \($0["books"] ?? .null)" }
    // line: ["'Ursula K. Le Guin': 1"]
    // end
    #expect(line == ["'Ursula K. Le Guin': 1"])
    let shown = Recorder<[String]>()
    @Sendable func show(_ books: [Book]) { shown.add(books.map(\.title)) }
    // snippet: from-grdb-observe
    let live = try await store.liveQuery(Book.all.order { $0.title })
    let observing = Task {
      var books: [Book] = []
      for try await changes in try await live.changes(options: .initial) {
        changes.apply(to: &books)
        show(books)
      }
    }
    // end
    while shown.events.last != ["Gifts"] { await Task.yield() }
    try await store.write { tx in
      _ = try tx.insert(Book(id: 3, title: "Powers", pages: 400, authorID: 1))
    }
    while shown.events.last != ["Gifts", "Powers"] { await Task.yield() }
    observing.cancel()
    try await observing.value
  }

  @Test func aMigrationIsNumberedSQLText() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: from-grdb-migrate
    let migrations = [
      Migration(
        version: 1, name: "reading list",
        sql: """
          CREATE TABLE reading (book INTEGER PRIMARY KEY, since TEXT NOT NULL) STRICT;
          CREATE INDEX reading_by_since ON reading (since);
          """)
    ]
    let store = try Store(
      at: path, models: Author.self, Book.self, migrations: migrations)
    // end
    let tables = try store.read { tx in
      try tx.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'reading%' ORDER BY name")
    }
    #expect(tables.map { $0["name"] } == [.text("reading"), .text("reading_by_since")])
  }

  @Test func aRefusedWriteListsItsViolations() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("library.store"), models: Author.self, Book.self)
    // snippet: from-grdb-error
    var refusals: [String] = []
    do {
      try store.write { tx in try tx.insert(Book(id: 1, title: "", pages: 0)) }
    } catch let error as StoreError where error.code == .rejected {
      refusals = error.violations.map { "\($0.fields): \($0.message)" }
    }
    // end
    #expect(refusals == ["[\"title\"]: must not be empty", "[\"pages\"]: must be 1 or greater"])
  }
}
