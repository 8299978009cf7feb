import Foundation
import ModelStore
import Testing

@testable import StoreCommand

/// An import that writes many records with one statement compares with one that writes each alone,
/// because each is a transaction of its own.
@Suite(.tags(.process)) struct ImportBatchTests {
  private static let tables = """
    CREATE TABLE Song(
      id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE CHECK(length(title) < 9), length INTEGER,
      rating REAL, isLiked BOOLEAN DEFAULT 1, code TEXT, year INTEGER NOT NULL DEFAULT 1990);
    """

  /// What an import leaves: the records, the rejected lines, and what it says about them.
  private struct Result: Equatable {
    var records: String
    var rejects: String
    var reasons: [String]
    var journal: [String]
  }

  private func result(
    of text: String, named name: String, _ tables: String, _ arguments: [String]
  ) throws -> Result {
    let place = try Workplace()
    try RawDatabase(place.path("songs.db")).execute("PRAGMA journal_mode = WAL;" + tables)
    let database = ["-d", place.path("songs.db")]
    #expect(try place.run(["adopt", "Song"] + database).code == 0)
    #expect(try place.run(["journal", "on"] + database).code == 0)
    try place.write(text, to: name)
    let outcome = try place.run(
      ["import", name, "--on-error", "collect", "--rejects", "rejects"] + arguments + database)
    let lines = outcome.err.split(separator: "\n").map(String.init)
    let store = try Store(at: place.path("songs.db"))
    let changes = try store.read { tx in
      try tx.rows("SELECT layout, entry, c0, c1, c2, c3, c4, c5, c6 FROM _ms_journal")
        .filter { $0.values[0] != .integer(0) }.map { "\($0.values)" }
    }
    store.close()
    return Result(
      records: try place.run(["query", "Song", "--all", "-o", "ndjson"] + database).out,
      rejects: FileManager.default.fileExists(atPath: place.path("rejects"))
        ? try place.contents(of: "rejects") : "",
      reasons: lines.filter { $0.hasPrefix("  ") }, journal: changes)
  }

  private func csv(_ random: inout SeededGenerator, rejectsSome: Bool) -> String {
    var lines = ["id,title,length,rating,isLiked,code,year"]
    for index in 0..<300 {
      let odd = rejectsSome ? Int.random(in: 0..<120, using: &random) : 100
      let id = odd == 0 ? "7" : odd == 1 ? "x" : "\(index)"
      let title = odd == 2 ? "much too long" : odd == 3 ? "t7" : "t\(index)"
      let year = odd == 4 ? "" : Int.random(in: 0..<90, using: &random) == 0 ? "" : "2001"
      let line = [
        id, title, index % 5 == 0 ? "" : "\(index * 7)", odd == 5 ? "high" : "\(Double(index) / 4)",
        index % 2 == 0 ? "true" : "no", odd == 6 ? "\"a \"\"b\"\", c\"" : "c", year,
      ]
      lines.append(line.joined(separator: ",") + (odd == 7 ? ",more" : ""))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  @Test(arguments: 0..<8)
  func everyRecordIsWrittenAsAlone(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let text = csv(&random, rejectsSome: seed % 2 == 0)
    let together = try result(of: text, named: "Song.csv", Self.tables, [])
    let alone = try result(of: text, named: "Song.csv", Self.tables, ["--batch", "1"])
    #expect(together == alone)
    #expect(together.journal.count > 200 && together.records.count > 5_000)
  }

  @Test func aTableThatKeepsPartsOfARefusedStatementIsWrittenAlone() throws {
    var random = SeededGenerator(seed: 1)
    let text = csv(&random, rejectsSome: true)
    func tables(_ clause: String) -> String {
      Self.tables.replacingOccurrences(of: "UNIQUE", with: "UNIQUE \(clause)")
    }
    for clause in ["ON CONFLICT REPLACE", "ON CONFLICT FAIL"] {
      let together = try result(of: text, named: "Song.csv", tables(clause), [])
      let alone = try result(of: text, named: "Song.csv", tables(clause), ["--batch", "1"])
      #expect(together == alone, "\(clause)")
    }
    // A record that SQLite leaves out without an error ends an import, and one of many records
    // writes nothing then.
    let ignoring = try result(of: text, named: "Song.csv", tables("ON CONFLICT IGNORE"), [])
    #expect(ignoring.records == "" && ignoring.journal == [], "\(ignoring)")
    #expect(ignoring.reasons == ["  nothing was written"])
  }

  @Test func recordsWithOtherMembersFollowInTheirOrder() throws {
    var lines: [String] = []
    for index in 0..<400 {
      let year = index % 130 == 7 ? "" : ",\"year\":\(index)"
      let rest = index % 150 == 3 ? "\"code\":\"z\",\"length\":1" : "\"length\":1,\"code\":\"z\""
      lines.append("{\"title\":\"t\(index)\",\(rest)\(year)}")
    }
    let text = lines.joined(separator: "\n")
    let together = try result(of: text, named: "Song.ndjson", Self.tables, [])
    let alone = try result(of: text, named: "Song.ndjson", Self.tables, ["--batch", "1"])
    #expect(together == alone)
    #expect(together.journal.count == 400)
  }

  /// The other tests would also pass if every record were written alone.
  @Test func sixtyFourRecordsWithTheSameFieldsAreWrittenWithOneStatement() throws {
    let place = try Workplace()
    try RawDatabase(place.path("songs.db")).execute("PRAGMA journal_mode = WAL;" + Self.tables)
    #expect(try place.run(["adopt", "Song", "-d", place.path("songs.db")]).code == 0)
    let store = try Store(at: place.path("songs.db"))
    defer { store.close() }
    let schema = try store.schema.model(named: "Song")
    func fields(_ names: [String]) throws -> InputFields {
      InputFields(
        names: names, places: try names.map { try #require(schema.fieldIndex(named: $0)) })
    }
    func gathered(_ fields: InputFields, _ titles: [String]) -> GatheredRecords {
      var gathered = GatheredRecords()
      for title in titles {
        let row: [SQLValue] = [.text(title), .integer(1)]
        gathered.add(
          Importing.Item(
            content: .failure(CancellationError()), source: 0, line: 1, bytes: []),
          InputRecord(fields: fields, row: row))
      }
      return gathered
    }
    let names = try fields(["title", "length"])
    var areWritten: [Bool] = []
    try store.write { tx in
      for (ids, title) in [(0..<64, "a"), (100..<164, "a"), (200..<264, "too long "), (0..<9, "b")]
      {
        var records = gathered(names, ids.map { "\(title)\($0)" })
        areWritten.append(try records.write(into: schema, defersReferences: false, tx))
      }
    }
    #expect(areWritten == [true, true, false, false])
  }
}
