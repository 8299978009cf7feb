import Testing

/// Results without end and values larger than memory.
@Suite(.tags(.process)) struct BoundedReadingTests {
  private func adopted(_ script: String, in place: Workplace) throws {
    try RawDatabase(place.path("plain.db")).execute(script)
    place.environment["STORECLI_DB"] = place.path("plain.db")
    try #require(try place.runProcess("adopt").code == 0)
  }

  /// As a shell's `ulimit -v`: in KiB.
  private func limited(to kibibytes: Int) -> [String] {
    ["/bin/sh", "-c", "ulimit -v \(kibibytes); exec \"$@\"", "sh"]
  }

  private let endless = """
    WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c
    """

  @Test func aStatementWithoutEndStopsAtTheLimit() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(
      try place.runProcess("query", "--limit", "2", "--offset", "3", "--sql", endless)
        == Outcome(
          code: 0, out: "4\n5\n", err: "2 rows shown, there are more  (--limit, or --all)\n"))
    let last = try place.runProcess("query", "--limit", "2", "--sql", "VALUES (1), (2)")
    #expect(last == Outcome(code: 0, out: "1\n2\n", err: ""))
  }

  /// Runs a command that would never end with the fault that the test is about.
  private func bounded(_ place: Workplace, _ words: String...) throws -> Outcome {
    try place.runProcess(words, launching: ["/usr/bin/timeout", "-s", "KILL", "300"])
  }

  @Test func aViewWithoutEndIsNotCountedToItsEnd() throws {
    let place = try Workplace()
    try adopted(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY);
      INSERT INTO t VALUES (1);
      CREATE VIEW endless AS \(endless);
      """, in: place)
    #expect(
      try bounded(place, "models", "-q")
        == Outcome(
          code: 0, out: "endless\t?\t1\t\t0\t0\tview\nt\t1\t1\tid\t0\t0\tadopted\n", err: ""))
    #expect(
      try bounded(place, "models", "--json").out.contains(#""model":"endless","records":null"#))
    let sheet = try bounded(place, "models", "endless")
    #expect(sheet.code == 0 && sheet.err.hasPrefix("endless   ? records\n"), "\(sheet)")
    #expect(try bounded(place, "models", "endless", "-q").code == 0)
    #expect(try bounded(place, "models", "endless", "--json").out.contains(#""records":null"#))
    #expect(
      try bounded(place, "query", "endless", "--limit", "2")
        == Outcome(
          code: 0, out: "1\n2\n", err: "2 records shown, there may be more  (--limit, or --all)\n"))
    #expect(
      try bounded(place, "query", "endless", "--limit", "2", "-q", "-o", "ndjson")
        == Outcome(code: 0, out: "{\"x\":1}\n{\"x\":2}\n", err: ""))
  }

  @Test(arguments: ["blob", "text"])
  func aValueOverTheLimitIsNamed(type: String) throws {
    let place = try Workplace()
    let value = type == "blob" ? "zeroblob(30000)" : "hex(zeroblob(15000))"
    try adopted(
      """
      CREATE TABLE f (id INTEGER PRIMARY KEY, name TEXT, data \(type));
      INSERT INTO f VALUES (1, 'a', 'x'), (2, 'b', \(value)), (3, 'c', 'y');
      """, in: place)
    place.environment["STORECLI_VALUE_MAX"] = "20000"
    for words in [["query", "f"], ["export", "f"], ["get", "f", "2"]] {
      let outcome = try place.runProcess(words)
      #expect(outcome.code == 1, "\(words) \(outcome)")
      #expect(
        outcome.err.hasPrefix(
          "error[unreadable]: f.data holds a value larger than storecli reads or writes.\n  f 2\n"),
        "\(words) \(outcome)")
    }
    #expect(try place.runProcess("query", "f", "id <> 2", "-q").code == 0)
    let sql = try place.runProcess("query", "--sql", "SELECT data FROM f")
    #expect(sql.code == 1 && sql.err.contains("STORECLI_VALUE_MAX"), "\(sql)")
    place.environment["STORECLI_VALUE_MAX"] = "much"
    #expect(try place.runProcess("query", "f").code == 64)
    place.environment["STORECLI_VALUE_MAX"] = "100000"
    #expect(try place.runProcess("query", "f", "--count").out == "3\n")
    #expect(try place.runProcess("query", "f", "-q").code == 0)
  }

  @Test(arguments: ["table", "plain", "json", "ndjson", "csv", "tsv", "yaml", "md"])
  func everyFormatRefusesALargeValueInLittleMemory(format: String) throws {
    let place = try Workplace()
    try adopted(
      """
      CREATE TABLE f (id INTEGER PRIMARY KEY, data BLOB);
      INSERT INTO f VALUES (1, zeroblob(200000000));
      """, in: place)
    let outcome = try place.runProcess(
      ["query", "f", "-o", format], launching: limited(to: 450_000))
    #expect(outcome.code == 1, "\(outcome)")
    #expect(outcome.err.contains("f.data holds a value larger than storecli "), "\(outcome)")
  }
}
