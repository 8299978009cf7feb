import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

@Suite(.tags(.process)) struct ImportExportTests {
  @Test(arguments: ["csv", "ndjson", "json"])
  func exportedRecordsCanBeImportedAgain(format: String) throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(try place.run("export", "Track", "--to", "tracks.\(format)").code == 0)
    try place.run("delete", "Track", "--where", "id > 0", "--yes", "-q")
    let imported = try place.run("import", "tracks.\(format)", "--model", "Track")
    #expect(imported.code == 0)
    #expect(imported.err.hasPrefix("1 201 read  1 201 inserted  0 rejected  in "))
    #expect(imported.err.hasSuffix(", 1 transaction\n"))
    let first = try place.contents(of: "tracks.\(format)")
    try place.run("export", "Track", "--to", "again.\(format)")
    #expect(try place.contents(of: "again.\(format)") == first)
  }

  @Test func aBadRecordStopsAndLeavesNothing() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write("id,name,founded\n100,A,1960\n101,B,soon\n", to: "bad.csv")
    #expect(
      try place.run("import", "bad.csv", "--model", "Artist")
        == Outcome(
          code: 4, out: "",
          err: """
            error[invalidValue]: bad.csv: line 3: founded takes a whole number within 64 bits; \
            got “soon”.
              nothing was written
            hint: storecli models Artist

            """))
    #expect(try place.run("query", "Artist", "id >= 100", "--count").out == "0\n")
  }

  @Test func rejectedRecordsAreCollectedWithTheirReasons() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write(
      "id,name,founded\n100,A,1960\n101,\"B, \"\"b\"\"\",soon\n102,,1970\n103,C\n1,D,1980\n104,E,1990\n",
      to: "mixed.csv")
    let outcome = try place.run("import", "mixed.csv", "--model", "Artist", "--on-error", "collect")
    #expect(outcome.code == 4)
    #expect(outcome.err.hasPrefix("6 read  2 inserted  4 rejected  in "))
    #expect(
      outcome.err.split(separator: "\n").dropFirst() == [
        "  line 3: founded takes a whole number within 64 bits; got “soon”.",
        "  line 4: name must have a value", "  line 5: expected 3 columns, got 2",
        "  line 6: id must be unique; another Artist has the same value",
        "rejects: mixed.rejects.csv",
      ])
    #expect(
      try place.contents(of: "mixed.rejects.csv") == """
        $line,$reason,id,name,founded
        3,founded takes a whole number within 64 bits; got “soon”.,101,"B, ""b\""",soon
        4,name must have a value,102,,1970
        5,"line 5: expected 3 columns, got 2",103,C
        6,id must be unique; another Artist has the same value,1,D,1980

        """)
    #expect(try place.run("query", "Artist", "id >= 100", "--fields", "id").out == "100\n104\n")
  }

  @Test func rejectedLinesOfJSONAreJSONAndCanBeRepaired() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write(
      "{\"id\":100,\"name\":\"A\",\"founded\":1970}\nbad \"b\"\n[1]\n", to: "lines.ndjson")
    let outcome = try place.run(
      "import", "lines.ndjson", "--model", "Artist", "--on-error", "collect")
    #expect(outcome.code == 4)
    let rejects = try place.contents(of: "lines.rejects.ndjson")
    let records = try rejects.split(separator: "\n").map { line in
      try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    }
    #expect(records.map { $0?["$line"] as? Int } == [2, 3])
    #expect(records[0]?["$record"] as? String == "bad \"b\"")
    #expect(records[1]?["$record"] as? [Int] == [1])
    let refused = try place.run("import", "lines.rejects.ndjson", "--model", "Artist")
    #expect(refused.code == 4 && refused.err.contains("A record must be a JSON object."))
    try place.write(
      "{\"$line\":2,\"$reason\":\"x\",\"$record\":{\"id\":101,\"name\":\"B\",\"founded\":1971}}\n",
      to: "repaired.ndjson")
    #expect(try place.run("import", "repaired.ndjson", "--model", "Artist").code == 0)
    #expect(try place.run("get", "Artist", "101", "--fields", "name").out == "B\n")
  }

  @Test func namesAreMappedOrSkippedOnlyWhenRequested() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write(
      "{\"id\":100,\"title\":\"A\",\"founded\":1960,\"x\":1}\n", to: "other.ndjson")
    let refused = try place.run("import", "other.ndjson", "--model", "Artist")
    #expect(
      refused
        == Outcome(
          code: 4, out: "",
          err: """
            error[unknownField]: other.ndjson: line 1: The input names title, but Artist has \
            no such field.
              nothing was written
            hint: add --map title=FIELD or --ignore-extra

            """))
    #expect(
      try place.run(
        "import", "other.ndjson", "--model", "Artist", "--map", "title=name", "--ignore-extra"
      ).code == 0)
    #expect(try place.run("get", "Artist", "100").out == "100\tA\t1960\n")
  }

  @Test func anUpsertDistinguishesInsertedFromUpdatedRecords() throws {
    let place = try Workplace()
    try place.makeMusic()
    let outcome = try place.run(
      "import", "-", "--model", "Artist", "--upsert",
      input: "id,name,founded\n1,A,1996\n200,B,1970\n201,C,1970\n")
    #expect(outcome.err.hasPrefix("3 read  2 inserted  1 updated  0 unchanged  0 rejected  in "))
    #expect(try place.run("get", "Artist", "1").out == "1\tA\t1996\n")
  }

  @Test func aDryRunWritesNothing() throws {
    let place = try Workplace()
    try place.makeMusic()
    let outcome = try place.run(
      "import", "-", "--model", "Artist", "-n", input: "name,founded\nA,1996\n")
    #expect(outcome.code == 0)
    #expect(outcome.err.hasSuffix("dry run: nothing was written\n"))
    #expect(try place.run("query", "Artist", "--count").out == "40\n")
  }

  @Test(.timeLimit(.minutes(30)))
  func controlCStopsAfterABatchAndReportsWhatIsWritten() throws {
    let place = try Workplace()
    try place.makeMusic()
    let process = try place.process(["import", "-", "--model", "Artist", "--batch", "1000"])
    let input = Pipe()
    let errors = Pipe()
    process.standardInput = input
    process.standardError = errors
    try process.run()
    let lines = (1000..<3500).map { "{\"id\":\($0),\"name\":\"n\",\"founded\":1990}\n" }
    try input.fileHandleForWriting.write(contentsOf: Data(lines.joined().utf8))
    let raw = try RawDatabase(place.path("music.store"))
    while process.isRunning, try raw.value("SELECT count(*) FROM Artist") != "2040" {
      sched_yield()
    }
    kill(process.processIdentifier, SIGINT)
    // A program that missed the signal meets the end of its input instead of waiting for ever.
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    let said = String(
      decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    #expect(
      Outcome(code: process.terminationStatus, out: "", err: said.withoutResumption)
        == Outcome(
          code: 130, out: "",
          err: "error[interrupted]: Interrupted; 2 000 records of 2 earlier batches stay written.\n"
        ))
    #expect(try raw.value("SELECT count(*) FROM Artist") == "2040")
    #expect(try raw.value("PRAGMA integrity_check") == "ok")
  }

  /// Earlier batches of an import went to a file that has lost its name: they are not "written".
  @Test(.timeLimit(.minutes(30)))
  func anImportIntoAReplacedFileSaysThatItsBatchesAreLost() throws {
    let place = try Workplace()
    try place.makeMusic()
    let path = place.path("music.store")
    try FileManager.default.copyItem(atPath: path, toPath: place.path("restored.store"))
    let process = try place.process(["import", "-", "--model", "Artist", "--batch", "1000"])
    let input = Pipe()
    let errors = Pipe()
    process.standardInput = input
    process.standardError = errors
    try process.run()
    func lines(_ ids: Range<Int>) -> Data {
      Data(ids.map { "{\"id\":\($0),\"name\":\"n\",\"founded\":1990}\n" }.joined().utf8)
    }
    try input.fileHandleForWriting.write(contentsOf: lines(1000..<2500))
    let raw = try RawDatabase(path)
    while process.isRunning, try raw.value("SELECT count(*) FROM Artist") != "1040" {
      sched_yield()
    }
    try #require(rename(place.path("restored.store"), path) == 0)
    try input.fileHandleForWriting.write(contentsOf: lines(2500..<3500))
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    let said = String(
      decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    #expect(process.terminationStatus == 1)
    #expect(
      said.withoutResumption.hasPrefix("error[fileReplaced]: \(path) was replaced"), "\(said)")
    #expect(
      said.contains(
        "  1 000 records of 1 earlier batch went to the earlier file, not to the present one\n"
      ), "\(said)")
    #expect(!said.contains("stay written"))
  }

  @Test func anExportToAClosedPipeEndsQuietly() throws {
    let place = try Workplace()
    try place.makeMusic()
    let process = try place.process(["export", "Track"])
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = output
    process.standardError = errors
    try output.fileHandleForReading.close()
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal)
    #expect(process.terminationStatus == SIGPIPE)
    #expect(try errors.fileHandleForReading.readToEnd() ?? Data() == Data())
  }
}
