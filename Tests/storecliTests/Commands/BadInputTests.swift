import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Each mistake gives one clear error with its exit code and leaves the file as it was.
@Suite(.tags(.process)) struct BadInputTests {
  private static let isRoot = geteuid() == 0

  private func expectUntouched(
    _ name: String, in place: Workplace, _ body: () throws -> Void
  ) throws {
    let before = try Data(contentsOf: URL(fileURLWithPath: place.path(name)))
    try body()
    #expect(try Data(contentsOf: URL(fileURLWithPath: place.path(name))) == before)
  }

  @Test func aTextFileIsRefusedAsADatabase() throws {
    let place = try Workplace()
    try place.write(String(repeating: "just some words\n", count: 200), to: "notes.store")
    try expectUntouched("notes.store", in: place) {
      for words in [["models"], ["insert", "Artist", "name=x"], ["adopt"], ["doctor"]] {
        let outcome = try place.run(words + ["-d", "notes.store"])
        #expect(
          outcome.code == 1
            && outcome.err.hasPrefix("error[notADatabase]: notes.store: "), "\(words) \(outcome)")
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.directory) == ["notes.store"])
  }

  @Test func aTruncatedDatabaseIsCorrupt() throws {
    let place = try Workplace()
    try place.makeMusic()
    let whole = try Data(contentsOf: URL(fileURLWithPath: place.path("music.store")))
    try whole.prefix(whole.count / 2 + 100).write(
      to: URL(fileURLWithPath: place.path("half.store")))
    try expectUntouched("half.store", in: place) {
      let outcome = try place.run("query", "Track", "-d", "half.store")
      #expect(outcome.code == 1 && outcome.err.hasPrefix("error[corrupt]: "), "\(outcome)")
      let doctor = try place.run("doctor", "-d", "half.store")
      #expect(doctor.code == 1 || doctor.code == 2, "\(doctor)")
    }
  }

  @Test func aDirectoryIsRefusedAsADatabase() throws {
    let place = try Workplace()
    let outcome = try place.run("models", "-d", place.directory)
    #expect(
      outcome
        == Outcome(
          code: 1, out: "",
          err: "error[unsafeLocation]: \(place.directory) is a directory. Specify a file in it.\n"))
  }

  @Test(.enabled(if: isRoot, "only root can become another user"))
  func aFileWithoutPermissionIsRefused() throws {
    let place = try Workplace()
    try place.makeMusic()
    // The build directory may be closed to the other user.
    try FileManager.default.copyItem(atPath: Workplace.program, toPath: place.path("program"))
    chmod(place.path("music.store"), 0o600)
    chmod(place.directory, 0o755)
    try expectUntouched("music.store", in: place) {
      let process = try place.process([])
      process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
      process.arguments = [
        "--reuid=65534", "--regid=65534", "--clear-groups", place.path("program"), "models",
      ]
      let errors = Pipe()
      process.standardError = errors
      try process.run()
      process.waitUntilExit()
      let said = String(
        decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      #expect(process.terminationStatus == 1)
      #expect(said.hasPrefix("error[permissionDenied]: "), "\(said)")
    }
  }

  @Test func aFileOfANewerLibraryIsLeftUnchanged() throws {
    let place = try Workplace()
    try place.makeMusic()
    try RawDatabase(place.path("music.store")).execute(
      "INSERT INTO _ms_migrations (scope, version, name, checksum, sql, applied_at) VALUES ('store', 99, 'future', 'x', 'x', '2030-01-01')"
    )
    let outcome = try place.run("update", "Artist", "1", "name=x")
    #expect(outcome.code == 6 && outcome.err.hasPrefix("error[newerFormat]: "), "\(outcome)")
  }

  @Test func aMissingFileIsNotCreated() throws {
    let place = try Workplace()
    try place.makeMusic()
    for words in [["models"], ["insert", "Artist", "name=x"]] {
      #expect(
        try place.run(words + ["-d", "musik.store"])
          == Outcome(
            code: 3, out: "",
            err: "error[fileNotFound]: There is no file at musik.store (named by -d); "
              + "did you mean ./music.store?\nhint: storecli models -d ./music.store\n"))
    }
    #expect(!FileManager.default.fileExists(atPath: place.path("musik.store")))
  }

  @Test(arguments: [
    (["query", "Trak"], 3, "error[unknownModel]: There is no model Trak; did you mean Track?"),
    (["query", "Track", "titel = 'x'"], 64, "error[unknownField]: "),
    (["query", "Track", "title ~ 'x'"], 64, "error[invalidQuery]: "),
    (["query", "Track", "seconds = abc"], 64, "error[unknownField]: "),
    (["query", "Track", "seconds = 'abc'"], 64, "error[invalidValue]: "),
    (["query", "Track", "--fields", "titel"], 64, "error[unknownField]: Track has no field titel"),
    (["query", "Track", "--sort", "titel"], 64, "error[unknownField]: "),
    (["query", "Track", "--limit", "-1"], 64, "error[usage]: "),
    (["query", "Track", "--colour"], 64, "error[usage]: "),
    (["get", "Track", "99999"], 3, "error[recordNotFound]: There is no record 99999 in Track."),
    (["get", "Track", "one"], 64, "error[usage]: "),
    (["get", "Track", "1,2"], 64, "error[usage]: "),
    (
      ["update", "Track", "1", "titel=x"], 64,
      "error[unknownField]: Track has no field titel; did you mean title?"
    ),
    (
      ["update", "Track", "1", "seconds=abc"], 4,
      "error[invalidValue]: seconds takes a whole number"
    ),
    (["update", "Track", "1", "seconds="], 4, "error[invalidValue]: "),
    (
      ["update", "Track", "1", "seconds=-5"], 4,
      "error[rejected]: Nothing was changed: Track 1.seconds must be 1 to 7200"
    ),
    (
      ["update", "Track", "1", "seconds:null"], 4,
      "error[rejected]: Nothing was changed: Track 1.seconds must have a value"
    ),
    (["update", "Track", "1", "albumID=9999"], 4, "error[rejected]: "),
    (["update", "Track", "99999", "title=x"], 3, "error[recordNotFound]: "),
    (["update", "Track", "1"], 64, "error[usage]: "),
    (["update", "Track", "1", "title"], 64, "error[usage]: "),
    (["update", "Track", "1", "title=@nothing"], 3, "error[input]: nothing: "),
    (["delete", "Track", "99999"], 3, "error[recordNotFound]: "),
    (["import", "nothing.csv", "--model", "Track"], 3, "error[input]: nothing.csv: "),
    (["import", "music.store", "--model", "Track"], 64, "error[input]: music.store: "),
    (["query", "Track", "--count", "--sort", "title"], 64, "error[usage]: --count prints one"),
    (["query", "Track", "--count", "--fields", "id"], 64, "error[usage]: --count prints one"),
    (["query", "Track", "--count", "--all"], 64, "error[usage]: --count prints one"),
    (
      [
        "import", "in", "--model", "Artist", "--on-error", "collect", "--rejects", "-",
      ], 64, "error[usage]: --rejects takes the name"
    ),
    (
      ["get", "Artist", "1", "--fields", "\"id"], 64, "error[usage]: --fields has an opening quote"
    ),
    (["adopt", "--fields", "nosuch"], 64, "error[usage]: The result has no column nosuch"),
    (["export", "Track", "--to", "music.store"], 64, "error[output]: "),
    (["adopt", "Nothing"], 3, "error[unknownModel]: "),
    (["modles"], 64, "error[usage]: There is no command modles; did you mean models?"),
    (["-d", "x", "modles"], 64, "error[usage]: There is no command modles; did you mean models?"),
    (["-d", "x"], 64, "error[usage]: A command is missing after the options."),
    (["-q", "-d"], 64, "error[usage]: -d needs a value, and a command after it."),
    (["-q", "--limit", "3", "query"], 64, "error[usage]: --limit is not a common option."),
    (["-d", "x", "models"], 3, "error[fileNotFound]: There is no file at x (named by -d)"),
  ])
  func mistakesAreNamed(_ words: [String], _ code: Int, _ message: String) throws {
    let place = try Workplace()
    try place.makeMusic()
    try expectUntouched("music.store", in: place) {
      let outcome = try place.run(words)
      #expect(
        outcome.code == Int32(code) && outcome.out.isEmpty && outcome.err.hasPrefix(message),
        "\(outcome)")
    }
  }

  @Test func thePredicateErrorPointsAtTheColumn() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(
      try place.run("query", "Track", "seconds > 3 and titel = 'x'").err == """
        error[unknownField]: Track has no field titel; did you mean title?
          seconds > 3 and titel = 'x'
                          ^^^^^
        hint: storecli models Track

        """)
  }

  @Test func errorsAreJSONWhenTheOutputIsJSON() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(
      try place.run("update", "Track", "1", "seconds=abc", "--json").err
        == #"{"error":{"code":"invalidValue","message":"seconds takes a whole number within 64 bits; got “abc”.","model":"Track","field":"seconds","hint":"storecli models Track"}}"#
        + "\n")
  }

  @Test func aValueOfTwoMegabytesIsRefusedByItsRuleOrKept() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write(String(repeating: "x", count: 2_000_000), to: "long.txt")
    #expect(
      try place.run("update", "Track", "1", "title=@long.txt")
        == Outcome(
          code: 4, out: "",
          err: "error[rejected]: Nothing was changed: Track 1.title must have 1 to 120 characters "
            + "(rule Track.title.length).\n"
            + "hint: storecli models Track\n"))
    let predicate = "title = '" + String(repeating: "x", count: 100_000) + "'"
    #expect(try place.run("query", "Track", predicate, "--count").out == "0\n")
  }

  @Test func aSecondWriterWaitsAndGivesUp() throws {
    let place = try Workplace()
    try place.makeMusic()
    let raw = try RawDatabase(place.path("music.store"))
    try raw.execute("BEGIN IMMEDIATE")
    let outcome = try place.run("update", "Artist", "1", "name=x", "--busy-timeout", "0.1")
    #expect(outcome.code == 5 && outcome.err.hasPrefix("error[busy]: "), "\(outcome)")
    #expect(try place.run("get", "Artist", "1", "--fields", "name").out == "Nina & the Tides\n")
    try raw.execute("ROLLBACK")
    #expect(try place.run("update", "Artist", "1", "name=x", "--busy-timeout", "0.1").code == 0)
  }

  @Test(.enabled(if: FullDiskTests.SmallDisk.isPossible, "only root can mount a small disk"))
  func aFullDiskChangesNothing() throws {
    let place = try Workplace()
    try place.makeMusic()
    let disk = place.path("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    try #require(
      mount("tmpfs", disk, "tmpfs", 0, "size=768k") == 0, "a tmpfs must be mountable")
    defer { umount2(disk, Int32(MNT_DETACH)) }
    try FileManager.default.copyItem(
      atPath: place.path("music.store"), toPath: disk + "/music.store")
    let lines = (1000..<40_000).map { "{\"id\":\($0),\"name\":\"some name\",\"founded\":1990}\n" }
    let outcome = try place.run(
      "import", "-", "--model", "Artist", "-d", disk + "/music.store", input: lines.joined())
    #expect(outcome.code == 1 && outcome.err.hasPrefix("error[outOfSpace]: "), "\(outcome)")
    #expect(outcome.err.contains("nothing was written"))
    let raw = try RawDatabase(disk + "/music.store")
    #expect(try raw.value("SELECT count(*) FROM Artist") == "40")
    #expect(try raw.value("PRAGMA integrity_check") == "ok")
  }

  /// Swift puts another character in the place of such bytes, which must not reach the file.
  @Test func anArgumentThatIsNotUTF8IsRefused() throws {
    let place = try Workplace()
    try place.makeMusic()
    func run(_ words: String...) throws -> Outcome {
      let script = #"exec "$@" "name=$(printf 'a\377\376')""#
      return try place.runProcess(words, launching: ["/bin/sh", "-c", script, "sh"])
    }
    let message = " is not UTF-8. Pass it in UTF-8; nothing was done."
    #expect(
      try run("update", "Artist", "1")
        == Outcome(code: 64, out: "", err: "error[usage]: Argument 4\(message)\n"))
    #expect(try run("insert", "Artist").err == "error[usage]: Argument 3\(message)\n")
    #expect(try place.run("get", "Artist", "1", "--fields", "name").out == "Nina & the Tides\n")
    // The replacement character itself is text like any other.
    #expect(try place.run("update", "Artist", "1", "name=a\u{FFFD}", "-q").code == 0)
    #expect(try place.run("get", "Artist", "1", "--fields", "name").out == "a\u{FFFD}\n")
  }

  @Test func hintsFitTheMistake() throws {
    let place = try Workplace()
    try place.makeMusic()
    let negative = try place.run("delete", "Artist", "1", "--busy-timeout", "-1")
    #expect(negative.code == 64 && negative.err.hasSuffix("hint: storecli delete --help\n"))
    #expect(
      try place.run("delete", "Artist", "-1").err
        .hasSuffix("hint: a key that begins with - follows --, as in -- -1\n"))
    let sql = try place.run("query", "--sql", "SELECT nothing")
    #expect(sql.code == 64 && sql.err.hasSuffix("hint: storecli models\n"), "\(sql)")
  }

  @Test func anErrorIsPrintedEvenIfTheDataBeforeItCannotBeWritten() throws {
    let place = try Workplace()
    try place.makeMusic()
    let outcome = try place.runProcess(
      ["get", "Artist", "1", "999", "-o", "table"],
      launching: ["/bin/sh", "-c", "exec \"$@\" > /dev/full", "sh"])
    #expect(outcome.code == 3)
    #expect(
      outcome.err.hasPrefix("error[recordNotFound]: There is no record 999 in Artist."),
      "\(outcome)")
  }

  @Test func adoptingWithAFieldThatTheReportLacksAdoptsNothing() throws {
    let place = try Workplace()
    try RawDatabase(place.path("notes.db")).execute("CREATE TABLE Note (id INTEGER PRIMARY KEY)")
    place.environment["STORECLI_DB"] = place.path("notes.db")
    try expectUntouched("notes.db", in: place) {
      let outcome = try place.run("adopt", "--fields", "nosuch")
      #expect(outcome.code == 64)
    }
    #expect(try place.run("adopt", "--fields", "model").out == "Note\n")
  }

  @Test func aCountShowsTheStatementThatItRuns() throws {
    let place = try Workplace()
    try place.makeMusic()
    let outcome = try place.run("query", "Track", "--count", "-v")
    #expect(outcome.out == "1201\n")
    #expect(outcome.err.contains("SELECT count(*)"), "\(outcome)")
  }
}
