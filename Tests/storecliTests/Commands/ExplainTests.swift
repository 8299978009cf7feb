import Foundation
import Testing

@testable import StoreCommand

/// `query --explain`: the plan in words, its cost, and advice that was measured.
@Suite(.tags(.process)) struct ExplainTests {
  private func events(_ count: Int) throws -> Workplace {
    let place = try Workplace()
    try RawDatabase(place.path("e.db")).execute(
      """
      CREATE TABLE Event (
        id INTEGER PRIMARY KEY, kind TEXT, size INTEGER, at INTEGER, name TEXT UNIQUE);
      CREATE INDEX Event_at ON Event (at);
      WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < \(count))
      INSERT INTO Event SELECT i, 'kind' || (i % 100), i % 1000, i, 'n' || i FROM c;
      """)
    place.environment["STORECLI_DB"] = place.path("e.db")
    try #require(try place.run("adopt").code == 0)
    return place
  }

  private func explained(_ words: String..., in place: Workplace) throws -> [String] {
    let outcome = try place.run(["query", "Event"] + words + ["--explain"])
    try #require(outcome.code == 0, "\(outcome)")
    return outcome.out.split(separator: "\n").map(String.init)
  }

  @Test func aScanAndASortAreNamedAndTheIndexThatHelpsIsAdvised() throws {
    let place = try events(2000)
    let before = try Data(contentsOf: place.url("e.db"))
    let lines = try explained("kind = 'kind7'", "--sort", "-size", "--limit", "3", in: place)
    #expect(lines.contains("-- full scan: reads every row of Event"), "\(lines)")
    #expect(lines.contains("-- sort: sorts the rows, because no index has this order"), "\(lines)")
    #expect(
      lines.contains { $0.hasPrefix("-- cost: 3 rows, ") && $0.contains("in full scans") },
      "\(lines)")
    #expect(
      lines.contains(
        #"-- advice: CREATE INDEX "Event_kind_size" ON "Event" ("kind", "size" DESC);"#),
      "\(lines)")
    let measured = try #require(lines.first { $0.contains("measured on a copy of all 2 000 rows") })
    #expect(
      measured.hasSuffix("row steps in full scans 1 999 -> 0, sorts 1 -> 0"), "\(measured)")
    #expect(try Data(contentsOf: place.url("e.db")) == before)
  }

  /// The advice is not a guess: with the index, the statement takes the steps that were measured.
  @Test func theAdvisedIndexSavesTheMeasuredSteps() throws {
    let place = try events(2000)
    let words = ["query", "Event", "size between 3 and 5", "--explain", "--json"]
    func steps(_ text: String, after name: String) throws -> String {
      let start = try #require(text.firstRange(of: name))
      let rest = text[start.upperBound...]
      return String(try #require(rest.firstMatch(of: /"steps":(\d+)/)).output.1)
    }
    let before = try place.run(words).out
    let sql = try #require(before.firstMatch(of: /"advice":\{"sql":"(.+?)","before"/)).output.1
    try RawDatabase(place.path("e.db")).execute(String(sql).replacing("\\\"", with: "\""))
    let after = try place.run(words).out
    #expect(try steps(after, after: "\"cost\"") == steps(before, after: "\"after\""))
    #expect(try steps(before, after: "\"cost\"") == steps(before, after: "\"before\""))
    #expect(after.hasSuffix("\"advice\":null}\n"), "\(after)")
  }

  @Test func noIndexIsAdvisedThatDoesNotHelp() throws {
    let place = try events(2000)
    #expect(
      try explained("name like '%7'", in: place).last
        == "-- no index would help: the query neither selects nor sorts")
    #expect(
      try explained("size >= 0", in: place).last
        == "-- no index helps: 1 index tried on a copy of all 2 000 rows")
    #expect(
      try explained("at = 7", in: place).suffix(2).first?.hasPrefix("-- cost: 1 row, ") == true)
    #expect(
      try explained("at = 7", in: place).last == "-- no index needed: the statement is cheap")
  }

  @Test func groupsGetAdviceToo() throws {
    let place = try events(2000)
    let lines = try explained("--by", "kind", "--sum", "size", in: place)
    #expect(lines.contains("-- sort: sorts the rows to group them"), "\(lines)")
    #expect(
      lines.contains { $0.hasPrefix(#"-- advice: CREATE INDEX "Event_kind"#) }, "\(lines)")
  }

  @Test func aLargeTableIsSampled() throws {
    let place = try events(ScratchTable.rowCountMax * 2)
    let lines = try explained("kind = 'kind7' and size = 7", in: place)
    #expect(lines.contains { $0.contains("a sample of 50 000 of 100 000 rows") }, "\(lines)")
    #expect(lines.contains { $0.hasPrefix("-- advice: CREATE INDEX") }, "\(lines)")
  }

  @Test func theWordsOfPlansAreKnown() {
    let plans = [
      "SCAN t": "full scan: reads every row of t",
      "SCAN t USING INDEX i": "full scan: reads every row of t, in the order of the index i",
      "SCAN t USING COVERING INDEX i":
        "full scan: reads every entry of the index i, not the table t",
      "SEARCH t USING INTEGER PRIMARY KEY (rowid=?)": "key: finds rows of t by rowid=?",
      "SEARCH t USING INDEX i (a=? AND b>?)": "index i: finds rows of t by a=? AND b>?",
      "SEARCH t USING COVERING INDEX i (a=?)":
        "index i: finds rows of t by a=?, without reading the table",
      "SEARCH t USING AUTOMATIC COVERING INDEX (a=?)":
        "builds an index for this statement alone, and finds rows of t by a=?",
      "USE TEMP B-TREE FOR RIGHT PART OF ORDER BY":
        "sort: sorts rows that are equal in the first terms",
      "CO-ROUTINE x": "CO-ROUTINE x",
    ]
    for (detail, words) in plans {
      #expect(PlanStep(detail: detail, depth: 0).words == words)
    }
  }
}
