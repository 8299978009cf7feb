import Testing

@testable import StoreCommand

/// Numbers over many records: `query --by … --sum …`.
@Suite(.tags(.process)) struct AggregateQueryTests {
  /// A shop of another program: dates as text, and columns that hold anything.
  private func shop() throws -> Workplace {
    let place = try Workplace()
    try RawDatabase(place.path("shop.db")).execute(
      """
      CREATE TABLE Shelf (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE Sale (
        id INTEGER PRIMARY KEY, shelf INTEGER REFERENCES Shelf (id), pieces INTEGER, weight REAL,
        price, sold DATETIME, note TEXT COLLATE NOCASE);
      INSERT INTO Shelf VALUES (1, 'Strings'), (2, 'Keys');
      INSERT INTO Sale VALUES
        (1, 1, 2, 0.5, 1, '2026-01-31 23:59:59', 'a'), (2, 1, 3, 1.5, 2, '2026-02-01 00:00:00', 'A'),
        (3, 2, 4, NULL, 3, '2026-02-01 12:00:00', 'b'), (4, NULL, 5, 2.0, 4, NULL, NULL);
      """)
    place.environment["STORECLI_DB"] = place.path("shop.db")
    try #require(try place.run("adopt").code == 0)
    return place
  }

  private func lines(_ words: String..., in place: Workplace) throws -> [String] {
    let outcome = try place.run(["query", "Sale", "-q"] + words)
    try #require(outcome.code == 0, "\(outcome)")
    return outcome.out.split(separator: "\n").map(String.init)
  }

  @Test func severalNumbersOfEachGroupStandOnOneLine() throws {
    let place = try shop()
    #expect(
      try place.run(
        "query", "Sale", "--by", "shelf", "--count", "--sum", "pieces", "--avg", "weight", "--max",
        "sold", "-o", "json", "-q"
      ).out == """
        [
        {"shelf":null,"count":1,"sum_pieces":5,"avg_weight":2.0,"max_sold":null},
        {"shelf":1,"count":2,"sum_pieces":5,"avg_weight":1.0,"max_sold":"2026-02-01 00:00:00"},
        {"shelf":2,"count":1,"sum_pieces":4,"avg_weight":null,"max_sold":"2026-02-01 12:00:00"}
        ]

        """)
  }

  @Test func withoutGroupsThereIsOneLine() throws {
    let place = try shop()
    #expect(try lines("--sum", "pieces,weight", "--count", in: place) == ["4\t14\t4.0"])
    #expect(try lines("id > 99", "--sum", "pieces", "--count", in: place) == ["0\t"])
  }

  @Test func sortingAndLimitsAreAboutTheGroups() throws {
    let place = try shop()
    #expect(
      try lines("--by", "shelf", "--sum", "pieces", "--sort", "-sum_pieces,-shelf", in: place)
        == ["1\t5", "\t5", "2\t4"])
    #expect(
      try lines(
        "--by", "shelf", "--sum", "pieces", "--sort", "sum:pieces", "--limit", "1", "--offset", "1",
        in: place) == ["\t5"])
  }

  /// Groups are of equal values, so a column that ignores case has two.
  @Test func groupsAreExact() throws {
    let place = try shop()
    #expect(
      try lines("--by", "note", "--count", in: place) == ["\t1", "A\t1", "a\t1", "b\t1"])
  }

  @Test func datesAreGroupedByPeriods() throws {
    let place = try shop()
    #expect(
      try lines("--by", "sold:month", "--count", in: place) == ["\t1", "2026-01\t1", "2026-02\t2"])
    #expect(
      try lines("--by", "sold:hour", "--count", "--where", "id = 3", in: place)
        == ["2026-02-01T12\t1"])
    // A Saturday and a Sunday of the same week.
    #expect(
      try lines("--by", "sold:week", "--count", "--where", "sold is not null", in: place)
        == ["2026-01-26\t3"])
  }

  @Test func aReferenceShowsItsRecord() throws {
    let place = try shop()
    #expect(
      try lines("--by", "shelf", "--count", "--expand", "shelf", in: place)
        == ["\t\t1", "1\tStrings\t2", "2\tKeys\t1"])
    #expect(
      try lines("--by", "shelf", "--count", "--expand", "shelf", "--ndjson", in: place) == [
        #"{"shelf":null,"count":1}"#, #"{"shelf":{"id":1,"name":"Strings"},"count":2}"#,
        #"{"shelf":{"id":2,"name":"Keys"},"count":1}"#,
      ])
  }

  @Test func aSumOutside64BitsIsAnError() throws {
    let place = try shop()
    try RawDatabase(place.path("shop.db")).execute(
      "UPDATE Sale SET pieces = 9223372036854775807 WHERE id < 3")
    let outcome = try place.run("query", "Sale", "--sum", "pieces")
    #expect(outcome.code == 1 && outcome.out.isEmpty)
    #expect(
      outcome.err == """
        error[overflow]: A sum of Sale.pieces does not fit 64 bits.
        hint: use --avg, or select fewer records

        """)
  }

  /// SQLite refuses a sum that passes 64 bits on the way.
  @Test func aSumThatFitsIsExactWhateverTheOrderOfItsRecords() throws {
    let place = try Workplace()
    try RawDatabase(place.path("n.db")).execute(
      """
      CREATE TABLE N (id INTEGER PRIMARY KEY, g TEXT, i INTEGER);
      INSERT INTO N VALUES
        (1, 'a', 9223372036854775807), (2, 'a', 1), (3, 'a', -9223372036854775808),
        (4, 'b', NULL), (5, 'c', -9223372036854775808), (6, 'c', 0),
        (7, 'd', 9223372036854775807), (8, 'd', 1), (9, 'd', 0.5), (10, 'd', -4294967297);
      """)
    place.environment["STORECLI_DB"] = place.path("n.db")
    try #require(try place.run("adopt").code == 0)
    func sums(_ words: String...) throws -> [String] {
      let outcome = try place.run(["query", "N", "-q", "--by", "g", "--sum", "i"] + words)
      return outcome.out.split(separator: "\n").map(String.init)
    }
    #expect(
      try sums("--where", "g <> 'd'") == ["a\t0", "b\t", "c\t-9223372036854775808"])
    #expect(try sums("--where", "g = 'd'") == ["d\t9.223372032559809e+18"])
    #expect(try sums("--where", "g <> 'd'", "--sort", "-sum_i", "--limit", "1") == ["a\t0"])
    let one = try place.run("query", "N", "g = 'a'", "--sum", "i", "-q")
    #expect(one == Outcome(code: 0, out: "0\n", err: ""))
    // One group fails after another was printed.
    let failing = try place.run("query", "N", "id in (1, 2, 5)", "--by", "g", "--sum", "i", "-q")
    #expect(failing.code == 1 && failing.err.contains("does not fit 64 bits"), "\(failing)")
  }

  /// The parser would take the last one.
  @Test(arguments: [
    (["--by", "year", "--by=title", "--count"], "--by stands twice. Pass it once, with a comma"),
    (["--sort", "id", "--sort", "-id"], "--sort stands twice."),
    (["--where", "id = 1", "--where", "id = 2"], "--where stands twice. Pass it once.\n"),
    (["--limit", "1", "--limit", "2"], "--limit stands twice."),
  ])
  func anOptionWithOneValueStandsOnce(words: [String], message: String) throws {
    let outcome = try shop().run(["query", "Sale"] + words)
    #expect(outcome.code == 64 && outcome.out.isEmpty)
    #expect(outcome.err.contains("error[usage]: " + message), "\(outcome)")
  }

  /// SQLite would count such a text as 0.
  @Test func aTextAmongNumbersIsNotCountedAsZero() throws {
    let place = try shop()
    try RawDatabase(place.path("shop.db")).execute("UPDATE Sale SET price = 'free' WHERE id = 2")
    let outcome = try place.run("query", "Sale", "--sum", "price")
    #expect(outcome.code == 1 && outcome.out.isEmpty)
    #expect(
      outcome.err.hasPrefix("error[unreadable]: 1 value of Sale.price is not a number."),
      "\(outcome.err)")
    #expect(try lines("id <> 2", "--sum", "price", in: place) == ["8"])
  }

  @Test(arguments: [
    (["--sum", "note"], "Sale.note is of type text; --sum takes numbers."),
    (["--sum", "sold"], "--sum takes numbers."),
    (["--avg", "peices"], "Sale has no field peices; did you mean pieces or price?"),
    (["--count", "--by", "pieces:month"], "only dates have a month."),
    (["--count", "--by", "sold:mnth"], "There is no period mnth; did you mean month?"),
    (["--count", "--by", "shelf", "--sort", "cuont"], "no column cuont; did you mean count?"),
    (["--by", "shelf"], "--by needs a number to print"),
    (["--count", "--by", "shelf,note", "--bar"], "--bar draws one number by one field"),
    (
      ["--count", "--by", "note", "--expand", "shelf"], "--expand shelf needs groups by that field."
    ),
  ])
  func whatDoesNotFitIsRefused(words: [String], message: String) throws {
    let place = try shop()
    let outcome = try place.run(["query", "Sale"] + words)
    #expect(
      outcome.code == 64 && outcome.out.isEmpty && outcome.err.contains(message), "\(outcome)")
  }

  @Test func aChartIsForATerminalOnly() throws {
    let place = try shop()
    #expect(
      try lines("--by", "shelf", "--sum", "pieces", "--bar", in: place)
        == ["\t5", "1\t5", "2\t4"])
    func chart(_ locale: String) throws -> String {
      try PseudoTerminal.run(
        "'\(Workplace.program)' query Sale 'shelf > 0' --by shelf --sum pieces --bar "
          + "--expand shelf -q",
        in: place.directory,
        environment: [
          "HOME": place.directory, "NO_COLOR": "1", "STORECLI_DB": place.path("shop.db"),
          "PATH": "/usr/bin:/bin", "LC_ALL": locale, "COLUMNS": "40",
        ])
    }
    // 40 cells are 7 for the label, 1 for the number, and two gaps of 2.
    let full = String(repeating: "\u{2588}", count: 28)
    let part = String(repeating: "\u{2588}", count: 22) + "\u{258D}"
    #expect(try chart("C.UTF-8") == "Strings  5  \(full)\nKeys     4  \(part)\n")
    #expect(
      try chart("C") == "Strings  5  \(String(repeating: "#", count: 28))\n"
        + "Keys     4  \(String(repeating: "#", count: 22))\n")
  }
}
