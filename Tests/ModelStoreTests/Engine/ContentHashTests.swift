import Testing

@testable import ModelStore

/// Equal records have equal hashes, and only they.
@Suite(.tags(.unit)) struct ContentHashTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// A store on the tables of `script`, all adopted.
  private func adopted(_ name: String, _ script: String) throws -> Store {
    let path = directory.file(name)
    try PlainDatabase(path).execute(script)
    let store = try Store(at: path)
    try store.adopt()
    return store
  }

  private func hash(_ script: String) throws -> ContentHash {
    // A text of other bytes that means the same characters has the same hash value.
    let name = "\(Array(script.utf8).hashValue).db"
    return try adopted(name, script).contentHash()
  }

  private static let artists = [
    Artist(id: 3, name: "Nina"), Artist(id: 1, name: "Anna"), Artist(id: 2, name: "Zoë"),
  ]

  private func music(_ name: String, journal: Bool = false) throws -> Store {
    var configuration = StoreConfiguration()
    if journal { configuration.changeJournal = .full }
    return try Store(
      at: directory.file(name), models: Artist.self, Album.self, configuration: configuration)
  }

  @Test func theHistoryOfAFileMakesNoDifference() throws {
    let plain = try music("plain.store")
    try plain.write { tx in for artist in Self.artists { try tx.insert(artist) } }
    let winding = try music("winding.store", journal: true)
    for artist in Self.artists.reversed() {
      try winding.write { tx in try tx.insert(Artist(id: artist.id + 10, name: "x")) }
      try winding.write { tx in try tx.insert(Artist(id: artist.id, name: "other")) }
      try winding.write { tx in try tx.update(artist) }
      try winding.write { tx in try tx.delete(Artist.self, artist.id + 10) }
    }
    #expect(try winding.contentHash() == plain.contentHash())
    #expect(try winding.contentHash(of: Artist.self) == plain.contentHash(of: Artist.self))
    winding.close()
    try PlainDatabase(directory.file("winding.store")).execute("VACUUM")
    let vacuumed = try Store(at: directory.file("winding.store"))
    #expect(try vacuumed.contentHash() == plain.contentHash())
  }

  @Test func columnsInAnotherOrderAndAdoptionMakeNoDifference() throws {
    let declared = try music("declared.store")
    try declared.write { tx in for artist in Self.artists { try tx.insert(artist) } }
    let other = try adopted(
      "other.db",
      """
      CREATE TABLE Artist(name TEXT COLLATE NOCASE, id INTEGER PRIMARY KEY);
      INSERT INTO Artist VALUES ('Zoë', 2), ('Anna', 1), ('Nina', 3);
      """)
    let model = StoreQuery<DynamicRecord>(try other.schema.model(named: "Artist"))
    #expect(try declared.contentHash(of: Artist.self) == other.contentHash(of: model))
    #expect(try declared.contentHash() == other.contentHash())
  }

  /// The store of `values`, one table `T` with `k` as its key.
  private func hashes(ofKeys definition: String, _ values: [String]) throws -> Set<ContentHash> {
    try Set(
      [values, values.reversed()].map { values in
        try hash(
          "CREATE TABLE T(k \(definition), v); INSERT INTO T VALUES \(values.joined(separator: ", "))"
        )
      })
  }

  @Test func keysAreOrderedByTheirBytesWhateverTheTableComparesBy() throws {
    let values = ["('b', 1)", "('A', 2)", "('a ', 3)", "('B  ', 4)", "('', 5)", "('é', 6)"]
    let definitions = [
      "TEXT PRIMARY KEY", "TEXT PRIMARY KEY COLLATE NOCASE", "TEXT NOT NULL UNIQUE",
      "TEXT COLLATE RTRIM PRIMARY KEY DESC",
    ]
    let found = try definitions.map { try hashes(ofKeys: $0, values) }
    #expect(Set(found).count == 1 && found[0].count == 1)
  }

  /// A table whose key holds NULL cannot be adopted, but another program can write such rows later.
  @Test func recordsWithNullInTheirKeyAreOrderedByTheirContents() throws {
    let values = [
      "(NULL, 2)", "(NULL, 'a')", "(NULL, 1)", "(NULL, 1.0)", "(NULL, 'A')", "(NULL, NULL)",
      "('k', 3)",
    ]
    let lists = [values, values.reversed(), values.filter { $0 != "(NULL, 1)" }]
    let definitions = ["TEXT PRIMARY KEY", "PRIMARY KEY", "TEXT COLLATE NOCASE PRIMARY KEY"]
    for (number, definition) in definitions.enumerated() {
      let found = try lists.enumerated().map { place, values in
        let name = "null-\(number)-\(place).db"
        let store = try adopted(name, "CREATE TABLE T(k \(definition), v)")
        try PlainDatabase(directory.file(name))
          .execute("INSERT INTO T VALUES \(values.joined(separator: ", "))")
        return try store.contentHash()
      }
      #expect(found[0] == found[1], "\(definition)")
      #expect(found[0] != found[2], "\(definition)")
    }
  }

  @Test func storageClassesAndBitsAreDistinguished() throws {
    let values = [
      "NULL", "0", "0.0", "1", "1.0", "'1'", "x'31'", "''", "x''", "'a'", "'A'", "'a ' || char(0)",
      "9223372036854775807", "9223372036854775807.0", "9e999", "-9e999", "'é'", "'e\u{301}'",
      "CAST(x'ff' AS TEXT)",
    ]
    let found = try values.map {
      try hash("CREATE TABLE T(k INTEGER PRIMARY KEY, v); INSERT INTO T VALUES (1, \($0))")
    }
    #expect(Set(found).count == values.count)
    let zeros = try [0.0, -0.0].enumerated().map { index, zero in
      let store = try adopted("zero\(index).db", "CREATE TABLE T(k INTEGER PRIMARY KEY, v)")
      let schema = try store.schema.model(named: "T")
      try store.write { tx in
        _ = try tx.insert(["k": .integer(1), "v": .real(zero)], into: schema)
      }
      return try store.contentHash()
    }
    #expect(Set(zeros + found).count == values.count + 1, "0.0 is among the values already")
  }

  @Test func valuesAreSeparatedFromTheirNeighbours() throws {
    let rows = ["'a', 'bc'", "'ab', 'c'", "'', 'abc'", "NULL, 'abc'", "'abc', NULL", "'abc', ''"]
    let found = try rows.map {
      try hash("CREATE TABLE T(k INTEGER PRIMARY KEY, v, w); INSERT INTO T VALUES (1, \($0))")
    }
    #expect(Set(found).count == rows.count)
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func theHashChangesWithAValueAndReturnsWithIt(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try adopted(
      "random.db",
      """
      CREATE TABLE T(a, b TEXT, c, d, PRIMARY KEY(a, b)) WITHOUT ROWID;
      INSERT INTO T SELECT value % 3, 'k' || value, value / 2.0, NULL
        FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12]');
      """)
    let schema = try store.schema.model(named: "T")
    let values: [SQLValue] = [
      .null, .integer(1), .real(1), .text("1"), .blob([0x31]), .text(""), .blob([]),
      .integer(.min), .real(-.infinity), .text("\u{e9}"), .text("e\u{301}"), .real(0.5),
    ]
    let records = try store.fetch(StoreQuery<DynamicRecord>(schema))
    for _ in 0..<25 {
      let record = try #require(records.randomElement(using: &random))
      let field = Bool.random(using: &random) ? "c" : "d"
      let old = try #require(record[field])
      let new = try #require(values.filter { $0 != old }.randomElement(using: &random))
      let hashes = try store.write { tx in
        try ([old, new, old] as [SQLValue]).map { value in
          try tx.update(schema, key: record.key, set: [field: value])
          return try tx.contentHash()
        }
      }
      #expect(
        hashes[0] == hashes[2] && hashes[0] != hashes[1],
        "seed \(seed): \(record.key) \(field) from \(old) to \(new)")
    }
  }

  @Test func theHashOfAListDependsOnItsOrderAndNotOnItsLabels() throws {
    func world(_ edit: (borrowing ListEditor<Int64>) throws -> Void) throws -> ListWorld {
      let world = try ListWorld(songs: [1, 2, 3])
      try world.edit(edit)
      return world
    }
    let straight = try world { _ in }
    let winding = try world { list in
      for _ in 0..<30 { try list.insert(5, at: 1) }
      for _ in 0..<30 { try list.remove(at: 1) }
      try list.move(from: 0, to: 2)
      try list.move(from: 2, to: 0)
    }
    #expect(try winding.keys() == straight.keys())
    let expected = try straight.store.contentHash()
    #expect(try winding.store.contentHash() == expected)
    let moved = try world { list in try list.move(from: 0, to: 2) }
    let twice = try world { list in try list.append(3) }
    let others = try [moved, twice].map { try $0.store.contentHash() }
    #expect(Set(others + [expected]).count == 3)
  }

  @Test(arguments: AdoptedListWorld.Design.allCases)
  func theOrderOfAnAdoptedListCounts(design: AdoptedListWorld.Design) throws {
    let tracks: [(track: Int64, position: String)] = [(1, "10"), (2, "20"), (3, "30")]
    let near = try AdoptedListWorld(design, entries: tracks)
    let far = try AdoptedListWorld(
      design, entries: tracks.map { ($0.track, "\($0.position)7") })
    let swapped = try AdoptedListWorld(design, entries: [(2, "1"), (1, "2"), (3, "3")])
    #expect(try near.store.contentHash() == far.store.contentHash())
    #expect(try near.store.contentHash() != swapped.store.contentHash())
  }

  @Test func theHashOfAQueryDependsOnItsRowsAndNotOnTheirOrder() throws {
    let store = try music("query.store")
    try store.write { tx in for artist in Self.artists { try tx.insert(artist) } }
    #expect(
      try store.contentHash(of: Artist.all.order { $0.name })
        == store.contentHash(of: Artist.self))
    let two = try store.contentHash(of: Artist.where { $0.id > 1 })
    #expect(try store.contentHash(of: Artist.all.order { $0.id.descending }.limit(2)) == two)
    #expect(try store.contentHash(of: Artist.where { $0.id > 1 || $0.id < 0 }) == two)
    #expect(try two != store.contentHash(of: Artist.self))
    let dynamic = StoreQuery<DynamicRecord>(try store.schema.model(named: "Artist"))
    #expect(try store.contentHash(of: dynamic) == store.contentHash(of: Artist.self))
  }

  @Test func theRowsOfAViewHaveNoOrder() throws {
    let hashes = try ["id", "id DESC", "v"].enumerated().map { index, order in
      let store = try adopted(
        "view\(index).db",
        """
        CREATE TABLE T(id INTEGER PRIMARY KEY, v);
        INSERT INTO T VALUES (1, 'b'), (2, 'a'), (3, 'b');
        CREATE VIEW W AS SELECT v FROM T ORDER BY \(order);
        """)
      return try store.contentHash(of: StoreQuery<DynamicRecord>(store.schema.model(named: "W")))
    }
    #expect(Set(hashes).count == 1)
  }

  /// No sort of the whole means constant memory: only records with equal keys, of which there are
  /// several with NULL alone, are sorted.
  @Test(arguments: [
    "CREATE TABLE T(a INTEGER, b TEXT, c, PRIMARY KEY(a, b))",
    "CREATE TABLE T(a INTEGER, b TEXT, c, PRIMARY KEY(b, a)) WITHOUT ROWID",
    "CREATE TABLE T(a INTEGER PRIMARY KEY, b, c)", "CREATE TABLE T(a TEXT NOT NULL UNIQUE, b, c)",
  ])
  func recordsComeFromAnIndexInTheOrderOfKeys(table: String) throws {
    let store = try adopted("plan.db", table)
    let schema = try store.schema.model(named: "T")
    let plan = try store.read { tx in
      let text = try ContentHashing.text(of: StoreQuery<DynamicRecord>(schema))
      let rows = try tx.rows(SQLText(sql: "EXPLAIN QUERY PLAN \(text.sql)"))
      return rows.map { "\($0["detail"] ?? .null)" }
    }
    #expect(!plan.joined().contains("TEMP B-TREE FOR ORDER BY"), "\(plan)")
  }

  @Test func aHashIsReadBackFromItsText() throws {
    let store = try music("text.store")
    let hash = try store.contentHash()
    #expect(ContentHash(hash.description) == hash)
    #expect(ContentHash(hash.description.uppercased()) == hash)
    for text in ["", "abc", hash.description + "0", String(hash.description.dropLast()) + "g"] {
      #expect(ContentHash(text) == nil)
    }
  }

  /// People keep hashes, so these texts never change.
  @Test func hashesAreTheSameInEveryVersion() throws {
    let store = try adopted(
      "fixed.db",
      """
      CREATE TABLE T(k INTEGER PRIMARY KEY, v, w);
      INSERT INTO T VALUES (2, 'é', x'00ff'), (1, -1, 0.5), (3, NULL, 9e999);
      CREATE TABLE Empty(k INTEGER PRIMARY KEY);
      """)
    let model = StoreQuery<DynamicRecord>(try store.schema.model(named: "T"))
    #expect(
      try store.contentHash(of: model).description
        == "92099f4f954b240ddd8ea3abd11a40f3142c15dc3574074bbb71e48d3a6fe65e")
    #expect(
      try store.contentHash().description
        == "6702a78af0d5956c48273524cb1ff89f69afbbd0d9d52a842b00f10367ffbfb3")
  }
}
