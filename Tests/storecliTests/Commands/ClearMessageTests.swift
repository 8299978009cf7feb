import Foundation
import Testing

@testable import StoreCommand

/// Errors say what is wrong and what to type, and a command never answers more or less than was
/// asked.
@Suite(.tags(.process)) struct ClearMessageTests {
  private func shop(_ sql: String = "") throws -> Workplace {
    let place = try Workplace()
    try RawDatabase(place.path("shop.db")).execute(
      """
      CREATE TABLE P (id INTEGER PRIMARY KEY, u TEXT UNIQUE, r REAL);
      CREATE TABLE K (id INTEGER PRIMARY KEY, p INTEGER REFERENCES P(id));
      INSERT INTO P VALUES (1, 'u1', 2.5), (2, 'u2', 9e999), (3, 'u3', NULL);
      INSERT INTO K VALUES (1, 1);
      """ + sql)
    place.environment["STORECLI_DB"] = place.path("shop.db")
    try #require(try place.run("adopt", "--yes").code == 0)
    return place
  }

  private static let samples: [(words: [String], code: Int32, err: String)] = [
    (
      ["update", "P", "1", "id=50"], 4,
      """
      error[rejected]: Nothing was changed: P 1 is still referred to through K.p \
      (rule P.reference). Delete or change those records first.
      hint: storecli models P

      """
    ),
    (
      ["update", "P", "3", "id=2"], 4,
      """
      error[rejected]: Nothing was changed: P 2.id must be unique; another P has the same value \
      (rule P.key).
      hint: storecli models P

      """
    ),
    (["delete", "P", "2", "3", "2"], 64, "error[usage]: 2 is named twice; nothing was deleted.\n"),
    (
      ["get", "P", "8", "9"], 3,
      """
      error[recordNotFound]: There is no record 8 or 9 in P.
      hint: storecli query P

      """
    ),
    (
      ["insert", "P", "u=x", "r+=1"], 4,
      """
      error[invalidValue]: P.r: += adds to a stored value, and a new record has none. Use =.
      hint: storecli models P

      """
    ),
    (
      ["export", "P", "--to", "p.csv.gz"], 64,
      """
      error[usage]: storecli cannot export gz files. It knows the endings .csv, .tsv, .json, \
      .ndjson, .jsonl, .sql; or choose a format with -o.
      hint: storecli export P -o csv | gzip > p.csv.gz

      """
    ),
    (
      ["export", "--all", "dump", "-o", "csv"], 64,
      """
      error[usage]: --all writes NDJSON, so it takes no other format.
      hint: storecli export --help

      """
    ),
    (
      ["query", "P", "--expand", "r", "--fields", "id,K.p"], 64,
      """
      error[usage]: --fields takes fields of P, and K.p is one of another record. --expand adds \
      all of these.

      """
    ),
    (
      ["query", "P", "--fields", "id,u,id", "-o", "yaml"], 64,
      "error[usage]: --fields names id twice, and yaml needs distinct names.\n"
    ),
    (
      ["query", "--sql", "select x from P"], 64,
      """
      error[invalidQuery]: SQLite refused the statement: no such column: x.
      hint: storecli models

      """
    ),
    (
      ["restore", "shop.db", "--yes"], 64,
      "error[usage]: shop.db is the database itself. Name a backup of it.\n"
    ),
    (
      ["delete", "K", "--where", "id > 0"], 64,
      """
      error[usage]: The changes are: 1 K deleted. Continue? The command runs without a terminal, so it \
      cannot ask: add --yes, or -n to see what would change.

      """
    ),
  ]

  @Test(arguments: 0..<samples.count)
  func anErrorSaysWhatToDo(number: Int) throws {
    let (words, code, err) = Self.samples[number]
    let place = try shop()
    #expect(try place.run(words) == Outcome(code: code, out: "", err: err))
  }

  @Test func aPositionThatDoesNotExistYetIsWrongUsage() throws {
    let place = try shop()
    try #require(try place.run("journal", "on").code == 0)
    for words in [["get", "P", "1", "--at", "99"], ["history", "--since", "99"]] {
      let outcome = try place.run(words)
      #expect(outcome.code == 64, "\(outcome)")
      #expect(outcome.err.contains("there is no 99 yet"), "\(outcome)")
    }
  }

  @Test func infinityIsComparedAsItIsWritten() throws {
    let place = try shop()
    #expect(try place.run("query", "P", "r = 9e999", "--fields", "id", "-q").out == "2\n")
    #expect(try place.run("query", "P", "r > -9e999", "--fields", "id", "-q").out == "1\n2\n")
    #expect(try place.run("query", "P", "r = 8e999").code == 64)
  }

  @Test func theFirstValueThatDoesNotFitATypeIsNamed() throws {
    let place = try shop("CREATE TABLE D (id INTEGER PRIMARY KEY, d TEXT);")
    try RawDatabase(place.path("shop.db")).execute("INSERT INTO D VALUES (1, '5'), (2, '0.10x')")
    let outcome = try place.run("adopt", "--type", "D.d=decimal")
    #expect(outcome.code == 4, "\(outcome)")
    #expect(outcome.err.contains("1 of its 2 values do not fit, the first of them '0.10x'."))
  }

  @Test func modelsOfOneDatabaseOnlyAreListedTogether() throws {
    let place = try shop()
    try RawDatabase(place.path("other.db")).execute(
      "CREATE TABLE Z (id INTEGER PRIMARY KEY); INSERT INTO Z VALUES (1)")
    try #require(try place.run("adopt", "--yes", "-d", "other.db").code == 0)
    place.environment["STORECLI_DB"] = nil
    let outcome = try place.run("diff", "shop.db", "other.db")
    #expect(
      outcome.err.hasSuffix(
        "shop.db has the models K, P, with records. Only \(place.path("other.db")) has the model "
          + "Z, with records. So the stores cannot be compared.\n"), "\(outcome)")
  }

  @Test func aConfigurationThatIsNotUTF8IsReported() throws {
    let place = try shop()
    place.environment["STORECLI_DB"] = nil
    try Data([0xFF, 0xFE]).write(to: place.url("storecli.toml"))
    let outcome = try place.run("models")
    #expect(outcome.code == 1 && outcome.err.hasSuffix("storecli.toml is not UTF-8.\n"))
  }

  @Test func namesInHintsCanBeTyped() throws {
    #expect(Shell.quoted("new\nline's \u{7}.db") == "$'new\\nline\\'s \\007.db'")
    #expect(Shell.quotedPath("-dash.db") == "./-dash.db")
    #expect(Shell.quoted("it's") == "'it'\\''s'")
  }

  @Test func hintsOfASessionAreCommandsOfTheSession() throws {
    let place = try shop()
    let outcome = try place.run("shell", input: "query Nope")
    #expect(outcome.err.contains("\nhint: models\n"), "\(outcome)")
  }

  @Test(arguments: [["export", "--all", "-"], ["backup", "-"], ["models", "-d", ""]])
  func whatNamesNoFileIsRefused(words: [String]) throws {
    let place = try shop()
    let names = try place.names()
    #expect(try place.run(words).code == 64)
    #expect(try place.names() == names)
  }

  /// YAML 1.1 takes `1e+308` for text.
  @Test func exponentsInYAMLHaveAPoint() throws {
    let place = try shop()
    #expect(
      try place.run("query", "--sql", "select 1e308 a, 5e-324 b, 1.5e300 c, 2.0 d", "-o", "yaml")
        .out
        == "- \"a\": 1.0e+308\n  \"b\": 5.0e-324\n  \"c\": 1.5e+300\n  \"d\": 2.0\n")
  }

  // Imports

  @Test func aValueThatIsTooLargeIsNamed() throws {
    let place = try shop()
    place.environment["STORECLI_VALUE_MAX"] = "2000"
    let text = String(repeating: "x", count: 3000)
    try place.write("id,u\n7,\(text)\n", to: "in.csv")
    #expect(
      try place.run("import", "in.csv", "--model", "P")
        == Outcome(
          code: 4, out: "",
          err: """
            error[invalidValue]: in.csv: line 2: u has 3 000 bytes, more than \
            STORECLI_VALUE_MAX allows.
              nothing was written
            hint: storecli models P

            """))
    // Several values can be too large together.
    try place.write("id,u\n8,\(text.prefix(1999))\n", to: "row.csv")
    let row = try place.run("import", "row.csv", "--model", "P")
    #expect(
      row.err.hasPrefix(
        "error[invalidValue]: row.csv: line 2: the record is larger than STORECLI_VALUE_MAX "),
      "\(row)")
    #expect(
      try place.run("insert", "P", "u=\(text)")
        == Outcome(
          code: 4, out: "",
          err: """
            error[invalidValue]: A value for P is larger than storecli writes.
            hint: set STORECLI_VALUE_MAX to more bytes (storecli help environment)

            """))
  }

  @Test func anArrayAmongLinesOfJSONAndANamelessColumnAreExplained() throws {
    let place = try shop()
    try place.write("[{\"id\":7}]\n", to: "in.ndjson")
    #expect(
      try place.run("import", "in.ndjson", "--model", "P").err.contains(
        "A record must be a JSON object. If the whole input is one array, add --format json."))
    try place.write("id,\n7,x\n", to: "in.csv")
    #expect(
      try place.run("import", "in.csv", "--model", "P").err.contains(
        "The input names a field without a name, but P has no such field."))
  }

  @Test func aModelThatWasNotMadeIsNotInTheHint() throws {
    let place = try shop()
    try place.write("id,b\n1,a\n1,b\n", to: "in.csv")
    let outcome = try place.run("import", "in.csv", "--new-model", "M", "--key", "id", "--yes")
    #expect(outcome.code == 4 && !outcome.err.contains("hint:"), "\(outcome)")
    #expect(try place.run("models", "M").code == 3)
  }

  @Test func aComputedFieldWithoutATypeIsExported() throws {
    let place = try shop(
      """
      CREATE TABLE G (id INTEGER PRIMARY KEY, w REAL, v AS (w + 1), u);
      INSERT INTO G VALUES (1, 2, 1);
      """)
    #expect(try place.run("export", "G", "--to", "g.csv").code == 0)
    #expect(try place.contents(of: "g.csv") == "id,w,v,u\r\n1,2.0,3.0,1\r\n")
    let back = try place.run("import", "g.csv", "--model", "G", "--upsert")
    #expect(back.code == 0 && back.err.contains("1 unchanged"), "\(back)")
  }
}
