import Foundation
import Testing

/// A copy that was put in the place of a database while its log stayed.
@Suite(.tags(.process)) struct StaleLogTests {
  @Test func theRefusalNamesTheCommandsThatOpenTheCopy() throws {
    let place = try Workplace()
    try place.makeMusic()
    let path = place.path("music.store")
    let count = "SELECT count(*) FROM Artist"
    let before = try RawDatabase(path).value(count)
    try FileManager.default.copyItem(atPath: path, toPath: place.path("restored.store"))
    let words = ["insert", "Artist", "id=900", "name=n", "founded=1990"]
    #expect(try place.runProcess(words).code == 0)
    // Keeps the log as a program does that is running, or was killed.
    let other = try RawDatabase(path)
    #expect(try other.value(count) == "\((Int(before) ?? 0) + 1)")
    #expect(try place.runProcess(words.map { $0 == "id=900" ? "id=901" : $0 }).code == 0)
    try #require(rename(place.path("restored.store"), path) == 0)
    let refused = try place.runProcess("query", "Artist")
    #expect(refused.code == 1)
    let log = path + "-wal"
    let commands = "mv \(log) \(log).old && rm -f \(path)-shm"
    #expect(
      refused.err.hasPrefix("error[fileReplaced]: \(log) is not the log of \(path): "),
      "\(refused)")
    #expect(refused.err.contains("run \(commands) before you open \(path)"), "\(refused)")
    let shell = try Process.run(
      URL(fileURLWithPath: "/bin/sh"), arguments: ["-c", commands], terminationHandler: nil)
    shell.waitUntilExit()
    #expect(shell.terminationStatus == 0)
    #expect(try place.runProcess("get", "Artist", "900").code != 0)
    #expect(try RawDatabase(path).value(count) == before)
    #expect(try RawDatabase(path).value("PRAGMA integrity_check") == "ok")
    withExtendedLifetime(other) {}
  }
}
