import Testing

@testable import ModelStore

/// Writes to a record that is not there, and records whose key the database makes.
@Suite(.tags(.unit)) struct MissingRecordTests {
  /// Nothing but a key.
  struct Tag: Model, Hashable {
    var name: String

    static let definition = ModelDefinition<Tag>(
      "Tag", key: \.name, fields: [.init("name", \.name)])

    var key: String { name }

    init(name: String) { self.name = name }

    init(row: borrowing RowView) throws { name = try row.decode(at: 0) }

    func encode(to arguments: inout ArgumentWriter) throws {
      try name.encode(to: &arguments, at: 0)
    }
  }

  @Test func updatingAMissingRecordWithoutOtherFieldsIsAnError() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("a.store"), models: Tag.self)
    try store.write { tx in
      try tx.insert(Tag(name: "there"))
      try tx.update(Tag(name: "there"))
      try tx.update(Tag.schema, key: [.text("there")], set: [:])
      #expect(failure { try tx.update(Tag(name: "missing")) }?.code == .recordNotFound)
      let nothing = failure { try tx.update(Tag.schema, key: [.text("missing")], set: [:]) }
      #expect(nothing?.code == .recordNotFound)
    }
  }

  @Test(arguments: ["", "WITHOUT ROWID"])
  func aKeyThatTheDatabaseMakesIsFound(storage: String) throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    try PlainDatabase(path).execute(
      """
      CREATE TABLE Token (
        id TEXT NOT NULL PRIMARY KEY DEFAULT (lower(hex(randomblob(4)))), n INTEGER
      ) \(storage)
      """)
    let store = try Store(at: path)
    let schema = try #require(try store.adopt().first)
    let records = try store.write { tx in
      [
        try tx.insert(["n": .integer(1)], into: schema),
        try tx.upsert(["n": .integer(2)], into: schema),
        try tx.upsert(["id": .text("given"), "n": .integer(3)], into: schema),
        try tx.upsert(["id": .text("given"), "n": .integer(4)], into: schema),
        try tx.upsert(["id": .text("given")], into: schema),
      ]
    }
    #expect(records.map { $0["n"] } == [1, 2, 3, 4, 4].map { .integer($0) })
    #expect(records.suffix(3).map { $0["id"] } == Array(repeating: .text("given"), count: 3))
    let stored = try store.fetch(StoreQuery<DynamicRecord>(schema))
    #expect(Set(stored) == Set([records[0], records[1], records[4]]))
  }

  @Test func anUpsertOfNothingInsertsTheDefaults() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    try PlainDatabase(path).execute(
      "CREATE TABLE note (id INTEGER PRIMARY KEY, text DEFAULT 'new')")
    let store = try Store(at: path)
    let note = try #require(try store.adopt(["note"]).first)
    try store.write { tx in
      let stored = [try tx.upsert([:], into: note), try tx.insert([:], into: note)]
      #expect(
        stored.map(\.values) == [[.integer(1), .text("new")], [.integer(2), .text("new")]])
    }
  }
}
