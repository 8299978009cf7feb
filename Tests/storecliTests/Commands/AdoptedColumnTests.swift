import Foundation
import Testing

/// Columns of another program's design, whose declarations say more than their types do.
@Suite(.tags(.process)) struct AdoptedColumnTests {
  private func makeFiles(_ rows: String) throws -> Workplace {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("files.db"))
    try raw.execute(
      "CREATE TABLE Files (id INTEGER PRIMARY KEY, data BLOB, size TIME, loose)")
    place.environment["STORECLI_DB"] = place.path("files.db")
    try #require(try place.run("adopt").code == 0)
    // Adoption did not see these values, so they decide about no type.
    try raw.execute(rows)
    return place
  }

  @Test func aKeyWithoutATypeMeansTheRecordThatIsThere() throws {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("loose.db"))
    try raw.execute(
      """
      CREATE TABLE loose (a PRIMARY KEY, t TEXT) WITHOUT ROWID;
      INSERT INTO loose VALUES (1, 'number'), ('1', 'text'), (2, 'two'), ('3', 'three');
      INSERT INTO loose VALUES (4.5, 'four');
      """)
    place.environment["STORECLI_DB"] = place.path("loose.db")
    try #require(try place.run("adopt").code == 0)
    for (key, text) in [("2", "two"), ("3", "three"), ("4.5", "four")] {
      #expect(try place.run("get", "loose", key, "--fields", "t").out == "\(text)\n")
    }
    let refusal = Outcome(
      code: 64, out: "",
      err: "error[usage]: 1 matches 2 records of loose, whose keys are a number and a text: "
        + "a == '1', or a == 1.\n"
        + "hint: choose one with a predicate: --where of update and delete, or storecli query\n")
    #expect(try place.run("get", "loose", "1") == refusal)
    #expect(try place.run("delete", "loose", "1") == refusal)
    #expect(try place.run("update", "loose", "1", "t=x") == refusal)
    #expect(try place.run("update", "loose", "2", "t=changed", "-q").code == 0)
    #expect(try place.run("delete", "loose", "--where", "a == 1", "--yes", "-q").code == 0)
    // Now the text alone is meant.
    #expect(try place.run("delete", "loose", "1", "-q").code == 0)
    let rest = "SELECT group_concat(quote(a) || ' ' || t, ', ') FROM loose"
    #expect(try raw.value(rest) == "2 changed, 4.5 four, '3' three")
  }

  @Test func historyAndBindingsFindARecordByAKeyWithoutAType() throws {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("loose.db"))
    try raw.execute(
      """
      CREATE TABLE loose (a PRIMARY KEY, t TEXT) WITHOUT ROWID;
      INSERT INTO loose VALUES (1, 'one'), ('x', 'y');
      CREATE TABLE sign (id INTEGER PRIMARY KEY, t TEXT);
      INSERT INTO sign VALUES (1, '?');
      """)
    place.environment["STORECLI_DB"] = place.path("loose.db")
    try #require(try place.run("adopt").code == 0)
    let added = try place.run(
      "bindings", "add", "copy", "sign.t", "--from", "loose.t", "--of", "1", "--yes")
    #expect(added.code == 0, "\(added)")
    #expect(try raw.value("SELECT t FROM sign") == "one")
    try #require(try place.run("journal", "on").code == 0)
    try #require(try place.run("update", "loose", "1", "t=two", "-q").code == 0)
    let position = try raw.value("SELECT max(position) FROM _ms_journal")
    try #require(try place.run("delete", "loose", "1", "-q").code == 0)
    let history = try place.run("history", "loose", "1", "-o", "ndjson", "-q")
    for word in ["update", "delete"] {
      #expect(history.out.contains(#""op":"\#(word)""#), "\(history)")
    }
    #expect(try place.run("get", "loose", "1", "--at", position, "--fields", "t").out == "two\n")
  }

  private let values = "SELECT group_concat(typeof(data) || ' ' || quote(data), ', ') FROM Files"

  @Test(arguments: ["csv", "tsv", "ndjson"])
  func blobsComeBackAsBlobs(format: String) throws {
    let place = try makeFiles(
      "INSERT INTO Files (data, size) VALUES (x'00ff', 5), (x'', 1.5), (NULL, NULL)")
    let raw = try RawDatabase(place.path("files.db"))
    let query = "SELECT group_concat(quote(data) || ' ' || quote(size), ', ') FROM Files"
    let before = try raw.value(query)
    #expect(try place.run("export", "Files", "--to", "files.\(format)").code == 0)
    try place.run("delete", "Files", "--where", "id > 0", "--yes", "-q")
    #expect(try place.run("import", "files.\(format)", "--model", "Files").code == 0)
    #expect(try raw.value(query) == before)
  }

  @Test(arguments: [
    (
      "INSERT INTO Files VALUES (7, NULL, NULL, x'00')",
      "Files 7: csv cannot distinguish the blob in loose from text."
    ),
    (
      "INSERT INTO Files VALUES (7, NULL, NULL, 12)",
      "Files 7: csv cannot distinguish the number in loose from text."
    ),
    (
      "INSERT INTO Files VALUES (7, 'abcd', NULL, NULL)",
      "Files 7: csv cannot distinguish the text in data from a blob."
    ),
  ])
  func valuesThatCSVCannotRepresentAreRefused(rows: String, message: String) throws {
    let place = try makeFiles(rows)
    let outcome = try place.run("export", "Files", "--to", "files.csv")
    #expect(
      outcome
        == Outcome(
          code: 1, out: "", err: "error[output]: \(message)\nhint: add -o ndjson\n"))
    #expect(!FileManager.default.fileExists(atPath: place.path("files.csv")))
    #expect(try place.run("export", "Files", "--to", "files.ndjson").code == 0)
  }

  @Test func bytesAreWrittenToAColumnDeclaredForThem() throws {
    let place = try makeFiles("")
    try Data([0, 0xFF, 0xFE]).write(to: place.url("bin.dat"))
    for word in ["data=@bin.dat", "data=x'00ff'", "data=base64:AP8=", "data:=x'00'", "data:null"] {
      #expect(try place.run("insert", "Files", word).code == 0, "\(word)")
    }
    #expect(
      try RawDatabase(place.path("files.db")).value(values)
        == "blob X'00FFFE', blob X'00FF', blob X'00FF', text 'x''00''', null NULL")
    for word in ["data=hello", "data=x'0", "data="] {
      #expect(try place.run("insert", "Files", word).code == 4, "\(word)")
    }
  }

  @Test(arguments: ["csv", "tsv", "ndjson"])
  func infinityComesBackWhereTheColumnIsReal(format: String) throws {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("r.db"))
    try raw.execute(
      "CREATE TABLE R (id INTEGER PRIMARY KEY, x REAL); INSERT INTO R VALUES (1, 9e999), (2, -9e999)"
    )
    place.environment["STORECLI_DB"] = place.path("r.db")
    try #require(try place.run("adopt").code == 0)
    #expect(try place.run("export", "R", "--to", "r.\(format)").code == 0)
    try place.run("delete", "R", "--where", "id > 0", "--yes", "-q")
    #expect(try place.run("import", "r.\(format)", "--model", "R").code == 0)
    #expect(
      try raw.value("SELECT group_concat(typeof(x) || ' ' || (x > 0)) FROM R") == "real 1,real 0")
  }

  @Test func infinityIsRefusedWhereItWouldComeBackAsText() throws {
    let place = try makeFiles("INSERT INTO Files VALUES (7, NULL, 9e999, NULL)")
    #expect(
      try place.run("export", "Files", "--to", "files.csv")
        == Outcome(
          code: 1, out: "",
          err: "error[output]: Files 7: csv cannot distinguish the number in size from text.\n"
            + "hint: add -o ndjson\n"))
  }

  @Test func recordsAreFoundByKeysOfBytes() throws {
    let place = try Workplace()
    try RawDatabase(place.path("b.db")).execute(
      "CREATE TABLE B (id BLOB PRIMARY KEY NOT NULL, n); INSERT INTO B VALUES (x'00ff', 1)")
    place.environment["STORECLI_DB"] = place.path("b.db")
    try #require(try place.run("adopt").code == 0)
    let key = try #require(
      try place.run("query", "B", "--fields", "id").out.split(separator: "\n").first)
    for spelling in [String(key), "x'00ff'", "base64:AP8=", "id=AP8="] {
      #expect(try place.run("get", "B", spelling, "--fields", "n").out == "1\n", "\(spelling)")
    }
  }
}
