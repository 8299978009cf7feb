import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// An export replaces a file's contents and nothing else about it.
@Suite(.tags(.process)) struct ExportFileTests {
  private func mode(of path: String) throws -> mode_t {
    var status = stat()
    try #require(lstat(path, &status) == 0)
    return status.st_mode
  }

  @Test func aFileThatCannotBeWrittenIsNamed() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(
      try place.run("export", "Artist", "--to", "/dev/full")
        == Outcome(
          code: 1, out: "",
          err: "error[output]: cannot write /dev/full: No space left on device\n"))
  }

  @Test func aReplacedFileKeepsItsPermissions() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write("old", to: "private.csv")
    chmod(place.path("private.csv"), 0o600)
    #expect(try place.run("export", "Artist", "id = 1", "--to", "private.csv").code == 0)
    #expect(try mode(of: place.path("private.csv")) == S_IFREG | 0o600)
    #expect(
      try place.contents(of: "private.csv") == "id,name,founded\r\n1,Nina & the Tides,1996\r\n")
  }

  @Test func aNewFileHasThePermissionsThatTheUmaskAllows() throws {
    let place = try Workplace()
    try place.makeMusic()
    let words = ["export", "Artist", "--to", "new.csv"]
    #expect(
      try place.runProcess(words, launching: ["/bin/sh", "-c", "umask 027; exec \"$@\"", "sh"]).code
        == 0)
    #expect(try mode(of: place.path("new.csv")) == S_IFREG | 0o640)
  }

  @Test func exportingThroughALinkReplacesItsTarget() throws {
    let place = try Workplace()
    try place.makeMusic()
    try FileManager.default.createDirectory(
      atPath: place.path("elsewhere"), withIntermediateDirectories: false)
    try place.write("old", to: "elsewhere/target.csv")
    try FileManager.default.createSymbolicLink(
      atPath: place.path("link.csv"), withDestinationPath: "elsewhere/target.csv")
    #expect(try place.run("export", "Artist", "id = 1", "--to", "link.csv").code == 0)
    #expect(try mode(of: place.path("link.csv")) & S_IFMT == S_IFLNK)
    #expect(try place.contents(of: "elsewhere/target.csv").hasPrefix("id,name,founded\r\n1,"))
  }

  @Test func aDeviceIsWrittenToAndStays() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(try place.run("export", "Artist", "--to", "/dev/null").code == 0)
    #expect(try mode(of: "/dev/null") & S_IFMT == S_IFCHR)
    let full = try place.run("export", "Artist", "--to", "/dev/full")
    #expect(full.code == 1 && full.err.hasPrefix("error[output]: "), "\(full)")
  }

  @Test(.timeLimit(.minutes(30)))
  func aPipeIsWrittenToAndStays() throws {
    let place = try Workplace()
    try place.makeMusic()
    try #require(mkfifo(place.path("pipe"), 0o600) == 0)
    let process = try place.process(["export", "Artist", "id = 1", "-o", "ndjson", "--to", "pipe"])
    process.standardError = FileHandle.nullDevice
    try process.run()
    let reader = try FileHandle(forReadingFrom: place.url("pipe"))
    let text = String(decoding: try reader.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(text == "{\"id\":1,\"name\":\"Nina & the Tides\",\"founded\":1996}\n")
    #expect(try mode(of: place.path("pipe")) & S_IFMT == S_IFIFO)
  }

  /// Runs an export, sends it Ctrl-C once `isReady`, and waits for its end.
  private func interrupted(
    _ place: Workplace, _ words: [String], when isReady: (Process) throws -> Void
  ) throws -> (process: Process, talk: String) {
    let process = try place.process(["export"] + words)
    try place.write("", to: "talk")
    process.standardError = try FileHandle(forWritingTo: place.url("talk"))
    try process.run()
    // Ends the process if it still runs, so that a failure affects only this test.
    let identifier = process.processIdentifier
    let watchdog = DispatchWorkItem { kill(identifier, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + 300, execute: watchdog)
    try isReady(process)
    process.interrupt()
    process.waitUntilExit()
    watchdog.cancel()
    return (process, try place.contents(of: "talk"))
  }

  @Test(.timeLimit(.minutes(30)))
  func interruptingTheWaitForAReaderEndsTheExport() throws {
    let place = try Workplace()
    try place.makeMusic()
    try #require(mkfifo(place.path("pipe"), 0o600) == 0)
    let (process, talk) = try interrupted(place, ["Track", "--to", "pipe", "-v"]) { _ in
      // It says which database it found, then opens the pipe; whichever it is at, it has to end.
      while try place.contents(of: "talk").isEmpty { sched_yield() }
    }
    #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGINT)
    #expect(!talk.contains("error"))
  }

  @Test(.timeLimit(.minutes(30)))
  func interruptingAStalledReaderEndsTheExport() throws {
    let place = try Workplace()
    try place.makeMusic()
    try #require(mkfifo(place.path("pipe"), 0o600) == 0)
    // Held open and never read beyond the first bytes: the export fills the pipe and waits.
    var reader: FileHandle?
    let (process, talk) = try interrupted(place, ["Track", "--to", "pipe"]) { _ in
      reader = try FileHandle(forReadingFrom: place.url("pipe"))
      _ = try reader?.read(upToCount: 1)
    }
    #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGINT)
    #expect(talk == "")
    try reader?.close()
  }

  @Test(arguments: ["music.store-journal", "./music.store-wal", "music.store"])
  func theStoresOwnFilesAreRefusedWhetherTheyExistOrNot(name: String) throws {
    let place = try Workplace()
    try place.makeMusic()
    let outcome = try place.run("export", "Artist", "--to", name)
    #expect(outcome.code == 64 && outcome.err.hasPrefix("error[output]: "), "\(outcome)")
    #expect(!FileManager.default.fileExists(atPath: place.path("music.store-journal")))
  }

  @Test(arguments: [
    ("p.xlsx", "xlsx"), ("dir.d/p.txt", "txt"), ("P.CSV.GZ", "gz"), ("p.foo", "foo"),
  ])
  func anUnknownEndingNamesTheKnownOnes(file: String, ending: String) throws {
    let place = try Workplace()
    try place.makeMusic()
    let refused = try place.run("export", "Artist", "--to", file)
    #expect(
      refused.code == 64
        && refused.err.hasPrefix(
          "error[usage]: storecli cannot export \(ending) files. It knows the endings .csv, .tsv, "
            + ".json, .ndjson, .jsonl, .sql; or choose a format with -o.\n"),
      "\(refused)")
    #expect(!FileManager.default.fileExists(atPath: place.path(file)))
  }

  @Test(arguments: ["p", ".hidden", "P.CSV", "a.b/p"])
  func aNameWithoutAnEndingIsAccepted(file: String) throws {
    let place = try Workplace()
    try place.makeMusic()
    try FileManager.default.createDirectory(
      atPath: place.path("a.b"), withIntermediateDirectories: false)
    #expect(try place.run("export", "Artist", "id = 1", "--to", file).code == 0)
    #expect(try place.run("export", "Artist", "--to", "p.foo", "-o", "csv").code == 0)
  }
}
