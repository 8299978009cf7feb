import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

@Suite(.tags(.process)) struct ImportInputTests {
  /// A process fed through a pipe until it must have read some of it: more than a pipe holds.
  private func expectNoLockWhileWaiting(_ words: [String]) throws {
    let place = try Workplace()
    try place.makeMusic()
    let process = try place.process(words)
    let input = Pipe()
    process.standardInput = input
    process.standardError = FileHandle.nullDevice
    try process.run()
    let lines = (1000..<9000).map { "{\"id\":\($0),\"name\":\"some name\",\"founded\":1990}\n" }
    try input.fileHandleForWriting.write(contentsOf: Data(lines.joined().utf8))
    let raw = try RawDatabase(place.path("music.store"))
    try raw.execute("BEGIN IMMEDIATE; UPDATE Artist SET founded = 1996 WHERE id = 1; COMMIT")
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(try raw.value("SELECT count(*) FROM Artist") == "8040")
  }

  @Test(.timeLimit(.minutes(30)))
  func aSlowPipeDoesNotBlockOtherWriters() throws {
    try expectNoLockWhileWaiting(["import", "-", "--model", "Artist"])
  }

  @Test(.timeLimit(.minutes(30)))
  func otherWritersCanWriteBetweenBatches() throws {
    try expectNoLockWhileWaiting(["import", "-", "--model", "Artist", "--batch", "3000"])
  }

  @Test func anUpsertCountsWhatEachRecordDid() throws {
    let place = try Workplace()
    try place.makeMusic()
    let input =
      "id,name,founded\n1,Nina & the Tides,1996\n2,B,1970\n200,C,1970\n200,D,1970\n200,D,1970\n"
    for words in [["-n"], []] {
      let outcome = try place.run(
        ["import", "-", "--model", "Artist", "--upsert"] + words, input: input)
      #expect(
        outcome.err.hasPrefix("5 read  1 inserted  2 updated  2 unchanged  0 rejected  in "),
        "\(outcome)")
    }
  }

  @Test func transactionsWithoutRecordsAreNotCounted() throws {
    let place = try Workplace()
    try place.makeMusic()
    let outcome = try place.run(
      "import", "-", "--model", "Artist", "--batch", "2",
      input: "name,founded\nA,1960\nB,1960\nC,1960\nD,1960\n")
    #expect(outcome.err.hasSuffix(", 2 transactions\n"), "\(outcome)")
  }

  @Test(arguments: [
    (
      "a.json",
      "{\"id\":100,\"name\":\"A\",\"founded\":1960}\n{\"id\":101,\"name\":\"B\",\"founded\":1960}\n"
    ),
    ("b.json", "{\n  \"id\": 100,\n  \"name\": \"A\",\n  \"founded\": 1960\n}\n"),
    ("c", "{\n  \"id\": 100,\n  \"name\": \"A\",\n  \"founded\": 1960\n}"),
    ("d.json", " [{\"id\":100,\"name\":\"A\",\"founded\":1960}]"),
    ("e.tsv", "founded\tname\tid\n1960\tA\t100\n"),
  ])
  func theFormatIsDetectedFromTheContent(name: String, text: String) throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write(text, to: name)
    let outcome = try place.run("import", name, "--model", "Artist")
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try place.run("get", "Artist", "100").out == "100\tA\t1960\n")
  }

  @Test func tabSeparatedTextComesBackExactly() throws {
    let place = try Workplace()
    try RawDatabase(place.path("notes.db")).execute(
      """
      CREATE TABLE Note (id INTEGER PRIMARY KEY, text TEXT);
      INSERT INTO Note (text) VALUES
        (''), (NULL), ('a' || char(9) || 'b' || char(10) || '\\t'), ('"quoted" "'), ('\\N');
      """)
    place.environment["STORECLI_DB"] = place.path("notes.db")
    try place.run("adopt")
    let raw = try RawDatabase(place.path("notes.db"))
    let query = "SELECT group_concat(quote(text), '|') FROM Note"
    let before = try raw.value(query)
    try place.run("export", "Note", "--to", "notes.tsv")
    try place.run("delete", "Note", "--where", "id > 0", "--yes")
    let outcome = try place.run("import", "notes.tsv", "--model", "Note")
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try raw.value(query) == before)
  }

  @Test(arguments: [
    (
      ["--map", "tilte=name"], "id,name,founded\n",
      "error[usage]: The input has no column tilte.\n"
    ),
    (
      ["--map", "name=nmae"], "id,name,founded\n",
      "error[unknownField]: Artist has no field nmae; did you mean name?\n"
        + "hint: storecli models Artist\n"
    ),
    (
      [], "id;name;founded\n",
      "error[unknownField]: The input names id;name;founded, but Artist has no such field.\n"
        + "hint: add --delimiter ';'\n"
    ),
  ])
  func aHeaderThatDoesNotFitIsExplained(words: [String], header: String, said: String) throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(
      try place.run(["import", "-", "--model", "Artist"] + words, input: header + "1,A,1960\n")
        == Outcome(code: 64, out: "", err: said))
  }

  @Test(arguments: [
    ("in.tsv", "id\tname\tfounded\n100\tA\t1960\n", ["--delimiter", ";"]),
    ("in.ndjson", "{\"id\":100,\"name\":\"A\",\"founded\":1960}\n", ["--delimiter", ","]),
    ("in.json", "[{\"id\":100,\"name\":\"A\",\"founded\":1960}]", ["--null", "-"]),
  ])
  func optionsThatDoNothingAreRefused(name: String, text: String, words: [String]) throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write(text, to: name)
    let outcome = try place.run(["import", name, "--model", "Artist"] + words)
    #expect(
      outcome.code == 64 && outcome.err.hasPrefix("error[usage]: \(name): \(words[0]) is for CSV"),
      "\(outcome)")
    #expect(try place.run("query", "Artist", "--count").out == "40\n")
  }

  @Test(arguments: ["", "  \n", "{", "{\n", "[", "\"id\": 1}\n"])
  func aFileNamedJSONIsNotReadAsAnEmptyCSV(text: String) throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write(text, to: "in.json")
    let outcome = try place.run("import", "in.json", "--model", "Artist")
    #expect(outcome.code == 4 && outcome.err.hasPrefix("error[input]: in.json: "), "\(outcome)")
  }

  @Test func aBackslashThatEscapesNothingNamesItsField() throws {
    let place = try Workplace()
    try place.makeMusic()
    let outcome = try place.run(
      "import", "-", "--model", "Artist", "--format", "tsv",
      input: "id\tname\tfounded\n100\ta\\b\t1960\n")
    #expect(outcome.code == 4)
    #expect(outcome.err.contains(": line 2: name: In TSV, a backslash must begin"), "\(outcome)")
  }

  @Test func aPipeIsKeptWhereTMPDIRSays() throws {
    let place = try Workplace()
    try place.makeMusic()
    let words = ["import", "/dev/stdin", "--model", "Artist"]
    let piped = ["/bin/sh", "-c", "cat | \"$@\"", "sh"]
    let record = "{\"id\":100,\"name\":\"A\",\"founded\":1960}\n"
    place.environment["TMPDIR"] = "/nosuch"
    let lost = try place.runProcess(words, input: record, launching: piped)
    #expect(lost.code == 1)
    #expect(
      lost.err.contains(
        "cannot keep the input in a temporary file in /nosuch: No such file or directory"),
      "\(lost)")
    place.environment["TMPDIR"] = ""
    #expect(try place.runProcess(words, input: record, launching: piped).code == 0)
  }

  @Test func damageInTheStoreIsNotReportedAsRejectedInput() throws {
    let place = try Workplace()
    try place.makeMusic()
    try RawDatabase(place.path("music.store")).execute(
      "UPDATE Track SET title = CAST(x'ff' AS TEXT) WHERE id = 3")
    let albumID = try place.run("get", "Track", "4", "--fields", "albumID").out.dropLast()
    let outcome = try place.run(
      "import", "-", "--model", "Track", "--upsert", "--on-error", "skip",
      input: "{\"id\":3,\"albumID\":\(albumID),\"title\":\"new\",\"seconds\":100}\n")
    #expect(outcome.code == 1 && outcome.err.hasPrefix("error[unreadable]: "), "\(outcome)")
    #expect(outcome.err.contains("  Track 3\n"))
  }
}
