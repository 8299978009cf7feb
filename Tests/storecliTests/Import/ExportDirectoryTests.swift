import Foundation
import ModelStore
import Testing

/// `export --all` and the import of its directory: afterwards, the content hashes are equal.
@Suite(.tags(.process)) struct ExportDirectoryTests {
  private static let schema = """
    CREATE TABLE Person(
      id INTEGER PRIMARY KEY, name TEXT, boss INTEGER REFERENCES Person(id),
      team INTEGER REFERENCES Team(id));
    CREATE TABLE Team(
      id INTEGER PRIMARY KEY, lead INTEGER REFERENCES Person(id) ON DELETE CASCADE, logo BLOB);
    CREATE TABLE "Odd/na.me"(
      a TEXT NOT NULL, b REAL NOT NULL, born DATE, price TEXT, open BOOLEAN,
      person INTEGER REFERENCES Person(id), PRIMARY KEY(a, b)) WITHOUT ROWID;
    CREATE TABLE Playlist(id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE Entry(
      id INTEGER PRIMARY KEY, owner INTEGER NOT NULL REFERENCES Playlist(id),
      person INTEGER NOT NULL REFERENCES Person(id), position INTEGER);
    """

  /// A store with the schema and without records.
  private func makeStore(_ name: String, in place: Workplace) throws {
    try RawDatabase(place.path(name)).execute("PRAGMA journal_mode = WAL;" + Self.schema)
    let store = try Store(at: place.path(name))
    defer { store.close() }
    try store.adopt(
      ["Person", "Team", "Odd/na.me", "Playlist"],
      types: [
        TypeChoice(model: "Odd/na.me", field: "born", type: .date, form: .anyDateText),
        TypeChoice(model: "Odd/na.me", field: "price", type: .decimal),
        TypeChoice(model: "Odd/na.me", field: "open", type: .boolean),
      ])
    try store.adopt(
      ListSchema(
        name: "people", elementTable: "Person", slotTable: "Entry",
        columns: .init(owner: "owner", element: "person", position: "position")), of: "Playlist")
  }

  /// Random records in which persons and teams refer to each other.
  private func fill(_ path: String, _ random: inout SeededGenerator) throws {
    let count = Int.random(in: 1..<40, using: &random)
    func id() -> Int { Int.random(in: 1...count, using: &random) }
    func some(_ values: [String]) -> String { values.randomElement(using: &random) ?? "NULL" }
    var sql = "PRAGMA foreign_keys = OFF;"
    for number in 1...count {
      let text = some(["'a'", "''", "NULL", "'é' || char(10)", "'e\u{301}'", "char(0)", "'\"q\",'"])
      sql +=
        "INSERT INTO Person VALUES (\(number), \(text), \(some(["NULL", "\(id())"])), \(id()));"
      sql += "INSERT INTO Team VALUES (\(number), \(id()), \(some(["NULL", "x''", "x'00ff'"])));"
      let real = some(["0.5", "-1e300", "9e999", "3.0"])
      let born = some(["NULL", "'2020-02-29'", "'2020-02-29T01:02:03.5+02:00'"])
      sql += """
        INSERT OR IGNORE INTO "Odd/na.me" VALUES ('\(number % 7)', \(real), \(born),
          \(some(["'1.10'", "'1.1'", "NULL"])), \(some(["0", "1", "NULL"])), \(id()));
        """
      sql += "INSERT INTO Playlist VALUES (\(number), 'p');"
      sql += "INSERT INTO Entry VALUES (\(number * 3), \(id()), \(id()), \(number * number % 50));"
    }
    try RawDatabase(path).execute(sql)
  }

  private func hash(_ name: String, in place: Workplace) throws -> String {
    let outcome = try place.run("hash", "-d", name)
    try #require(outcome.code == 0 && outcome.out.count == 65, "\(outcome)")
    return outcome.out
  }

  @Test(arguments: 0..<12)
  func anyStoreComesBack(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let place = try Workplace()
    try makeStore("full.db", in: place)
    try fill(place.path("full.db"), &random)
    try makeStore("copy.db", in: place)
    let exported = try place.run("export", "--all", "dump", "-d", "full.db")
    #expect(exported.code == 0, "\(exported)")
    let imported = try place.run("import", "dump", "-d", "copy.db")
    #expect(imported.code == 0, "\(imported)")
    #expect(try hash("copy.db", in: place) == hash("full.db", in: place))
    // The same directory over a store with other records.
    try makeStore("other.db", in: place)
    try fill(place.path("other.db"), &random)
    let replaced = try place.run("import", "dump", "-d", "other.db", "--replace", "--yes")
    #expect(replaced.code == 0, "\(replaced)")
    #expect(try hash("other.db", in: place) == hash("full.db", in: place))
    // An export of the copy has the same files.
    #expect(try place.run("export", "--all", "again", "-d", "copy.db").code == 0)
    for file in try FileManager.default.contentsOfDirectory(atPath: place.path("dump")) {
      #expect(try place.contents(of: "dump/\(file)") == place.contents(of: "again/\(file)"))
    }
  }

  @Test(.enabled(if: ChinookTests.isThere, "needs shared/data/chinook.sqlite beside the project"))
  func chinookComesBack() throws {
    let place = try Workplace()
    for name in ["full.db", "empty.db"] {
      try FileManager.default.copyItem(atPath: ChinookTests.sample.path, toPath: place.path(name))
      chmod(place.path(name), 0o644)
      try #require(try place.run("adopt", "-d", name).code == 0)
    }
    let raw = try RawDatabase(place.path("empty.db"))
    let tables = try place.run("models", "--fields", "model", "-d", "empty.db").out
    for table in tables.split(separator: "\n") { try raw.execute("DELETE FROM \"\(table)\"") }
    #expect(try place.run("export", "--all", "dump", "-d", "full.db").code == 0)
    let imported = try place.run("import", "dump", "-d", "empty.db")
    #expect(imported.code == 0, "\(imported)")
    #expect(try hash("empty.db", in: place) == hash("full.db", in: place))
  }

  @Test func declaredModelsAndTheirListsComeBack() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(try place.run("export", "--all", "dump").code == 0)
    try FileManager.default.copyItem(
      atPath: place.path("music.store"), toPath: place.path("other.store"))
    for words in [
      ["delete", "Track", "--where", "id % 2 = 1"], ["update", "Artist", "1", "name=Other"],
    ] { _ = try place.run(words + ["-d", "other.store", "--yes"]) }
    for model in ["Track", "Album", "Artist"] {
      try place.run("delete", model, "--where", "id > 0", "--yes", "-q", "-d", "other.store")
    }
    let imported = try place.run("import", "dump", "-d", "other.store", "--skip-code-validators")
    #expect(imported.code == 0, "\(imported)")
    #expect(try hash("other.store", in: place) == hash("music.store", in: place))
  }

  @Test func aChangedDirectoryIsRefused() throws {
    let place = try Workplace()
    var random = SeededGenerator(seed: 1)
    try makeStore("full.db", in: place)
    try fill(place.path("full.db"), &random)
    try makeStore("copy.db", in: place)
    try #require(try place.run("export", "--all", "dump", "-d", "full.db").code == 0)
    let text = try place.contents(of: "dump/Playlist.ndjson")
    try place.write(text.replacing("\"p\"", with: "\"P\""), to: "dump/Playlist.ndjson")
    let outcome = try place.run("import", "dump", "-d", "copy.db")
    #expect(outcome.code == 4)
    #expect(
      outcome.err.contains("The imported records of Playlist are not those that were exported"),
      "\(outcome)")
    #expect(try place.run("query", "Person", "--count", "-d", "copy.db").out == "0\n")
    try FileManager.default.removeItem(atPath: place.path("dump/catalog.json"))
    let incomplete = try place.run("import", "dump", "-d", "copy.db")
    #expect(incomplete.code == 3)
    #expect(incomplete.err.contains("dump has no catalog.json"), "\(incomplete)")
  }

  @Test func anExportReplacesOnlyAnExport() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(try place.run("export", "--all", "dump").code == 0)
    try place.write("mine", to: "dump/notes.txt")
    #expect(try place.run("export", "--all", "dump").code == 0)
    #expect(try place.contents(of: "dump/notes.txt") == "mine")
    try FileManager.default.createDirectory(
      at: place.url("mine"), withIntermediateDirectories: true)
    try place.write("mine", to: "mine/notes.txt")
    let refused = try place.run("export", "--all", "mine")
    #expect(refused.code == 64, "\(refused)")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: place.path("mine")) == ["notes.txt"])
    for words in [
      ["export"], ["export", "Track", "--all", "x"], ["export", "--all", "x", "--to", "y"],
    ] {
      #expect(try place.run(words).code == 64, "\(words)")
    }
    let missing = try place.run("import", "dump", "--model", "Track")
    #expect(missing.code == 64, "\(missing)")
  }
}
