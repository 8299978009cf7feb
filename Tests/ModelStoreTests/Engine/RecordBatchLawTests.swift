import Testing

@testable import ModelStore

/// Records inserted many at a time compare with records inserted one by one: the stored rows, the
/// errors, the captured changes and the entries of the change journal.
@Suite(.tags(.law)) struct RecordBatchLawTests {
  /// What a transaction did.
  private struct Outcome: Equatable {
    var errors: [String] = []
    var failure: String?
    var changes: [String] = []
    var rows: [[SQLValue]] = []
    var entries: [String] = []
  }

  /// The tables of one round, and the rows that are inserted into T.
  private struct Round {
    var script = ""
    var columns: [String] = []
    var rows: [[SQLValue]] = []
    var defersReferences = false

    init(_ random: inout SeededGenerator) {
      let key =
        [
          "id INTEGER PRIMARY KEY", "id INTEGER PRIMARY KEY AUTOINCREMENT",
          "id TEXT NOT NULL PRIMARY KEY", "id INTEGER NOT NULL UNIQUE", "id REAL PRIMARY KEY",
        ].randomElement(using: &random) ?? ""
      var definitions = [key]
      columns = ["id"]
      let others = [
        ("name", "name TEXT CHECK(length(name) < 6)"), ("name", "name TEXT UNIQUE"),
        ("n", "n INTEGER NOT NULL"), ("n", "n INTEGER DEFAULT 7"), ("r", "r REAL"), ("x", "x"),
        ("p", "p INTEGER REFERENCES P"), ("t", "t INTEGER REFERENCES T"),
        ("u", "u INTEGER UNIQUE ON CONFLICT REPLACE"), ("u", "u NOT NULL ON CONFLICT IGNORE"),
      ]
      for (name, definition) in others.shuffled(using: &random).prefix(
        .random(in: 1...4, using: &random))
      where !columns.contains(name) {
        columns.append(name)
        definitions.append(definition)
      }
      if Int.random(in: 0..<4, using: &random) == 0 { definitions.append("g AS (id || 'g')") }
      let isWithoutRowID = !key.contains("AUTO") && Int.random(in: 0..<4, using: &random) == 0
      if key.contains("UNIQUE"), isWithoutRowID { definitions[0] = "id INTEGER PRIMARY KEY" }
      let fields = definitions.joined(separator: ", ")
      let first = columns.map { column in
        column == "name" ? "'a'" : column == "id" || column == "t" ? "70" : "3"
      }
      script = """
        CREATE TABLE P(id INTEGER PRIMARY KEY);
        INSERT INTO P VALUES (1), (2), (3), (4), (5), (6), (7), (8);
        CREATE TABLE T(\(fields))\(isWithoutRowID ? " WITHOUT ROWID" : "");
        INSERT INTO T(\(columns.joined(separator: ", ")))
        VALUES (\(first.joined(separator: ", ")));
        """
      let action = ["IGNORE", "ABORT, 'no'", "FAIL, 'no'", "ROLLBACK, 'no'"]
      if Int.random(in: 0..<4, using: &random) == 0 {
        let moment = Bool.random(using: &random) ? "BEFORE" : "AFTER"
        script += """
          CREATE TRIGGER check_row \(moment) INSERT ON T WHEN NEW.\(columns[1]) = 5
          BEGIN SELECT RAISE(\(action.randomElement(using: &random) ?? "")); END;
          """
      }
      defersReferences = Bool.random(using: &random)
      if key.contains("INTEGER PRIMARY"), !isWithoutRowID, Bool.random(using: &random) {
        columns.removeFirst()
      }
      let isClean = Bool.random(using: &random)
      rows = (0..<Int.random(in: 100...260, using: &random)).map { index in
        columns.map { column in Self.value(column, index, isClean: isClean, &random) }
      }
    }

    private static func value(
      _ column: String, _ index: Int, isClean: Bool, _ random: inout SeededGenerator
    ) -> SQLValue {
      let odd = isClean ? 1000 : Int.random(in: 0..<60, using: &random)
      switch (column, odd) {
      case (_, 0): return .null
      case (_, 1): return .text("3")
      case (_, 2): return .real(2.5)
      case (_, 3): return .blob([1, 2])
      case ("id", 4): return .integer(70)
      case ("id", _):
        return index % 7 == 0 && isClean
          ? .integer(Int64(2000 - index)) : .integer(Int64(index + 100))
      case ("p", _): return .integer(.random(in: 1...(isClean ? 8 : 9), using: &random))
      case ("t", _): return isClean ? .integer(70) : .integer(Int64(index + 101))
      case ("name", _), ("u", _): return .text("\(index)")
      default: return .integer(.random(in: 0...5, using: &random))
      }
    }
  }

  private func outcome(of round: Round, isBulk: Bool) throws -> (outcome: Outcome, batches: Int) {
    let world = try JournalWorld(round.script)
    let schema = try world.store.schema.model(named: "T")
    var outcome = Outcome()
    var batchCount = 0
    do {
      let changes = try world.store.writeReturningChanges { tx in
        if round.defersReferences { try tx.deferReferenceChecks() }
        var rest = round.rows[...]
        while !rest.isEmpty {
          let some = Array(rest.prefix(RowInsertion.rowCount))
          let first = rest.startIndex
          rest = rest.dropFirst(some.count)
          if isBulk, try insertTogether(some, round, schema, tx) {
            batchCount += 1
            continue
          }
          for (place, row) in some.enumerated() {
            do {
              try tx.insert(
                Dictionary(uniqueKeysWithValues: zip(round.columns, row)), into: schema)
            } catch {
              outcome.errors.append("\(first + place): \(error)")
            }
          }
        }
        if round.defersReferences { try tx.checkReferences() }
      }.changes
      outcome.changes = changes.changes.map { "\($0)" }
    } catch {
      outcome.failure = "\(error)"
    }
    outcome.rows = try world.other.rows("SELECT * FROM T")
    outcome.entries = try world.entries()
    return (outcome, batchCount)
  }

  private func insertTogether(
    _ rows: [[SQLValue]], _ round: Round, _ schema: ModelSchema, _ tx: borrowing WriteTransaction
  ) throws -> Bool {
    let places = try round.columns.map { try #require(schema.fieldIndex(named: $0)) }
    guard
      let insertion = try tx.rowInsertion(
        of: places, into: schema, defersReferences: round.defersReferences),
      rows.count == RowInsertion.rowCount
    else { return false }
    return try tx.insert(rows, by: insertion)
  }

  @Test(arguments: 0..<60)
  func batchesEqualSingleInsertions(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let round = Round(&random)
    let single = try outcome(of: round, isBulk: false).outcome
    let bulk = try outcome(of: round, isBulk: true).outcome
    #expect(bulk.errors == single.errors, "\(round.script)")
    #expect(bulk.failure == single.failure, "\(round.script)")
    #expect(bulk.changes == single.changes, "\(round.script)")
    #expect(bulk.rows == single.rows, "\(round.script)")
    #expect(bulk.entries == single.entries, "\(round.script)")
  }

  @Test func theRoundsHaveBatchesAndRefusals() throws {
    var (batchCount, errorCount) = (0, 0)
    for seed in 0..<UInt64(20) {
      var random = SeededGenerator(seed: seed)
      let (outcome, batches) = try outcome(of: Round(&random), isBulk: true)
      batchCount += batches
      errorCount += outcome.errors.count
    }
    #expect(batchCount > 5)
    #expect(errorCount > 20)
  }
}
