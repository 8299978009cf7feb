import Foundation
import ModelStore
import Testing

/// `consumers letters`, `consumers replay` and `doctor --ready`.
@Suite(.tags(.process), .ownThreads, .timeLimit(.minutes(30))) struct DeadLetterCommandTests {
  private let place: Workplace

  init() throws {
    place = try Workplace()
    try place.makeMusic()
  }

  private struct Unreachable: Error, CustomStringConvertible {
    let description = "the index is down"
  }

  /// Makes two letters, of updates of track 1, and returns their positions.
  private func bury() async throws -> [Int64] {
    try place.run("journal", "on", "Track")
    let store = try await Store(at: place.path("music.store"))
    let consumer = try await store.consumer("search-index", startingAt: .end)
    let desk = WorkerDesk(consumer, holder: "test")
    try await desk.prepare()
    for seconds in [101, 102] {
      let outcome = try place.runProcess("update", "Track", "1", "seconds=\(seconds)")
      try #require(outcome.code == 0, "\(outcome)")
    }
    #expect(try await desk.takeLease(for: .seconds(60)))
    guard case .batch(let batch)? = try await desk.next(limit: 10) else { return [] }
    for change in batch.changes { try await desk.bury(change, Unreachable(), attemptCount: 5) }
    try await desk.endLease()
    await store.close()
    return batch.changes.map(\.position.rawValue)
  }

  private func letters(_ fields: String) throws -> String {
    try place.run("consumers", "letters", "search-index", "-q", "--fields", fields).out
  }

  @Test func lettersAreListedWithTheirErrors() async throws {
    #expect(try place.run("consumers", "letters", "-q").out == "")
    let positions = try await bury()
    #expect(
      try letters("consumer,position,model,id,op,attempts,replay,error")
        == positions.map {
          "search-index\t\($0)\tTrack\t1\tupdate\t5\t-\tthe index is down\n"
        }.joined())
    #expect(try place.run("consumers", "letters", "other", "-q").out == "")
    #expect(try place.run("consumers").err.contains("2 dead letters (storecli consumers letters)"))
  }

  @Test func aReplayMarksTheChosenLetters() async throws {
    let positions = try await bury()
    let dry = try place.run("consumers", "replay", "search-index", "\(positions[1])", "-n")
    #expect(dry.code == 0 && dry.err == "dry run: 1 dead letter would be processed again\n")
    #expect(try letters("replay") == "-\n-\n")
    let replay = try place.run("consumers", "replay", "search-index", "\(positions[1])")
    #expect(
      replay
        == Outcome(
          code: 0, out: "",
          err: "search-index will process 1 dead letter again before its next batch\n"))
    #expect(try letters("replay") == "-\nrequested\n")
    #expect(try place.run("consumers", "replay", "search-index").code == 0)
    #expect(try letters("replay") == "requested\nrequested\n")
  }

  @Test func droppedLettersAreGone() async throws {
    let positions = try await bury()
    let drop = try place.run("consumers", "replay", "search-index", "\(positions[0])", "--drop")
    #expect(drop == Outcome(code: 0, out: "", err: "dropped 1 dead letter\n"))
    #expect(try letters("position") == "\(positions[1])\n")
  }

  @Test func aLetterThatIsNotThereIsNamedAndNothingIsChanged() async throws {
    let positions = try await bury()
    let wrong = try place.run("consumers", "replay", "search-index", "\(positions[0])", "7777")
    #expect(
      wrong.code == 3
        && wrong.err.contains(
          "search-index has no dead letter at position 7777. Nothing was changed."),
      "\(wrong)")
    #expect(try letters("replay") == "-\n-\n")
    let unknown = try place.run("consumers", "replay", "serch-index")
    #expect(unknown.code == 3, "\(unknown)")
    #expect(try place.run("consumers", "replay", "search-index", "first").code == 64)
    #expect(try place.run("consumers", "replay").code == 64)
  }

  private func findings(_ words: String...) throws -> [String: String] {
    let outcome = try place.run(["doctor", "--ready", "-o", "json"] + words)
    let rows = try JSONSerialization.jsonObject(with: Data(outcome.out.utf8)) as? [[String: String]]
    return Dictionary(
      (rows ?? []).map { ($0["check"] ?? "", $0["state"] ?? "") },
      uniquingKeysWith: { $0 + " " + $1 })
  }

  @Test func aReadyStoreIsReported() async throws {
    let ready = try findings()
    #expect(ready["writable"] == "ok" && ready["log"] == "ok" && ready["disk"] == "ok")
    #expect(try place.run("doctor", "--ready").code == 0)
    _ = try await bury()
    #expect(try findings()["consumers"] == "ok warning")
    // Dead letters do not make a service unready.
    #expect(try place.run("doctor", "--ready").code == 0)
  }

  @Test func driftMakesAStoreUnready() throws {
    try place.run("journal", "on", "Track")
    try RawDatabase(place.path("music.store")).execute("DROP TRIGGER _ms_journal_Track_update")
    let outcome = try place.run("doctor", "--ready", "-q")
    #expect(
      outcome.code == 2
        && outcome.out.contains(
          "drift\tproblem\tTrack differs from its declaration (storecli doctor)\n"),
      "\(outcome)")
  }

  @Test func aFileThatIsNoStoreIsUnready() throws {
    #expect(try place.run("doctor", "--ready", "-d", "missing.store").code != 0)
    try place.write(
      "no database, but longer than a header of a hundred bytes "
        + String(
          repeating: "x", count: 100), to: "text.store")
    #expect(try place.run("doctor", "--ready", "-d", "text.store").code != 0)
  }
}
