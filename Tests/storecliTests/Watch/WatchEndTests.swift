import Foundation
import Testing

@Suite(.tags(.process)) struct WatchEndTests {
  @Test func terminationKeepsAcknowledgedChanges() throws {
    let world = try WatchWorld()
    try world.set("seconds = 100", of: 1)
    let watch = try WatchProcess(
      world.place, ["Track", "--consumer", "work", "--since", world.start])
    #expect(try told(try watch.nextLine()).count == 1)
    watch.terminate()
    let outcome = try watch.finish(by: SIGTERM)
    #expect(outcome.err.contains("stopped after 1 change"), "\(outcome)")
    try world.set("seconds = 200", of: 1)
    let rest = try world.place.runProcess("watch", "Track", "--consumer", "work", "--timeout", "0s")
    #expect(try told(rest.out) == ["~ 1 seconds 100 -> 200"])
  }

  /// The result is reported on another thread, even if the timeout has already passed.
  @Test(arguments: [[], ["--sort", "id"], ["--sort", "id", "--coalesce"]])
  func existingChangesAreReportedHoweverShortTheTimeout(options: [String]) throws {
    let world = try WatchWorld(journal: [])
    let count = try world.raw.value("SELECT count(*) FROM Track")
    for _ in 0..<5 {
      let outcome = try world.place.runProcess(
        ["watch", "Track", "--snapshot", "--timeout", "0s", "-o", "ndjson"] + options)
      #expect(outcome.code == 0, "\(outcome)")
      #expect(String(try told(outcome.out).count) == count, "\(outcome)")
    }
  }

  /// Nothing is written here, so only a check of the file shows that it was replaced.
  @Test(
    "replacing the file ends a waiting watch",
    arguments: [[], ["--consumer", "work"], ["--sort", "id"], ["--sort", "id", "--coalesce"]])
  func aReplacedFileEndsIt(options: [String]) throws {
    let world = try WatchWorld()
    let path = world.place.path("music.store")
    let other = world.place.path("other.store")
    try world.raw.execute("VACUUM INTO '\(other)'")
    let watch = try WatchProcess(world.place, ["Track"] + options)
    try #require(rename(other, path) == 0)
    let outcome = try watch.finish()
    #expect(outcome.code == 1, "\(outcome)")
    #expect(
      outcome.err.split(separator: "\n").filter { $0.contains("fileReplaced") }
        .map { $0.hasPrefix("error[fileReplaced]: \(path) was replaced") } == [true], "\(outcome)")
  }

  @Test("removing the file ends a waiting watch, also without a journal")
  func aRemovedFileEndsIt() throws {
    let world = try WatchWorld(journal: [])
    let path = world.place.path("music.store")
    let watch = try WatchProcess(world.place, ["Track"])
    try #require(unlink(path) == 0)
    let outcome = try watch.finish()
    #expect(outcome.code == 1, "\(outcome)")
    #expect(outcome.err.contains("error[fileReplaced]: \(path) was replaced"), "\(outcome)")
  }

  @Test func aShellSeesTheSignalAsItsNumber() throws {
    let world = try WatchWorld()
    let outcome = try world.place.runProcess(
      "watch", "--timeout", "60s", "Track", "--exec", "true",
      launching: [
        "/bin/sh", "-c",
        """
        mkfifo said; "$0" "$@" 2> said & read line < said; kill -TERM $!; wait $!; echo $?
        """,
      ])
    #expect(outcome.out == "143\n", "\(outcome)")
    #expect(try world.place.run("help", "exit-codes").out.contains("143  ended by SIGTERM"))
  }

  @Test func theRunningCommandIsWaitedFor() throws {
    let world = try WatchWorld()
    for seconds in [100, 200] { try world.set("seconds = \(seconds)", of: 1) }
    // The command reports its start, and ends only when the test signals it.
    let watch = try WatchProcess(
      world.place,
      [
        "Track", "--consumer", "work", "--since", world.start, "--exec",
        "mkfifo gate-$$; echo gate-$$; read line < gate-$$",
      ])
    let gate = try watch.nextLine()
    watch.terminate()
    try world.place.write("go\n", to: gate)
    _ = try watch.finish(by: SIGTERM)
    let rest = try world.place.runProcess("watch", "Track", "--consumer", "work", "--timeout", "0s")
    #expect(try told(rest.out) == ["~ 1 seconds 100 -> 200"])
  }

  @Test(arguments: [1, 3])
  func aClosedPipeEndsWatchQuietly(changeCount: Int) throws {
    let world = try WatchWorld()
    for number in 1...changeCount { try world.set("seconds = \(100 + number)", of: 1) }
    let outcome = try world.place.runProcess(
      "watch", "Track", "--since", world.start, "--timeout", "60s", "-q",
      launching: ["/bin/sh", "-c", "{ \"$0\" \"$@\"; echo $? >&2; } | head -n 1"])
    #expect(try told(outcome.out).count == 1)
    #expect(outcome.err == "141\n", "\(outcome)")
  }

  @Test func aReaderThatReadsNothingDoesNotKeepWatchRunning() throws {
    let world = try WatchWorld()
    try world.raw.execute("CREATE TABLE Note (id INTEGER PRIMARY KEY, text)")
    try world.place.run("adopt", "Note")
    try world.place.run("journal", "on", "Note")
    for number in 1...5 {
      try world.raw.execute("INSERT INTO Note VALUES (\(number), hex(zeroblob(50000)))")
    }
    let watch = try WatchProcess(
      world.place, ["Note", "--consumer", "work", "--since", world.start])
    watch.interrupt()
    #expect(try watch.endUnread() == 130)
    let position = try world.place.run("consumers", "list", "-q", "--fields", "position").out
    #expect(position == "\(world.start)\n")
  }
}
