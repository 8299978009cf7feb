import ModelStore
import Synchronization
import Testing

@Suite(.tags(.unit)) struct OrderedListsExample {
  @Test func aShelfKeepsItsBooksInOrder() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: ordered-lists
    struct Shelf: Model {
      var id: Int64
      var books = OrderedList<Book>()

      static let definition = ModelDefinition<Shelf>(
        "Shelf", key: \.id, fields: [.init("id", \.id)], lists: [.init("books", \.books)])

      var key: Int64 { id }

      init(id: Int64) { self.id = id }
      init(row: borrowing RowView) throws { id = try row.decode(at: 0) }
      func encode(to arguments: inout ArgumentWriter) throws {
        try id.encode(to: &arguments, at: 0)
      }
    }

    let store = try Store(at: path, models: Author.self, Book.self, Shelf.self)
    try store.write { tx in
      for (id, title) in [(1, "Gifts"), (2, "Voices"), (3, "Powers")] {
        try tx.insert(Book(id: Int64(id), title: title, pages: 300))
      }
      try tx.insert(Shelf(id: 1))
      let books = try tx.list(\Shelf.books, of: 1)
      try books.append(1)
      try books.append(2)
      try books.append(1)
      try books.insert(3, at: 1)
      try books.move(from: 3, to: 0)
    }
    let keys = try store.read { tx in try tx.keys(of: \Shelf.books, of: 1) }
    // keys: [1, 1, 3, 2]

    try store.write { tx in try tx.delete(Book.self, 1) }
    let rest = try store.read { tx in try tx.keys(of: \Shelf.books, of: 1) }
    // rest: [3, 2]
    // end
    #expect(keys == [1, 1, 3, 2])
    #expect(rest == [3, 2])
  }

  @Test func aLinkTableOfAnotherProgramHoldsLists() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("other.db")
    try PlainDatabase(path).execute(
      """
      CREATE TABLE Playlist(PlaylistId INTEGER PRIMARY KEY, Name TEXT);
      CREATE TABLE Track(TrackId INTEGER PRIMARY KEY, Name TEXT);
      CREATE TABLE PlaylistEntry(PlaylistId INT, TrackId INT, Position INT);
      INSERT INTO Playlist VALUES (1, 'Music');
      INSERT INTO PlaylistEntry VALUES (1, 10, 1), (1, 20, 2), (1, 30, 3);
      """)
    let store = try Store(at: path)
    try store.adopt(["Playlist", "Track"])
    // snippet: adopting-lists
    try store.adopt(
      ListSchema(
        name: "tracks", elementTable: "Track", slotTable: "PlaylistEntry",
        columns: .init(owner: "PlaylistId", element: "TrackId", position: "Position")),
      of: "Playlist")
    let playlist = try store.schema.model(named: "Playlist")
    let list = try store.liveList("tracks", of: playlist, key: .integer(1))
    try store.write { tx in
      try tx.list("tracks", of: playlist, key: .integer(1)).move(from: 2, to: 0)
    }
    let keys = try list.contents.keys()
    // keys: [30, 10, 20]
    // end
    #expect(keys == [.integer(30), .integer(10), .integer(20)])
  }

  @Test func anObserverReceivesOperationsAndTheNetDifference() throws {
    let three = try ShelfOfThree()
    let store = three.store
    defer { withExtendedLifetime(three) {} }
    // snippet: observing-ordered-lists
    let log = Mutex<[String]>([])
    let shelf = Mutex<[Int64]>([])
    let subscription = try store.observe(
      list: \BookShelf.books, of: 1, fields: [\Book.title], options: .initial
    ) { changes in
      shelf.withLock { changes.apply(to: &$0) }
      log.withLock { log in
        for operation in changes.operations ?? [] { log.append("\(operation.kind)") }
        for deletion in changes.deletions { log.append("- \(deletion.index)") }
        for insertion in changes.insertions { log.append("+ \(insertion.index)") }
        for move in changes.moves { log.append("\(move.oldIndex) → \(move.newIndex)") }
        for update in changes.updates {
          log.append("\(update.newIndex) is called \(update.fields[0].new)")
        }
      }
    }

    try store.write { tx in
      let books = try tx.list(\BookShelf.books, of: 1)
      try books.move(from: 2, to: 0)
      try books.replace(at: 1, with: 2)
      try tx.set(\Book.title, to: "Powers, revised", for: 3)
    }
    store.waitForDelivery()
    let keys = shelf.withLock { $0 }
    // keys: [3, 2, 2]
    // log: ["+ 0", "+ 1", "+ 2", "move", "replace", "- 0", "+ 1", "2 → 0",
    //       "0 is called 'Powers, revised'"]

    subscription.cancel()
    // end
    #expect(keys == [3, 2, 2])
    #expect(
      log.withLock { $0 } == [
        "+ 0", "+ 1", "+ 2", "move", "replace", "- 0", "+ 1", "2 → 0",
        "0 is called 'Powers, revised'",
      ])
  }
}

/// A shelf with the books 1, 2 and 3.
private struct ShelfOfThree {
  let directory: TemporaryDirectory
  let store: Store

  init() throws {
    directory = try TemporaryDirectory()
    store = try Store(
      at: directory.file("library.store"), models: Author.self, Book.self, BookShelf.self)
    try store.write { tx in
      for (id, title) in [(1, "Gifts"), (2, "Voices"), (3, "Powers")] {
        try tx.insert(Book(id: Int64(id), title: title, pages: 300))
      }
      try tx.insert(BookShelf(id: 1))
      try tx.list(\BookShelf.books, of: 1).append(contentsOf: [1, 2, 3])
    }
  }
}

private struct BookShelf: Model {
  var id: Int64
  var books = OrderedList<Book>()

  static let definition = ModelDefinition<BookShelf>(
    "BookShelf", key: \.id, fields: [.init("id", \.id)], lists: [.init("books", \.books)])

  var key: Int64 { id }

  init(id: Int64) { self.id = id }
  init(row: borrowing RowView) throws { id = try row.decode(at: 0) }
  func encode(to arguments: inout ArgumentWriter) throws { try id.encode(to: &arguments, at: 0) }
}
