import Testing

@testable import ModelStore

/// An observed record is the one that SQLite finds by the key, not the one with the same bytes.
@Suite(.tags(.unit)) struct ObservedKeyTests {
  /// A key whose texts compare without regard to case.
  struct Word: Model, Hashable {
    var name: String
    var count: Int

    static let definition = ModelDefinition<Word>(
      "Word", key: \.name,
      fields: [.init("name", \.name, collation: .nocase), .init("count", \.count)])

    var key: String { name }

    init(name: String, count: Int) {
      self.name = name
      self.count = count
    }

    init(row: borrowing RowView) throws {
      name = try row.decode(at: 0)
      count = try row.decode(at: 1)
    }

    func encode(to arguments: inout ArgumentWriter) throws {
      try name.encode(to: &arguments, at: 0)
      try count.encode(to: &arguments, at: 1)
    }
  }

  @Test func theCollationOfTheKeyDecidesWhichRecordIsObserved() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("word.store"), models: Word.self)
    let told = Recorder<String>()
    let record = try store.observe(Word.self, of: "ABC") { change in
      func text(_ word: Word?) -> String { word.map { "\($0.name) \($0.count)" } ?? "none" }
      told.add("\(text(change.old)) → \(text(change.new)) \(change.fields.map(\.name))")
    }
    let other = try store.observe(Word.self, of: "abd") { _ in told.add("another record") }
    try store.write { tx in try tx.insert(Word(name: "abc", count: 1)) }
    try store.write { tx in try tx.set(\Word.count, to: 2, for: "Abc") }
    // The same record under another spelling: SQLite deletes one key and inserts the other.
    try store.write { tx in try tx.set(\Word.name, to: "ABC", for: "abc") }
    try store.write { tx in try tx.delete(Word.self, "aBc") }
    store.waitForDelivery()
    #expect(
      told.events == [
        "none → abc 1 []", "abc 1 → abc 2 [\"count\"]", "abc 2 → ABC 2 [\"name\"]",
        "ABC 2 → none []",
      ])
    record.cancel()
    other.cancel()
  }

  /// Once, changes coalesced into the first event were lost for a key given in another spelling.
  @Test func theInitialEventAndAChangeAreCoalescedForAnySpellingOfTheKey() async throws {
    let directory = try TemporaryDirectory()
    let store = try await Store(at: directory.file("word.store"), models: Word.self)
    try await store.write { tx in try tx.insert(Word(name: "abc", count: 1)) }
    let counts = try await store.changes(
      of: .field(\Word.count, of: "ABC"), options: .initial, coalescing: .latest)
    try await store.write { tx in try tx.set(\Word.count, to: 2, for: "abc") }
    try await store.write { tx in try tx.set(\Word.name, to: "Abc", for: "abc") }
    try await store.write { tx in try tx.set(\Word.count, to: 3, for: "abc") }
    for try await change in counts {
      #expect(change.text == "none → 3")
      break
    }
  }

  @Test(arguments: [
    ("INTEGER", SQLValue.integer(7), SQLValue.text("7")),
    ("TEXT", .text("7"), .integer(7)),
    ("NUMERIC", .integer(7), .real(7)),
    ("REAL", .real(7), .integer(7)),
    ("BLOB", .real(7), .integer(7)),
    ("TEXT COLLATE RTRIM", .text("a"), .text("a  ")),
    ("TEXT COLLATE NOCASE", .text("Ab"), .text("aB")),
  ])
  func aKeyIsConvertedAsItsColumnWould(column: String, stored: SQLValue, given: SQLValue) throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("key.store")
    let plain = try PlainDatabase(path)
    try plain.execute("CREATE TABLE t (k \(column) NOT NULL PRIMARY KEY, n INT) WITHOUT ROWID")
    let store = try Store(at: path)
    let schema = try #require(try store.adopt().first)
    try store.write { tx in try tx.insert(["k": given, "n": .integer(1)], into: schema) }
    let found = try plain.rows("SELECT k FROM t")
    let identity = KeyIdentity(schema)
    #expect(identity(given: [given]) == identity(stored: found[0]))
    #expect(identity(given: [stored]) == identity(stored: found[0]))
    #expect(identity(given: [.text("other")]) != identity(stored: found[0]))
  }

  @Test func aViewIsRefused() throws {
    let world = try ViewWorld()
    for attempt: () throws -> Any in [
      { try world.store.observe(ArtistName.self) { _ in } },
      { try world.store.observe(ArtistName.self, of: 1) { _ in } },
      { try world.store.observe(\ArtistName.name, of: 1) { _ in } },
      { try world.store.changes(of: ArtistName.self) },
    ] {
      #expect(failure(attempt)?.code == .unsupportedSchema)
    }
  }
}
