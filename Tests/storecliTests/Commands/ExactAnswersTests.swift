import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Every option either does something or is refused, and every answer has the form asked for.
@Suite(.tags(.process)) struct ExactAnswersTests {
  @Test func aStatementWithoutRowsAnswersInItsFormat() throws {
    let place = try Workplace()
    try place.makeMusic()
    let sql = "select id, name from Artist where id < 0"
    #expect(try place.run("query", "--sql", sql, "--json", "-q").out == "[]\n")
    #expect(try place.run("query", "--sql", sql, "--csv", "-q").out == "id,name\r\n")
    #expect(
      try place.run("query", "--sql", sql, "--fields", "nmae")
        == Outcome(
          code: 64, out: "",
          err: "error[usage]: The result has no column nmae; did you mean name?\n"))
  }

  @Test func explainHasAMachineReadableForm() throws {
    let place = try Workplace()
    try place.makeMusic()
    let shown = try place.run("query", "Artist", "id = 3", "--explain", "--json").out
    #expect(
      shown.replacing(/"steps":\d+/, with: "\"steps\":9")
        == #"{"sql":"SELECT \"id\", \"name\", \"founded\"\nFROM \"Artist\"\nWHERE \"id\" = ?\nORDER BY \"id\"","arguments":[3],"plan":["SEARCH Artist USING INTEGER PRIMARY KEY (rowid=?)"],"words":["key: finds rows of Artist by rowid=?"],"cost":{"rows":1,"steps":9,"fullScanSteps":0,"sorts":0,"automaticIndexRows":0,"isComplete":true},"advice":null}"#
        + "\n")
  }

  @Test(arguments: [
    ["query", "--sql", "select 1", "--count"], ["query", "--sql", "select 1", "--sort", "a"],
    ["query", "Artist", "--explain", "--csv"], ["models", "--fields", "nosuch"],
    ["models", "Artist", "--fields", "nosuch"],
    ["models", "Artist", "--json", "--fields", "field"],
    ["demo", "--json"], ["demo", "-d", "x"], ["query", "Artist", "--fields", ""],
    ["query", "Artist", "--fields", "id,,name"],
    ["update", "Artist", "1", "name=x", "--fields", "name"],
    ["rules", "add", "Track", "--required", "title", "--csv"],
    ["rules", "add", "Track", "--required", "title", "--header"],
    ["rules", "add", "Track", "--required", "title", "--skip-code-validators"],
    ["rules", "drop", "x", "-o", "plain"], ["rules", "rebuild", "-o", "table"],
    ["bindings", "drop", "x", "--header"], ["bindings", "rebuild", "-o", "tsv"],
  ])
  func optionsThatWouldDoNothingAreRefused(words: [String]) throws {
    let place = try Workplace()
    try place.makeMusic()
    let outcome = try place.run(words)
    #expect(
      outcome.code == 64 && outcome.out.isEmpty
        && (words.contains("--json")
          ? outcome.err.hasPrefix("{\"error\":{\"code\":\"usage\"")
          : outcome.err.hasPrefix("error[usage]: ")),
      "\(outcome)")
  }

  @Test func reportsAndOddNamesHaveChoosableColumns() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(
      try place.run("models", "--fields", "records,model", "-q").out
        == "120\tAlbum\n40\tArtist\n1201\tTrack\n")
    try RawDatabase(place.path("odd.db")).execute(
      "CREATE TABLE Odd (a INTEGER PRIMARY KEY, \"c,d\" TEXT); INSERT INTO Odd VALUES (1, 'x')")
    try place.run("adopt", "-d", "odd.db")
    #expect(
      try place.run("get", "Odd", "1", "--fields", "\"c,d\",a", "-d", "odd.db").out == "x\t1\n")
  }

  @Test func aRefusedCommandLeavesAForeignDatabaseUnchanged() throws {
    let place = try Workplace()
    try RawDatabase(place.path("foreign.db")).execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x)")
    try place.write("", to: "empty.db")
    for name in ["foreign.db", "empty.db"] {
      let before = try Data(contentsOf: place.url(name))
      for words in [["insert", "Nope", "x=1"], ["adopt", "Nope"], ["delete", "Nope", "1"]] {
        #expect(try place.run(words + ["-d", name]).code == 3)
      }
      #expect(try Data(contentsOf: place.url(name)) == before)
    }
  }

  @Test func aCommandWithNothingToDoLeavesAForeignDatabaseUnchanged() throws {
    let place = try Workplace()
    try RawDatabase(place.path("foreign.db")).execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x)")
    try place.write("", to: "empty.db")
    for name in ["foreign.db", "empty.db"] {
      let before = try Data(contentsOf: place.url(name))
      for noun in ["bindings", "rules"] {
        #expect(try place.run(noun, "rebuild", "-d", name).code == 0)
      }
      #expect(try Data(contentsOf: place.url(name)) == before)
    }
  }

  @Test func aConditionThatNoRecordMeetsIsReported() throws {
    let place = try Workplace()
    try place.makeMusic()
    for words in [["delete", "Track"], ["update", "Track", "seconds=5"]] {
      let none = try place.run(words + ["--where", "id < 0", "--yes"])
      #expect(none == Outcome(code: 0, out: "", err: "no change: no record matched\n"))
    }
    let same = try place.run("update", "Track", "--where", "id = 3", "id=3", "--yes")
    #expect(same == Outcome(code: 0, out: "", err: "no change: the values were already the same\n"))
  }

  @Test func aNewerLibrarysFileCanBeRead() throws {
    let place = try Workplace()
    try place.makeMusic()
    try RawDatabase(place.path("music.store")).execute(
      "INSERT INTO _ms_migrations (scope, version, name, checksum, sql, applied_at) VALUES ('store', 99, 'future', 'x', 'x', '2030-01-01')"
    )
    #expect(try place.run("query", "Artist", "--count").out == "40\n")
    #expect(try place.run("update", "Artist", "1", "name=x").code == 6)
  }

  @Test func aReportThatCannotBePrintedDoesNotFailTheWrite() throws {
    let place = try Workplace()
    try place.makeMusic()
    func run(_ words: [String], to stream: String) throws -> Outcome {
      let shell = ["/bin/sh", "-c", "exec \"$@\" \(stream)/dev/full", "sh"]
      return try place.runProcess(words, launching: shell)
    }
    #expect(
      try run(["update", "Artist", "1", "name=x"], to: ">")
        == Outcome(
          code: 1, out: "",
          err: "error[output]: The change is committed; only the report failed: "
            + "cannot write the output: No space left on device.\n"))
    #expect(try place.run("get", "Artist", "1", "--fields", "name").out == "x\n")
    #expect(try run(["update", "Artist", "1", "name=y"], to: "2>").code == 0)
  }

  @Test func errorsCannotControlATerminal() throws {
    let place = try Workplace()
    try place.makeMusic()
    let outcome = try place.run(
      "import", "-", "--model", "Artist", input: "id,name,founded\n1,A,\u{1B}[2J\n")
    #expect(outcome.err.contains("\\u{1b}[2J") && !outcome.err.contains("\u{1B}"), "\(outcome)")
    let skipped = try place.run(
      "import", "-", "--model", "Artist", "--on-error", "skip",
      input: "id,name,founded\n1,A,\u{1B}[2J\n")
    #expect(skipped.err.contains("\\u{1b}[2J") && !skipped.err.contains("\u{1B}"), "\(skipped)")
  }

  @Test func standardInputIsReadForOneField() throws {
    let place = try Workplace()
    try RawDatabase(place.path("n.db")).execute(
      "CREATE TABLE N (id INTEGER PRIMARY KEY, a TEXT, b TEXT, r REAL); INSERT INTO N (r) VALUES (1.7e308)"
    )
    place.environment["STORECLI_DB"] = place.path("n.db")
    try place.run("adopt")
    #expect(try place.run("insert", "N", "a=-", "b=-", input: "x").code == 64)
    let grown = try place.run("update", "N", "1", "r+=1e308")
    #expect(grown.code == 4 && grown.err.contains("the sum is out of range"), "\(grown)")
  }

  @Test func hintsCanBeFollowed() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(try place.run("--version") == Outcome(code: 0, out: "storecli 0.1.0\n", err: ""))
    let negative = try place.run("get", "Artist", "-1")
    #expect(
      negative.code == 64
        && negative.err.hasSuffix("hint: a key that begins with - follows --, as in -- -1\n"),
      "\(negative)")
    #expect(try place.run("get", "Artist", "--", "-1").code == 3)
    for words in [["-o", "json"], ["-ojson"], ["--output=ndjson"]] {
      let outcome = try place.run(["query", "Artist", "--nosuch"] + words)
      #expect(
        outcome.code == 64 && outcome.err.hasPrefix("{\"error\":{\"code\":\"usage\""), "\(outcome)")
    }
  }

  @Test func aPathWithoutQuotesInAConfigurationIsAnError() throws {
    let place = try Workplace()
    try place.write("db = foo.db\n", to: "storecli.toml")
    let outcome = try place.run("models")
    #expect(
      outcome.code == 1 && outcome.err.contains("line 1: the value of db needs quotes"),
      "\(outcome)")
  }

  @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
  func aDirectoryThatMayNotBeWrittenIsNamedAsTheReason() throws {
    let place = try Workplace()
    try place.makeMusic()
    try FileManager.default.copyItem(atPath: Workplace.program, toPath: place.path("program"))
    for name in ["music.store-wal", "music.store-shm"] { unlink(place.path(name)) }
    chmod(place.path("music.store"), 0o444)
    chmod(place.directory, 0o755)
    let outcome = try place.runProcess(
      [],
      launching: [
        "/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/env",
        "sh",
        "-c", "exec ./program models",
      ])
    #expect(
      outcome.code == 1 && outcome.err.contains("reading needs a -shm file beside the database"),
      "\(outcome)")
  }
}
