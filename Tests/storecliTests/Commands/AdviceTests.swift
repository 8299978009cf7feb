import Testing

/// Errors of a command name what is wrong, once, and what to write instead.
@Suite(.tags(.process)) struct AdviceTests {
  private func shop() throws -> Workplace {
    let place = try Workplace()
    try RawDatabase(place.path("shop.db")).execute(
      """
      CREATE TABLE Comp (a INTEGER NOT NULL, b TEXT NOT NULL, c TEXT, PRIMARY KEY (a, b));
      INSERT INTO Comp VALUES (1, 'a,b', 'x');
      CREATE TABLE Cust (id TEXT PRIMARY KEY NOT NULL, name TEXT);
      INSERT INTO Cust VALUES ('A', 'x'), ('B', 'x');
      CREATE TABLE Ord (
        OrderID INTEGER PRIMARY KEY, cust TEXT REFERENCES Cust(id), UnitPrice DECIMAL(5,2));
      INSERT INTO Ord VALUES (1, 'A', 1.5), (2, 'A', 2);
      CREATE VIEW V AS SELECT * FROM Ord;
      CREATE VIEW W AS SELECT * FROM Ord;
      """)
    place.environment["STORECLI_DB"] = place.path("shop.db")
    try #require(try place.run("adopt").code == 0)
    return place
  }

  private static let samples: [(words: [String], code: Int32, err: String)] = [
    (
      ["insert", "Cust", "name=z"], 4,
      """
      error[rejected]: Nothing was changed: Cust.id must have a value (rule Cust.id.required).
      hint: storecli models Cust

      """
    ),
    (
      ["delete", "Cust", "--where", "name = 'x'", "--yes"], 4,
      """
      error[rejected]: Nothing was changed: Cust A is still referred to through Ord.cust \
      (rule Cust.reference). Delete or change 2 records of Ord first, for example Ord 1.
      hint: storecli models Cust

      """
    ),
    (
      ["update", "Ord", "--where", "OrderID = 1", "cust=Z", "--yes"], 4,
      """
      error[rejected]: Nothing was changed: Ord.cust must name an existing Cust \
      (rule Ord.cust.reference).
      hint: storecli models Ord

      """
    ),
    (
      ["get", "Comp", "1,a,b"], 64,
      """
      error[usage]: 1,a,b is not a key of Comp: it has 3 values; its key is a,b. Put a value \
      with a comma in double quotes.
      hint: storecli get Comp '1,"a,b"'

      """
    ),
    (
      ["query", "--sql", "SELECT 1; SELECT 2"], 64,
      "error[usage]: --sql: The text holds more than one SQL statement. Pass one statement.\n"
    ),
    (
      ["rules", "add", "Ord", "--range", "UnitPrice=abc.."], 64,
      """
      error[usage]: --range takes numbers that fit the field; “abc” is not one.
      hint: storecli rules add --help

      """
    ),
    (
      ["query", "Ord", "--limit", "abc"], 64,
      """
      error[usage]: The value 'abc' is invalid for '--limit <n>'
      hint: storecli query --help

      """
    ),
    (
      ["query", "Ord", "--sort", "OrdrID"], 64,
      """
      error[unknownField]: Ord has no field OrdrID; did you mean OrderID?
        OrdrID
        ^^^^^^
      hint: storecli models Ord

      """
    ),
  ]

  @Test(arguments: samples)
  func anErrorSaysWhatIsWrongAndWhatToWrite(
    words: [String], code: Int32, err: String
  ) throws {
    #expect(try shop().run(words) == Outcome(code: code, out: "", err: err))
  }

  @Test func theSuggestedKeyIsFound() throws {
    #expect(try shop().run("get", "Comp", "1,\"a,b\"", "--fields", "c").out == "x\n")
  }

  /// Views have no changes of their own; their number says enough.
  @Test func viewsAreCountedOnceAndNotListed() throws {
    let place = try shop()
    #expect(
      try place.run("journal", "on").err == """
        the journal is on for all models, with old and new values
        left out: 2 views; a view has no changes of its own

        """)
    let watched = try place.runProcess("watch", "--timeout", "0s")
    #expect(watched.err.hasPrefix("watching all models from position "), "\(watched)")
    #expect(!watched.err.contains("view"), "\(watched)")
  }
}
