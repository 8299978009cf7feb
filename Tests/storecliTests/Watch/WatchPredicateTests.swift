import Foundation
import Testing

@Suite(.tags(.process)) struct WatchPredicateTests {
  /// Tracks enter, stay in and leave `seconds > 400`.
  private func play(_ world: WatchWorld) throws {
    try world.set("seconds = 500", of: 1)
    try world.set("seconds = 600", of: 1)
    try world.set("albumID = 2", of: 1)
    try world.set("title = 'Short'", of: 2)
    try world.set("seconds = 7", of: 1)
    try world.raw.execute("INSERT INTO Track VALUES (9001, 'Long', 900, 1)")
    try world.raw.execute("INSERT INTO Track VALUES (9002, 'Brief', 9, 1)")
    try world.raw.execute("DELETE FROM Track WHERE id IN (9001, 9002)")
  }

  private static let expected = [
    "+ 1 entered", "~ 1 seconds 500 -> 600", "~ 1 albumID 1 -> 2", "- 1 left", "+ 9001", "- 9001",
  ]

  private func world() throws -> (WatchWorld, start: String) {
    let world = try WatchWorld()
    try world.raw.execute("UPDATE Track SET seconds = 100, albumID = 1 WHERE id <= 4")
    return (world, try world.position())
  }

  @Test(arguments: [["Track", "seconds > 400"], ["--model", "Track", "--where", "seconds > 400"]])
  func aPredicateIsEvaluatedBeforeAndAfterEachChange(words: [String]) throws {
    let (world, start) = try world()
    try play(world)
    let outcome = try world.place.runProcess(
      ["watch", "--since", start, "--timeout", "0s"] + words)
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try told(outcome.out) == Self.expected)
  }

  @Test func changesReadOneByOneAreReportedLikeChangesReadTogether() throws {
    let (world, _) = try world()
    let watch = try WatchProcess(
      world.place, ["Track", "seconds > 400", "--count", "6", "--timeout", "250s"])
    try play(world)
    let outcome = try watch.finish()
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try told(outcome.out) == Self.expected)
  }

  @Test func aConsumerAdvancesPastChangesThatThePredicateExcludes() throws {
    let (world, start) = try world()
    try play(world)
    var lines: [String] = []
    for _ in 1...2 {
      let outcome = try world.place.runProcess(
        "watch", "Track", "--where", "seconds > 400", "--consumer", "long", "--since", start,
        "--count", "3", "--timeout", "250s")
      #expect(outcome.code == 0, "\(outcome)")
      lines += try told(outcome.out)
    }
    #expect(lines == Self.expected)
    try world.set("title = 'Nobody asks'", of: 3)
    try world.place.runProcess(
      "watch", "Track", "--where", "seconds > 400", "--consumer", "long", "--timeout", "0s")
    #expect(
      try world.place.run("consumers", "list", "-q", "--fields", "consumer,lag").out == "long\t0\n")
  }

  @Test func aPredicateWorksWithCompositeKeys() throws {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("pairs.db"))
    try raw.execute("CREATE TABLE Pair (a, b, n INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID")
    place.environment["STORECLI_DB"] = place.path("pairs.db")
    try place.run("adopt")
    try place.run("journal", "on")
    try raw.execute("INSERT INTO Pair VALUES (1, 1, 5), (1, 2, 50), (2, 1, 5)")
    try raw.execute("UPDATE Pair SET n = n * 2")
    let outcome = try place.runProcess(
      "watch", "Pair", "n >= 10", "--since", "0", "--timeout", "0s")
    #expect(outcome.code == 0, "\(outcome)")
    let signs = try told(outcome.out).map { line in
      line.prefix(1) + (line.hasSuffix("entered") ? " entered" : "")
    }
    #expect(signs == ["+", "+ entered", "~", "+ entered"])
  }

  @Test func insertedAndDeletedRecordsHaveTheSameFieldsWithoutAPredicate() throws {
    let (world, start) = try world()
    try world.raw.execute("INSERT INTO Track VALUES (9001, 'Long', 900, 1)")
    try world.raw.execute("DELETE FROM Track WHERE id = 9001")
    func changes(_ words: String...) throws -> [[String]] {
      let outcome = try world.place.runProcess(
        ["watch", "Track", "--since", start, "--timeout", "0s"] + words)
      return try outcome.out.split(separator: "\n").map { line in
        let object = try #require(
          try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let changes = try #require(object["changes"] as? [String: [String: Any]])
        return changes.map { "\($0.key) \($0.value)" }.sorted()
      }
    }
    let all = try changes()
    #expect(all.map(\.count) == [4, 4])
    #expect(all == (try changes("seconds > 400")))
  }

  @Test func onlyTheChosenFieldsAreReported() throws {
    let (world, start) = try world()
    try play(world)
    let outcome = try world.place.runProcess(
      "watch", "Track", "--since", start, "--timeout", "0s", "--fields", "albumID")
    #expect(
      try told(outcome.out) == ["~ 1 albumID 1 -> 2", "+ 9001", "+ 9002", "- 9001", "- 9002"])
    #expect(
      try lineOf(outcome.out.split(separator: "\n")[1])["changes"]?.contains("title") == false)
    #expect(
      try world.place.runProcess("watch", "Track", "--fields", "albmID", "--timeout", "0s").code
        == 64)
    #expect(try world.place.runProcess("watch", "--fields", "albumID").code == 64)
  }

  @Test func severalModelsAreWatched() throws {
    let world = try WatchWorld()
    try world.set("seconds = 500", of: 1)
    try world.raw.execute("UPDATE Artist SET name = 'A' WHERE id = 1")
    try world.raw.execute("UPDATE Album SET title = 'B' WHERE id = 1")
    let outcome = try world.place.runProcess(
      "watch", "Track", "--model", "Album", "--since", world.start, "--timeout", "0s")
    let models = try outcome.out.split(separator: "\n").map { try lineOf($0)["model"] }
    #expect(Set(models) == ["Track", "Album"], "\(outcome)")
  }

  @Test func aPredicateOverEarlierChangesNeedsOldValues() throws {
    let world = try WatchWorld(journal: ["on", "--keys"])
    let refused = try world.watch("Track", "seconds > 400")
    #expect(refused.code == 1, "\(refused)")
    #expect(refused.err.contains("only the keys of Track"))
    let both = try world.place.runProcess("watch", "Track", "seconds > 1", "--where", "seconds > 1")
    #expect(both.code == 64)
  }

  @Test func aGapInTheJournalIsReportedAndNotGuessed() throws {
    let (world, start) = try world()
    try world.set("seconds = 500", of: 1)
    try world.place.run("journal", "off", "Track")
    try world.set("seconds = 700", of: 1)
    try world.place.run("journal", "on", "Track")
    let outcome = try world.place.runProcess(
      "watch", "Track", "seconds > 400", "--since", start, "--timeout", "0s")
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try told(outcome.out) == [])
    #expect(outcome.err.contains("gap: which records met the predicate"), "\(outcome)")
    // Changes that lie wholly after the gap are reported.
    try world.place.run("update", "Track", "2", "seconds=800")
    try world.place.run("update", "Track", "2", "seconds=80")
    let again = try world.place.runProcess(
      "watch", "Track", "seconds > 400", "--since", start, "--timeout", "0s")
    #expect(try told(again.out) == ["+ 2 entered", "- 2 left"], "\(again)")
    #expect(again.err.contains("gap: which records met the predicate"), "\(again)")
  }

  @Test func changesThatNoJournalRecordsAreReportedAsAGap() throws {
    let world = try WatchWorld(journal: [])
    let watch = try WatchProcess(world.place, ["Track"])
    try world.set("seconds = seconds + 1", of: 1)
    try watch.hear("gap: changes of other programs to fields of Track are not reported")
    watch.interrupt()
    #expect(try told(try watch.finish().out) == [])
  }
}
