import ModelStore
import Testing

@testable import StoreCommand

@Suite(.tags(.unit)) struct KeyCandidatesTests {
  @Test func digitsAreRangesOfWholeNumbers() {
    func ranges(_ text: String) -> [ClosedRange<Int64>] {
      KeyCandidates.wholeNumbers(beginningWith: text)
    }
    #expect(ranges("12").prefix(3) == [12...12, 120...129, 1200...1299])
    #expect(ranges("12").last == 1_200_000_000_000_000_000...1_299_999_999_999_999_999)
    #expect(ranges("9").last == 9_000_000_000_000_000_000...9_223_372_036_854_775_807)
    #expect(ranges("-4").prefix(2) == [-4...(-4), -49...(-40)])
    #expect(ranges("0") == [0...0])
    #expect(ranges("-") == [.min...(-1)])
    for text in ["01", "-0", "--1", "1x", "1-", "99999999999999999999", "x"] {
      #expect(ranges(text) == [], "\(text)")
    }
  }

  private static let tables = """
    CREATE TABLE Number (id INTEGER PRIMARY KEY, n);
    CREATE TABLE Word (id TEXT NOT NULL PRIMARY KEY, n);
    CREATE TABLE Pair (a INTEGER NOT NULL, b TEXT NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID;
    CREATE TABLE Free (id BLOB NOT NULL PRIMARY KEY, n);
    CREATE VIEW Seen AS SELECT * FROM Number;
    WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2000)
    INSERT INTO Number SELECT i, 0 FROM c;
    INSERT INTO Word VALUES ('apple', 0), ('Apple', 0), ('ap,ple', 0), ('b%', 0), ('10', 0);
    INSERT INTO Pair VALUES (1, 'x'), (1, 'y,z'), (10, 'x'), (2, 'x'), (11, 'y');
    INSERT INTO Free VALUES ('text', 0), (12, 0), (1.5, 0), (x'00', 0);
    """

  private func store() throws -> (place: Workplace, store: Store) {
    let place = try Workplace()
    try RawDatabase(place.path("k.db")).execute(Self.tables)
    try #require(try place.run("adopt", "-d", "k.db").code == 0)
    return (place, try Store(at: place.path("k.db"), models: []))
  }

  @Test func theFirstKeysThatBeginWithTheTextAreFound() throws {
    let (place, store) = try store()
    defer { withExtendedLifetime(place) {} }
    func keys(_ model: String, _ text: String) throws -> [String] {
      let candidates = KeyCandidates(of: try store.schema.model(named: model))
      return try store.read { reads in try candidates.beginning(with: text, reads) }
    }
    #expect(try keys("Number", "") == (1...100).map { "\($0)" })
    #expect(
      try keys("Number", "19") == ["19"] + (190...199).map { "\($0)" }
        + (1900...1988).map { "\($0)" })
    #expect(try keys("Number", "2000") == ["2000"])
    #expect(try keys("Number", "3000") == [] && keys("Number", "x") == [])
    #expect(try keys("Word", "ap") == ["ap,ple", "apple"])
    #expect(try keys("Word", "b%") == ["b%"])
    #expect(try keys("Word", "1") == ["10"])
    #expect(try keys("Pair", "1") == ["1,x", "1,\"y,z\"", "10,x", "11,y"])
    #expect(try keys("Pair", "1,") == ["1,x", "1,\"y,z\""])
    #expect(try keys("Pair", "1,x") == ["1,x"])
    #expect(try keys("Pair", "1,x,") == [])
    #expect(try keys("Free", "1") == ["12"] && keys("Free", "te") == ["text"])
    #expect(try keys("Seen", "") == [])
  }

  /// Each statement reads a range of the index, however many records there are.
  @Test func noStatementScansOrSorts() throws {
    let (place, store) = try store()
    defer { withExtendedLifetime(place) {} }
    for (model, text) in [
      ("Number", "1"), ("Word", "a"), ("Pair", "1"), ("Pair", "1,x"), ("Free", "1"),
    ] {
      let candidates = KeyCandidates(of: try store.schema.model(named: model))
      let statements = try candidates.statements(beginningWith: text)
      #expect(!statements.isEmpty)
      for statement in statements {
        let plan = try store.read { reads in
          try reads.rows(
            SQLText(sql: "EXPLAIN QUERY PLAN \(statement.sql)", arguments: statement.arguments)
          ).map { "\($0["detail"] ?? .null)" }
        }
        #expect(plan.count == 1 && plan[0].contains("SEARCH"), "\(statement.sql) \(plan)")
      }
    }
  }

  /// A completion reads as little of a large table as of a small one.
  @Test func theStepsDoNotDependOnTheNumberOfRecords() throws {
    func steps(of recordCount: Int) throws -> [String: Int] {
      let place = try Workplace()
      try RawDatabase(place.path("k.db")).execute(
        """
        CREATE TABLE Number (id INTEGER PRIMARY KEY, n);
        CREATE TABLE Word (id TEXT NOT NULL PRIMARY KEY, n);
        CREATE TABLE Folded (id TEXT NOT NULL PRIMARY KEY COLLATE NOCASE, n) WITHOUT ROWID;
        CREATE TABLE Pair (a INTEGER NOT NULL, b TEXT NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID;
        CREATE TABLE Free (id BLOB NOT NULL PRIMARY KEY, n);
        WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < \(recordCount))
        INSERT INTO Number SELECT i, 0 FROM c;
        INSERT INTO Word SELECT 'w' || id, 0 FROM Number;
        INSERT INTO Folded SELECT 'w' || id, 0 FROM Number;
        INSERT INTO Pair SELECT id / 1000, 'b' || id FROM Number;
        INSERT INTO Free SELECT CASE id % 2 WHEN 0 THEN id ELSE 'f' || id END, 0 FROM Number;
        """)
      try #require(try place.run("adopt", "-d", "k.db").code == 0)
      let store = try Store(at: place.path("k.db"), models: [])
      var found: [String: Int] = [:]
      for (model, text) in [
        ("Number", ""), ("Number", "1"), ("Word", "w1"), ("Folded", "W1"), ("Pair", "1"),
        ("Pair", "1,b"), ("Free", "1"), ("Free", "f"),
      ] {
        let candidates = KeyCandidates(of: try store.schema.model(named: model))
        for statement in try candidates.statements(beginningWith: text) {
          let work = try store.read { reads in
            try reads.work(of: statement, maxStepCount: 1_000_000)
          }
          #expect(work.rowCount <= KeyCandidates.countMax && work.isComplete)
          #expect(work.sortCount == 0 && work.fullScanStepCount <= KeyCandidates.countMax)
          found["\(model) \(text)", default: 0] += work.stepCount
        }
      }
      return found
    }
    let (small, large) = (try steps(of: 5000), try steps(of: 100_000))
    for (word, count) in large {
      // Not more than the few ranges of numbers with further digits.
      #expect(count <= 3000 && count <= 2 * small[word, default: 0] + 1500, "\(word): \(count)")
    }
  }
}
