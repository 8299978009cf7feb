import Testing

@testable import ModelStore

/// Many records with few statements, and the cases in which each takes its own.
@Suite(.tags(.unit)) struct RecordBatchTests {
  /// A record whose key may be left out.
  private struct NewArtist: Insertable {
    var id: Int64?
    var name: String

    func encode(to arguments: inout ArgumentWriter) throws {
      try id.encode(to: &arguments, at: 0)
      try name.encode(to: &arguments, at: 1)
    }

    func record(rowID: Int64) throws -> Artist { Artist(id: id ?? rowID, name: name) }
  }

  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("batches.store")
  }

  private func artists(_ ids: some Sequence<Int64>) -> [Artist] {
    ids.map { Artist(id: $0, name: "artist \($0)") }
  }

  /// The number of statements that `body` begins.
  private func statementCount(
    _ tx: borrowing WriteTransaction, _ body: (borrowing WriteTransaction) throws -> Void
  ) rethrows -> Int {
    let before = tx.access.connection.statementCount
    try body(tx)
    return tx.access.connection.statementCount - before
  }

  @Test func aStatementInserts64Records() throws {
    let store = try Store(at: path, models: Artist.self)
    let counts = try store.write { tx in
      // The first call also reads what the table is like.
      try tx.insert(contentsOf: artists(1...64))
      // Both read the schema's version. Only generated keys need the greatest key.
      return [
        try statementCount(tx) { tx in try tx.insert(contentsOf: artists(101...740)) },
        try statementCount(tx) { tx in
          try tx.insert(contentsOf: (0..<640).map { NewArtist(name: "new \($0)") })
        },
        try statementCount(tx) { tx in try tx.insert(contentsOf: artists(2001...2070)) },
        // A few records are inserted one by one.
        try statementCount(tx) { tx in try tx.insert(contentsOf: artists(4001...4010)) },
        try statementCount(tx) { tx in for artist in artists(3001...3010) { try tx.insert(artist) }
        },
      ]
    }
    #expect(counts == [1 + 10, 1 + 1 + 10, 1 + 1 + 6, 10, 10])
    #expect(try store.fetch(Artist.all).count == 64 + 640 + 640 + 70 + 10 + 10)
  }

  @Test func generatedKeysAreThoseOfTheFile() throws {
    let store = try Store(at: path, models: Artist.self)
    try store.write { tx in
      try tx.insert(contentsOf: artists([-7, 12, 5]))
      try tx.delete(Artist.self, 12)
      let new = (0..<200).map { NewArtist(name: "new \($0)") }
      let inserted = try tx.insert(contentsOf: new)
      #expect(inserted.map(\.id) == Array(6..<206))
      #expect(try tx.fetch(Artist.where { $0.id >= 6 }) == inserted)
      try tx.delete(Artist.all)
      #expect(try tx.insert(contentsOf: new).map(\.id) == Array(1...200))
      try tx.delete(Artist.all)
      try tx.insert(Artist(id: -3, name: "below zero"))
      #expect(try tx.insert(contentsOf: new).map(\.id) == Array(-2..<198))
    }
  }

  @Test func keysAtTheGreatestIntegerAreChosenOneByOne() throws {
    let store = try Store(at: path, models: Artist.self)
    try store.write { tx in
      try tx.insert(Artist(id: .max - 10, name: "last"))
      let inserted = try tx.insert(contentsOf: (0..<100).map { NewArtist(name: "new \($0)") })
      #expect(inserted.prefix(10).map(\.id) == Array((Int64.max - 9)...Int64.max))
      #expect(Set(inserted.map(\.id)).count == 100)
      for artist in inserted { #expect(try tx.find(Artist.self, artist.id) == artist) }
    }
  }

  /// SQLite copies the arguments of a statement, so memory would grow with the number of its rows.
  @Test func largeRecordsAreInsertedOneByOne() throws {
    let store = try Store(at: path, models: Artist.self, Album.self)
    let text = String(repeating: "n", count: 40_000)
    func albums(_ ids: ClosedRange<Int64>, _ text: String) -> [Album] {
      ids.map { Album(id: $0, title: "album", artistName: text) }
    }
    let counts = try store.write { tx in
      try tx.insert(contentsOf: albums(1...64, "short"))
      return [
        try statementCount(tx) { tx in try tx.insert(contentsOf: albums(101...164, "short")) },
        try statementCount(tx) { tx in try tx.insert(contentsOf: albums(201...264, text)) },
      ]
    }
    #expect(counts[0] < 5)
    #expect(counts[1] >= 64)
    #expect(try store.fetch(Album.where { $0.id > 200 }) == albums(201...264, text))
  }

  /// A record that sets more arguments than it has fields, which are another record's in a batch.
  private struct WideArtist: Insertable {
    let id: Int64

    func encode(to arguments: inout ArgumentWriter) throws {
      arguments.set(id, at: 0)
      arguments.set("wide", at: 1)
      if id == 9 { arguments.set("beside", at: 2) }
    }

    func record(rowID: Int64) throws -> Artist { Artist(id: id, name: "wide") }
  }

  @Test func aRecordSetsNoArgumentOfAnother() throws {
    let store = try Store(at: path, models: Artist.self)
    let artists = (1...64).map { WideArtist(id: $0) }
    let alone = failure {
      try store.write { tx in for artist in artists { try tx.insert(artist) } }
    }
    let together = failure { try store.write { tx in try tx.insert(contentsOf: artists) } }
    #expect(alone != nil)
    #expect(together == alone)
  }

  /// SQLite counts the broken references of a statement. A row for which an orphan waits would make
  /// up for the row before it.
  @Test func anOrphanHidesNoBrokenReference() throws {
    let store = try Store(at: path, models: Artist.self, Album.self)
    try PlainDatabase(path).execute(
      "CREATE TABLE Note(albumID REFERENCES Album(id)); INSERT INTO Note VALUES (50)")
    let albums = (1...64).map { Album(id: $0, title: "album", artistID: $0 == 9 ? 999 : nil) }
    #expect(code { try store.write { tx in try tx.insert(contentsOf: albums) } } == .rejected)
    #expect(try store.fetch(Album.all) == [])
  }

  @Test func someRecordsMayHaveTheirKeys() throws {
    let store = try Store(at: path, models: Artist.self)
    try store.write { tx in
      let values = (0..<130).map { NewArtist(id: $0 == 70 ? 1000 : nil, name: "new \($0)") }
      let inserted = try tx.insert(contentsOf: values)
      #expect(inserted.map(\.id) == Array(1...70) + Array(1000...1059))
      #expect(try tx.fetch(Artist.all) == inserted)
    }
  }

  @Test func aCounterOfTheTableIsFollowed() throws {
    struct Ticket: Model, Hashable {
      struct New: Insertable {
        func encode(to arguments: inout ArgumentWriter) throws { arguments.setNull(at: 0) }
        func record(rowID: Int64) throws -> Ticket { Ticket(id: rowID) }
      }
      var id: Int64
      static let definition = ModelDefinition<Ticket>(
        "Ticket", key: \.id, fields: [.init("id", \.id)])
      var key: Int64 { id }
      init(id: Int64) { self.id = id }
      init(row: borrowing RowView) throws { id = try row.decode(at: 0) }
      func encode(to arguments: inout ArgumentWriter) throws { arguments.set(id, at: 0) }
    }
    try PlainDatabase(path).execute(
      "PRAGMA journal_mode = WAL; CREATE TABLE Ticket(id INTEGER PRIMARY KEY AUTOINCREMENT) STRICT")
    let store = try Store(at: path, models: Ticket.self)
    try store.write { tx in
      try tx.insert(Ticket(id: 500))
      try tx.delete(Ticket.self, 500)
      let inserted = try tx.insert(contentsOf: (0..<70).map { _ in Ticket.New() })
      #expect(inserted.map(\.id) == Array(501...570))
      #expect(try tx.fetch(Ticket.all) == inserted)
    }
  }

  @Test func theErrorIsThatOfTheFirstRefusedRecord() throws {
    let store = try Store(at: path, models: Artist.self)
    var records = artists(1...300)
    records[150].name = ""
    records[151].id = 3
    records[200].name = ""
    let changes = try store.writeReturningChanges { tx in
      let refused = failure { try tx.insert(contentsOf: records) }
      let alone = failure { try tx.insert(records[150]) }
      #expect(refused?.code == .rejected)
      #expect(refused == alone)
      let kept = try tx.fetch(Artist.all)
      #expect(kept == Array(records[..<150]))
    }.changes
    #expect(changes.changes.count == 150)
    #expect(try store.fetch(Artist.all) == Array(records[..<150]))
  }

  @Test func aRecordThatCannotBeEncodedLeavesTheOnesBeforeIt() throws {
    struct Refusing: Insertable {
      struct Refusal: Error {}
      let artist: Artist
      var refusesEncoding = false
      var refusesNumber = false

      func encode(to arguments: inout ArgumentWriter) throws {
        if refusesEncoding { throw Refusal() }
        try artist.encode(to: &arguments)
      }

      func record(rowID: Int64) throws -> Artist {
        if refusesNumber { throw Refusal() }
        return artist
      }
    }
    let store = try Store(at: path, models: Artist.self)
    try store.write { tx in
      var values = artists(1...100).map { Refusing(artist: $0) }
      values[10].refusesEncoding = true
      #expect(throws: Refusing.Refusal.self) { try tx.insert(contentsOf: values) }
      #expect(try tx.fetch(Artist.all).map(\.id) == Array(1...10))
      try tx.delete(Artist.all)
      values[10].refusesEncoding = false
      values[10].refusesNumber = true
      // As with a single insertion, the record is in the file when its number is asked for.
      #expect(throws: Refusing.Refusal.self) { try tx.insert(contentsOf: values) }
      #expect(try tx.fetch(Artist.all).map(\.id) == Array(1...11))
    }
  }

  @Test func aChangeOfTheTableInTheTransactionIsHeeded() throws {
    let store = try Store(at: path, models: Artist.self)
    try store.write { tx in
      try tx.insert(contentsOf: artists(1...64))
      try tx.execute(
        """
        CREATE TRIGGER skip AFTER INSERT ON Artist WHEN NEW.id = 102
        BEGIN SELECT RAISE(IGNORE); END
        """)
      let count = try statementCount(tx) { tx in
        try tx.insert(contentsOf: artists(201...264))
      }
      #expect(count == 1 + 64)
    }
  }

  @Test func rowsAreInsertedOneByOneWhereOneStatementCouldDiffer() throws {
    let tables = [
      "CREATE TABLE T(id INTEGER PRIMARY KEY, n INTEGER)": "yes yes",
      "CREATE TABLE T(id TEXT NOT NULL PRIMARY KEY, n) WITHOUT ROWID": "yes yes",
      "CREATE TABLE T(id INTEGER PRIMARY KEY AUTOINCREMENT, n)": "yes yes",
      "CREATE TABLE T(id INTEGER PRIMARY KEY, n INTEGER REFERENCES T)": "no yes",
      "CREATE TABLE T(id INTEGER PRIMARY KEY, n UNIQUE ON CONFLICT REPLACE)": "no no",
      "CREATE TABLE T(id INTEGER PRIMARY KEY ON CONFLICT IGNORE, n)": "no no",
      "CREATE TABLE T(id INTEGER PRIMARY KEY, n NOT NULL ON CONFLICT FAIL)": "no no",
      "CREATE TABLE T(id INTEGER PRIMARY KEY, n UNIQUE on conflict rollback)": "no no",
      """
      CREATE TABLE T(id INTEGER PRIMARY KEY, n);
      CREATE TRIGGER t AFTER INSERT ON t BEGIN SELECT 1; END
      """: "no no",
    ]
    for (script, expected) in tables {
      let world = try JournalWorld(script)
      let schema = try world.store.schema.model(named: "T")
      let found = try world.store.write { tx in
        try [false, true].map { defers in
          try tx.rowInsertion(of: [0, 1], into: schema, defersReferences: defers) == nil
            ? "no" : "yes"
        }
      }
      #expect(found.joined(separator: " ") == expected, "\(script)")
    }
  }

  @Test func observersAndValidatorsSeeWhatSingleInsertionsWouldShow() throws {
    func told(_ insert: ([Artist], borrowing WriteTransaction) throws -> Void) throws -> [String] {
      let directory = try TemporaryDirectory()
      let seen = Recorder<String>()
      let validator = Validator("seen", Artist.self) { change, _ in
        seen.add("validated \(change)")
        return change.new?.name == "refused" ? .reject("is refused", \.name) : .accept
      }
      let store = try Store(
        at: directory.file("told.store"), models: Artist.self, validators: [validator])
      let token = try store.observe(Artist.self) { event in
        for change in event.changes { seen.add("\(change.change)") }
      }
      try store.write { tx in try insert(artists(1...150), tx) }
      // Otherwise the validator of the next write may come first.
      store.waitForDelivery()
      let refused = artists(201...300) + [Artist(id: 500, name: "refused")]
      seen.add("\(failure { try store.write { tx in try insert(refused, tx) } } as Any)")
      store.waitForDelivery()
      withExtendedLifetime(token) {}
      return seen.taken()
    }
    let together = try told { try $1.insert(contentsOf: $0) }
    let alone = try told { for artist in $0 { try $1.insert(artist) } }
    #expect(together == alone)
    #expect(together.count > 400)
  }

  @Test func aBindingReadsEachRecordAfterItsOwnStatement() throws {
    let shop = try MusicShop()
    let albums = (10..<100).map { Album(id: $0, title: "t", artistID: 1) }
    let inserted = try shop.store.write { tx in try tx.insert(contentsOf: albums) }
    #expect(inserted.map(\.artistName) == Array(repeating: "Miles", count: 90))
    #expect(try shop.store.fetch(Album.where { $0.id >= 10 }) == inserted)
  }
}
