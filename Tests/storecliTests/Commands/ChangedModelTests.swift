import Foundation
import Testing

/// Commands that run for long while another program changes what a field means.
@Suite(.tags(.process)) struct ChangedModelTests {
  private func adopted(_ script: String) throws -> (Workplace, RawDatabase) {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("f.db"))
    try raw.execute(script)
    place.environment["STORECLI_DB"] = place.path("f.db")
    let outcome = try place.run("adopt")
    try #require(outcome.code == 0, "\(outcome)")
    return (place, raw)
  }

  private func sentence(_ model: String) -> String {
    "error[schemaMismatch]: The model \(model) was changed by another program; run it again.\n"
  }

  /// The import stored a text in a field that had become one of truth values.
  @Test func anImportStopsAtTheNextBatch() throws {
    let (place, raw) = try adopted(
      """
      CREATE TABLE account (id INTEGER PRIMARY KEY, is_active BOOLEAN);
      INSERT INTO account VALUES (1, 1), (2, 'oops');
      """)
    try #require(mkfifo(place.path("account.ndjson"), 0o600) == 0)
    let process = try place.process(["import", "account.ndjson", "--batch", "1"])
    try place.write("", to: "talk")
    process.standardInput = FileHandle.nullDevice
    process.standardError = try FileHandle(forWritingTo: place.url("talk"))
    try process.run()
    let identifier = process.processIdentifier
    let watchdog = DispatchWorkItem { kill(identifier, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + 300, execute: watchdog)
    defer { watchdog.cancel() }
    // Also for reading, so that neither opening nor writing depends on the command.
    let input = try FileHandle(forUpdating: place.url("account.ndjson"))
    try input.write(contentsOf: Data("{\"id\":3,\"is_active\":1}\n".utf8))
    while process.isRunning, try raw.value("SELECT count(*) FROM account") != "3" { sched_yield() }
    try raw.execute("UPDATE account SET is_active = 0 WHERE id = 2")
    let retyped = try place.run("adopt", "--type", "account.is_active=bool")
    try #require(retyped.code == 0, "\(retyped)")
    try input.write(contentsOf: Data("{\"id\":4,\"is_active\":\"nonsense\"}\n".utf8))
    try input.close()
    process.waitUntilExit()
    #expect(process.terminationStatus == 1)
    #expect(
      try place.contents(of: "talk").withoutResumption
        == sentence("account") + "  1 record of 1 earlier batch stay written\n")
    #expect(try raw.value("SELECT group_concat(id) FROM account") == "1,2,3")
  }

  @Test(arguments: [true, false])
  func aWatchEndsWithAnError(hasJournal: Bool) throws {
    let (place, raw) = try adopted(
      """
      CREATE TABLE ev (id INTEGER PRIMARY KEY, at INTEGER);
      INSERT INTO ev VALUES (1, 1600000000);
      """)
    if hasJournal { try #require(try place.run("journal", "on").code == 0) }
    let watch = try WatchProcess(place, ["ev", "--ndjson"])
    let retyped = try place.run("adopt", "--type", "ev.at=date")
    try #require(retyped.code == 0, "\(retyped)")
    try raw.execute("INSERT INTO ev VALUES (2, 1600000001)")
    let outcome = try watch.finish()
    #expect(outcome.code == 1, "\(outcome)")
    #expect(
      outcome.err.contains(
        #""message":"The model ev was changed by another program; run it again.""#), "\(outcome)")
    #expect(!outcome.out.contains("1600000001"), "\(outcome)")
  }
}
