import Foundation
import ModelStore
import Testing

/// What an import does with records that the store has already, and with those that it has not.
@Suite(.tags(.process)) struct ImportModeTests {
  private static let tables = """
    CREATE TABLE Maker(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE Item(
      id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, name TEXT NOT NULL CHECK(length(name) < 9),
      maker INTEGER REFERENCES Maker(id) ON DELETE CASCADE);
    CREATE TABLE Part(id INTEGER PRIMARY KEY, item INTEGER REFERENCES Item(id) ON DELETE CASCADE);
    INSERT INTO Maker VALUES (1, 'one');
    INSERT INTO Item VALUES (1, 'a', 'first', 1), (2, 'b', 'second', NULL), (3, 'c', 'third', NULL);
    INSERT INTO Part VALUES (10, 1), (20, 2), (21, 2), (30, 3);
    """

  private func shop() throws -> Workplace {
    let place = try Workplace()
    try RawDatabase(place.path("shop.db")).execute("PRAGMA journal_mode = WAL;" + Self.tables)
    place.environment["STORECLI_DB"] = place.path("shop.db")
    for words in [["adopt", "-q"], ["journal", "on", "-q"]] {
      let outcome = try place.run(words)
      try #require(outcome.code == 0, "\(outcome)")
    }
    return place
  }

  /// The counts of an import, without the time that it took.
  private func counts(_ outcome: Outcome) -> String {
    let line = outcome.err.split(separator: "\n").first ?? ""
    return line.components(separatedBy: "  in ")[0]
  }

  private func items(_ place: Workplace) throws -> String {
    try place.run("query", "Item", "--all", "--fields", "id,code,name").out
  }

  /// How many changes of records the journal has.
  private func changeCount(_ place: Workplace) throws -> String {
    try RawDatabase(place.path("shop.db")).value(
      "SELECT count(*) FROM _ms_journal WHERE layout <> 0")
  }

  private static let input = "id,code,name\n2,b,second\n3,c,3rd\n4,d,fourth\n"

  @Test func eachModeCountsWhatItDoes() throws {
    let cases = [
      ("--upsert", "3 read  1 inserted  1 updated  1 unchanged  0 rejected", "2"),
      ("--update-only", "3 read  1 updated  1 unchanged  1 skipped  0 rejected", "1"),
      ("--skip-existing", "3 read  1 inserted  2 skipped  0 rejected", "1"),
      (
        "--replace", "3 read  1 inserted  1 updated  1 unchanged  1 deleted  0 rejected", "4"
      ),
    ]
    for (mode, expected, changes) in cases {
      let place = try shop()
      let before = try changeCount(place)
      let outcome = try place.run(
        "import", "-", "--model", "Item", mode, "--yes", input: Self.input)
      #expect(outcome.code == 0, "\(mode) \(outcome)")
      #expect(counts(outcome) == expected)
      // Unchanged and skipped records leave no trace; a deletion takes a part with it.
      let after = try changeCount(place)
      #expect(
        Int(after).flatMap { after in Int(before).map { String(after - $0) } } == changes, "\(mode)"
      )
      #expect(try RawDatabase(place.path("shop.db")).value("PRAGMA integrity_check") == "ok")
    }
  }

  @Test func insertRefusesARecordThatExists() throws {
    let place = try shop()
    let outcome = try place.run("import", "-", "--model", "Item", "--insert", input: Self.input)
    #expect(outcome.code == 4)
    #expect(try items(place) == "1\ta\tfirst\n2\tb\tsecond\n3\tc\tthird\n")
  }

  @Test func replaceMakesTheModelEqualToTheInput() throws {
    let place = try shop()
    let outcome = try place.run(
      "import", "-", "--model", "Item", "--replace", "--yes", input: Self.input)
    #expect(try items(place) == "2\tb\tsecond\n3\tc\t3rd\n4\td\tfourth\n")
    #expect(outcome.err.contains("\n  deleted with them: 1 Part record\n"), "\(outcome)")
    #expect(try place.run("query", "Part", "--fields", "id").out == "20\n21\n30\n")
    // Again, nothing changes.
    let before = try changeCount(place)
    let again = try place.run(
      "import", "-", "--model", "Item", "--replace", "--yes", input: Self.input)
    #expect(
      counts(again) == "3 read  0 inserted  0 updated  3 unchanged  0 deleted  0 rejected")
    #expect(try changeCount(place) == before)
  }

  @Test func replaceWithAnEmptyInputDeletesEverything() throws {
    let place = try shop()
    let outcome = try place.run(
      "import", "-", "--model", "Item", "--replace", "--yes", input: "id,code,name\n")
    #expect(
      counts(outcome) == "0 read  0 inserted  0 updated  0 unchanged  3 deleted  0 rejected")
    #expect(try items(place) == "")
  }

  @Test func replaceLeavesEverythingWhereARecordIsRefused() throws {
    let place = try shop()
    let outcome = try place.run(
      "import", "-", "--model", "Item", "--replace", "--yes",
      input: "id,code,name\n2,b,much too long\n")
    #expect(outcome.code == 4, "\(outcome)")
    #expect(try items(place) == "1\ta\tfirst\n2\tb\tsecond\n3\tc\tthird\n")
  }

  /// SQLite deletes what refers to a deleted record, also if the input has it.
  @Test func replaceRefusesToLoseRecordsOfTheInput() throws {
    let place = try shop()
    try place.write("id,name\n2,two\n", to: "Maker.csv")
    try place.write("id,code,name,maker\n1,a,first,1\n", to: "Item.csv")
    let outcome = try place.run("import", "Maker.csv", "Item.csv", "--replace", "--yes")
    #expect(outcome.code == 4, "\(outcome)")
    #expect(
      outcome.err.hasPrefix(
        "error[rejected]: 1 Item record of the input would be deleted with records that it does "
          + "not have, because they refer to them.\n"), "\(outcome)")
    #expect(try items(place) == "1\ta\tfirst\n2\tb\tsecond\n3\tc\tthird\n")
  }

  @Test func replaceAsksOrNeedsAFlag() throws {
    let place = try shop()
    let outcome = try place.run("import", "-", "--model", "Item", "--replace", input: Self.input)
    #expect(outcome.code == 64)
    #expect(outcome.err.contains("so it cannot ask: add --yes, or -n"), "\(outcome)")
    #expect(try items(place).hasPrefix("1\ta\t"))
    let dry = try place.run(
      "import", "-", "--model", "Item", "--replace", "-n", input: Self.input)
    #expect(
      counts(dry) == "3 read  1 inserted  1 updated  1 unchanged  1 deleted  0 rejected", "\(dry)")
    #expect(try items(place).hasPrefix("1\ta\t"))

    try place.write(Self.input, to: "Item.csv")
    let environment = place.environment.merging([
      "HOME": place.directory, "PATH": "/usr/bin:/bin", "NO_COLOR": "1", "TMPDIR": place.directory,
    ]) { mine, _ in mine }
    let seen = try PseudoTerminal.run(
      "'\(Workplace.program)' import Item.csv --replace", in: place.directory,
      environment: environment, typing: "n\n")
    #expect(
      seen.split(whereSeparator: \.isNewline) == [
        "3 read  1 inserted  1 updated  1 unchanged  1 deleted  0 rejected",
        "  deleted with them: 1 Part record", "Delete 1 record of Item? [y/N]",
        "nothing was changed",
      ], "\(seen)")
    #expect(try items(place).hasPrefix("1\ta\t"))
  }

  @Test func aUniqueSetCanIdentifyRecords() throws {
    let place = try shop()
    let outcome = try place.run(
      "import", "-", "--model", "Item", "--upsert", "--key", "code",
      input: "code,name\nb,B\nz,Z\n")
    #expect(counts(outcome) == "2 read  1 inserted  1 updated  0 unchanged  0 rejected")
    #expect(try items(place) == "1\ta\tfirst\n2\tb\tB\n3\tc\tthird\n4\tz\tZ\n")
    let missing = try place.run(
      "import", "-", "--model", "Item", "--upsert", "--key", "code", input: "name\nB\n")
    #expect(missing.code == 4)
    #expect(
      missing.err.contains("line 2: code has no value, so no Item can be found by it."),
      "\(missing)")
    let unknown = try place.run(
      "import", "-", "--model", "Item", "--upsert", "--key", "name", input: "name\nB\n")
    #expect(unknown.code == 64)
    #expect(unknown.err.contains("These fields are unique: id; code."), "\(unknown)")
  }

  @Test func modesThatDoNotGoTogetherAreRefused() throws {
    let place = try shop()
    for words in [
      ["--upsert", "--replace"], ["--key", "code"], ["--replace", "--batch", "2", "--yes"],
      ["--replace", "--on-error", "skip", "--yes"], ["--resume", "x"], ["--sample", "2"],
      ["--new-model", "N", "--upsert"],
    ] {
      let outcome = try place.run(["import", "-", "--model", "Item"] + words, input: Self.input)
      #expect(outcome.code == 64, "\(words) \(outcome)")
    }
  }

  /// A mirror of random records: afterwards the store has what the input has, whatever it had.
  @Test(arguments: 0..<6)
  func anyModelBecomesEqualToAnyInput(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func lines() -> [String] {
      var ids = Array(1...200).filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
      ids.shuffle(using: &random)
      return ids.map { "\($0),c\($0),\(["x", "y"].randomElement(using: &random) ?? "")" }
    }
    let place = try shop()
    for _ in 0..<3 {
      let wanted = lines()
      let outcome = try place.run(
        "import", "-", "--model", "Item", "--replace", "--yes",
        input: (["id,code,name"] + wanted).joined(separator: "\n"))
      #expect(outcome.code == 0, "\(outcome)")
      let found = try place.run("query", "Item", "--all", "--fields", "id,code,name").out
      #expect(
        found.split(separator: "\n").map { String($0.replacing("\t", with: ",")) }.sorted()
          == wanted.sorted())
    }
  }
}
