import Foundation
import Testing

/// Rules that only warn are reported where a person sees them, and fail nothing.
@Suite(.tags(.process)) struct WarningRulesTests {
  private func place() throws -> Workplace {
    let place = try Workplace()
    try place.makeMusic()
    let added = try place.run(
      "rules", "add", "Track", "--range", "seconds=20..", "--severity", "warning", "--name",
      "Track.short")
    try #require(added.code == 0, "\(added)")
    return place
  }

  private let warning =
    "warning[rule]: Track 1.seconds must be 20 or greater (rule Track.short). The rule only warns, so "

  @Test func aWriteIsMadeAndPrintsTheWarning() throws {
    let place = try place()
    let dry = try place.run("update", "Track", "1", "seconds=10", "-n")
    #expect(dry.code == 0 && dry.err.hasSuffix(warning + "the change would be made.\n"), "\(dry)")
    let made = try place.run("update", "Track", "1", "seconds=10")
    #expect(made.code == 0 && made.err == warning + "the change was made.\n", "\(made)")
    // Only what a write changes is judged.
    #expect(try place.run("update", "Track", "1", "title=x").err == "")
    #expect(try place.run("update", "Track", "1", "seconds=30").err == "")
    let inserted = try place.run("insert", "Track", "title=x", "seconds=5", "albumID=1", "-q")
    #expect(inserted.code == 0 && inserted.err.hasPrefix("warning[rule]: Track "), "\(inserted)")
  }

  @Test func severalRecordsAreCountedAndTheFirstListed() throws {
    let place = try place()
    let made = try place.run("update", "Track", "--where", "id <= 7", "seconds=10", "--yes")
    #expect(
      made.err == """
        7 Track updated
        warning[rule]: 7 records break a rule. The rule only warns, so the change was made.
          Track 1.seconds  must be 20 or greater  (rule Track.short)
          Track 2.seconds  must be 20 or greater  (rule Track.short)
          Track 3.seconds  must be 20 or greater  (rule Track.short)
          Track 4.seconds  must be 20 or greater  (rule Track.short)
          Track 5.seconds  must be 20 or greater  (rule Track.short)
          and 2 more

        """)
    #expect(made.code == 0)
  }

  @Test func takingBackAChangePrintsTheWarning() throws {
    let place = try place()
    try #require(try place.run("journal", "on").code == 0)
    for seconds in [10, 30, 11, 40] {
      try place.run("update", "Track", "1", "seconds=\(seconds)")
    }
    let dry = try place.run("undo", "-n")
    #expect(dry.code == 0 && dry.err.hasSuffix(warning + "the change would be made.\n"), "\(dry)")
    let undone = try place.run("undo")
    #expect(
      undone.code == 0 && undone.err.hasSuffix(warning + "the change was made.\n"), "\(undone)")
    let redone = try place.run("redo")
    #expect(redone.code == 0 && !redone.err.contains("warning"), "\(redone)")
    // A dry run of several steps shows their net result; the steps are warned of one by one.
    #expect(try !place.run("undo", "2", "-n").err.contains("warning"))
    let both = try place.run("undo", "2")
    #expect(both.err.components(separatedBy: "warning[rule]").count == 2, "\(both)")
    for seconds in [12, 50] { try place.run("update", "Track", "1", "seconds=\(seconds)") }
    let newest = try place.run("history", "--limit", "1", "--ndjson", "-q").out
    let id = try #require(newest.firstMatch(of: /"txn":"(\w+)"/)?.output.1)
    let reverted = try place.run("revert", String(id))
    #expect(
      reverted.code == 0 && reverted.err.hasSuffix(warning + "the change was made.\n"),
      "\(reverted)")
  }

  @Test func anImportCountsTheRecordsAndListsTheFirst() throws {
    let place = try place()
    var lines = "id,title,seconds,albumID\n"
    for id in 9_001...9_150 { lines += "\(id),x,\(id.isMultiple(of: 2) ? 5 : 50),1\n" }
    try place.write(lines, to: "Track.csv")
    let listed =
      (1...5).map {
        "  Track \(9_000 + 2 * $0).seconds  must be 20 or greater  (rule Track.short)\n"
      }
      .joined() + "  and 70 more\n"
    let dry = try place.run("import", "Track.csv", "-n")
    let wouldBreak = "warning[rule]: 75 records would break a rule. The rule only warns, so "
    #expect(dry.code == 0, "\(dry)")
    #expect(
      dry.err.hasSuffix(
        "dry run: nothing was written\n" + wouldBreak + "the change would be made.\n" + listed),
      "\(dry)")
    #expect(try place.run("query", "Track", "id > 9000", "--count").out == "0\n")
    // Each batch is a transaction; all of them are one report.
    let made = try place.run("import", "Track.csv", "--batch", "40")
    let breaks = "warning[rule]: 75 records break a rule. The rule only warns, so "
    #expect(made.code == 0, "\(made)")
    #expect(made.err.hasSuffix(breaks + "the change was made.\n" + listed), "\(made)")
    #expect(try place.run("query", "Track", "id > 9000", "--count").out == "150\n")
    // Only what an import changes is judged.
    let again = try place.run("import", "Track.csv", "--upsert")
    #expect(again.code == 0 && !again.err.contains("warning"), "\(again)")
  }

  @Test func aStoppedImportWarnsOfTheBatchesBeforeIt() throws {
    let place = try place()
    try place.write(
      "id,title,seconds,albumID\n9001,x,5,1\n9002,x,6,1\n9003,x,0,1\n", to: "Track.csv")
    let stopped = try place.run("import", "Track.csv", "--batch", "1")
    #expect(stopped.code == 4, "\(stopped)")
    #expect(stopped.err.contains("warning[rule]: 2 records break a rule."), "\(stopped)")
    let refused = try place.run("import", "Track.csv", "--upsert")
    #expect(refused.code == 4 && !refused.err.contains("warning"), "\(refused)")
  }

  @Test func aRefusedWriteHasNoWarning() throws {
    let place = try place()
    let refused = try place.run("update", "Track", "1", "seconds=0")
    #expect(refused.code == 4 && !refused.err.contains("warning"), "\(refused)")
  }

  @Test func doctorReportsTheWarningAndDoesNotFail() throws {
    let place = try place()
    try place.run("update", "Track", "1", "seconds=10")
    let doctor = try place.run("doctor", "-q")
    #expect(
      doctor.out.contains("rules\twarning\tTrack.seconds must be 20 or greater: 1 record (1)\n"),
      "\(doctor)")
    #expect(doctor.code == 0)
    try place.run(
      "rules", "add", "Track", "--range", "seconds=20..", "--severity", "error",
      "--name", "Track.short", "--keep-violations")
    #expect(try place.run("doctor", "-q").code == 2)
  }

  /// A warning refuses nothing, also where its condition cannot be evaluated.
  @Test func aConditionThatFailsIsSaidAndStopsNothing() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.run("journal", "on")
    let added = try place.run(
      "rules", "add", "Track", "--check",
      "title not like 'no %' or json_extract(title, '$.a') is null", "--severity", "warning",
      "--name", "Track.json")
    try #require(added.code == 0, "\(added)")
    try place.write("id,title,seconds,albumID\n9001,no json,5,1\n", to: "Track.csv")
    let made = try place.run("import", "Track.csv")
    #expect(made.code == 0, "\(made)")
    let gap = "warning: The rules of Track that only warn could not be evaluated: malformed JSON."
    #expect(made.err.contains(gap), "\(made)")
    #expect(try place.run("query", "Track", "id = 9001", "--count").out == "1\n")
    #expect(try place.run("update", "Track", "9001", "title=no title").err.contains(gap))
    let undone = try place.run("undo")
    #expect(undone.code == 0 && undone.err.contains(gap), "\(undone)")
  }

  @Test func aLargeImportComparesItsFirstRecords() throws {
    let place = try place()
    var lines = "id,title,seconds,albumID\n"
    for id in 9_001...10_500 { lines += "\(id),x,5,1\n" }
    try place.write(lines, to: "Track.csv")
    let made = try place.run("import", "Track.csv")
    #expect(made.code == 0, "\(made)")
    #expect(
      made.err.contains(
        "warning: Only the first 1000 written records were compared with rules that only warn."))
    #expect(made.err.contains("warning[rule]: 1 000 records break a rule."), "\(made)")
  }
}
