import Testing

@testable import ModelStore

/// A transaction reads only the rows that may concern an observer. What observers receive does not
/// depend on it.
@Suite(.tags(.law)) struct UnobservedRowsTests {
  private final class Witness: ChangeBroker.Observer {
    let interests: [ChangeBroker.Interest]
    let told = Recorder<[RecordChange]>()

    init(_ interest: ChangeBroker.Interest) { interests = [interest] }

    func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
      told.add(commit.isReset ? [] : commit.changes)
      return []
    }

    func deliver(upTo version: UInt64) {}
  }

  /// A store with observers of its tables.
  private final class World {
    let store: Store
    var witnesses: [Witness] = []
    private var others: SeededGenerator

    /// The last column of `tag` is one that old rows do not store.
    private static let setup =
      LiveQueryTests.setup
        + """
        CREATE TABLE tag(name TEXT PRIMARY KEY, v);
        INSERT INTO tag VALUES ('a', 1), ('b', 2), ('c', NULL);
        ALTER TABLE tag ADD COLUMN d INTEGER DEFAULT 5;
        """

    init(seed: UInt64) throws {
      // In memory, no file is watched, so only the transactions run statements.
      store = try Store.inMemory(
        migrations: [Migration(version: 1, name: "tables", sql: Self.setup, onFreshFiles: .run)])
      try store.adopt(["g", "item", "tag"])
      others = SeededGenerator(seed: seed)
    }

    func observe(_ interest: ChangeBroker.Interest) {
      let witness = Witness(interest)
      witnesses.append(witness)
      _ = store.engine.broker.enter(witness)
    }

    func commit(_ random: inout RandomTransaction) throws {
      do {
        try store.write { tx in
          try writeTags(in: tx)
          try random.run(in: tx)
          try writeTags(in: tx)
        }
      } catch is LiveQueryTests.GivenUp {}
    }

    private func writeTags(in tx: borrowing WriteTransaction) throws {
      for _ in 0..<Int.random(in: 0...3, using: &others) {
        let names = ["a", "b", "c", "d"].map { SQLValue.text($0) }
        let name = names.randomElement(using: &others) ?? .null
        let other = names.randomElement(using: &others) ?? .null
        let numbers: [SQLValue] = [.null, .integer(1), .real(2), .integer(5), .integer(6)]
        let number = numbers.randomElement(using: &others) ?? .null
        let text: SQLText =
          switch Int.random(in: 0..<6, using: &others) {
          case 0: "INSERT OR REPLACE INTO tag (name, v) VALUES (\(name), \(number))"
          case 1: "UPDATE tag SET v = \(number) WHERE name = \(name)"
          case 2: "UPDATE tag SET d = \(number) WHERE name = \(name)"
          case 3: "DELETE FROM tag WHERE name = \(name)"
          case 4: "UPDATE OR REPLACE tag SET name = \(other) WHERE name = \(name)"
          default: "UPDATE tag SET v = v"
          }
        try tx.execute(text)
      }
    }

    func statementCount() throws -> Int {
      try store.engine.connections.writer.sync { $0.connection.statementCount }
    }
  }

  private static func interests(
    _ store: Store, _ random: inout SeededGenerator
  ) throws -> [ChangeBroker.Interest] {
    let (item, tag, g) = (
      try store.schema.model(named: "item"), try store.schema.model(named: "tag"),
      try store.schema.model(named: "g")
    )
    var interests: [ChangeBroker.Interest] = []
    for model in [item, tag, g] {
      // Has every field read, but concerns no record.
      interests.append(.init(model: model.name, records: .one([.integer(9999)], of: model)))
    }
    func fields(_ count: Int) -> Set<Int>? {
      [nil, [1], [count - 1], [1, 2]].filter { $0?.allSatisfy { $0 < count } ?? true }
        .randomElement(using: &random) ?? nil
    }
    for _ in 0..<3 {
      let id = Int64.random(in: 1...40, using: &random)
      interests.append(
        .init(model: "item", records: .one([.integer(id)], of: item), fields: fields(5)))
      interests.append(
        .init(
          model: "item", records: .having(field: 3, value: .integer(id % 4)), fields: fields(5)))
      let condition = Condition.between(
        .field(1), lower: .value(.integer(id % 3 - 1)), upper: .value(.integer(id % 8)))
      let range = try #require(ValueRange(condition, schema: item))
      interests.append(.init(model: "item", records: .within(range), fields: fields(5)))
    }
    interests.append(.init(model: "tag", records: .one([.text("b")], of: tag), fields: fields(3)))
    interests.append(
      .init(model: "tag", records: .having(field: 2, value: .integer(5)), fields: fields(3)))
    interests.append(
      .init(model: "tag", records: .having(field: 1, value: .integer(2)), fields: fields(3)))
    interests.append(.init(model: "g", records: .one([.integer(2)], of: g), fields: fields(2)))
    return interests
  }

  @Test(
    "Rows are left out only if no observer is concerned", arguments: 1...6 as ClosedRange<UInt64>)
  func rowsAreLeftOutOnlyIfNobodyIsConcerned(seed: UInt64) throws {
    let (sparing, complete) = (try World(seed: seed), try World(seed: seed))
    var generator = SeededGenerator(seed: seed)
    for interest in try Self.interests(sparing.store, &generator) {
      sparing.observe(interest)
      complete.observe(interest)
    }
    // With observers of every record, every row is read.
    for model in ["item", "tag", "g"] { complete.observe(.init(model: model)) }
    var (random, same) = (RandomTransaction(seed: seed), RandomTransaction(seed: seed))
    for number in 0..<400 {
      try sparing.commit(&random)
      try complete.commit(&same)
      for (witness, other) in zip(sparing.witnesses, complete.witnesses) {
        let (told, expected) = (witness.told.taken(), other.told.taken())
        guard told != expected else { continue }
        Issue.record("seed \(seed), transaction \(number): \(told) instead of \(expected)")
        return
      }
    }
    #expect(try sparing.statementCount() < complete.statementCount())
  }

  /// All observers of the model are found by the rowid, and two of them by the same one.
  @Test func eachObserverOfARecordIsConcernedByItsFieldAlone() throws {
    let world = try World(seed: 1)
    let item = try world.store.schema.model(named: "item")
    let told = Recorder<String>()
    // The last one needs to know `t`, but a change of `t` alone does not concern it.
    let observed: [(fields: Set<Int>, counted: Int, id: Int64)] = [
      ([1], 1, 5), ([2], 2, 5), ([2], 2, 6), ([1, 2], 1, 10),
    ]
    let observers = observed.map { fields, counted, id in
      let observer = RecordObserver(
        ObservedFields(item, fields: fields, counted: [counted]), of: [.integer(id)],
        coalescing: .latest)
      observer.whenReady { part in
        let changes = part.commit.changes.map { "\($0.operation) \($0.fields.map(\.name))" }
        told.add("\(item.fields[counted].name) of \(id): \(changes.joined(separator: ", "))")
      }
      world.store.engine.broker.enter(observer)
      return observer
    }
    func write(_ statements: String...) throws -> [String] {
      try world.store.write { tx in for text in statements { try tx.execute(SQLText(sql: text)) } }
      world.store.waitForDelivery()
      return told.taken()
    }
    #expect(
      try write("INSERT INTO item (id, a, t) VALUES (5, 1, 'x'), (6, 1, 'x'), (7, 1, 'x')") == [
        "a of 5: insert []", "t of 5: insert []", "t of 6: insert []",
      ])
    #expect(
      try write("UPDATE item SET a = 2", "UPDATE item SET u = id")
        == [#"a of 5: update ["a"]"#])
    #expect(
      try write("UPDATE item SET t = 'y'")
        == [#"t of 5: update ["t"]"#, #"t of 6: update ["t"]"#])
    #expect(
      try write("UPDATE item SET id = 8 WHERE id = 5", "UPDATE item SET id = 5 WHERE id = 7")
        == [])
    #expect(
      try write("DELETE FROM item WHERE id = 5") == ["a of 5: delete []", "t of 5: delete []"])
    #expect(try write("UPDATE item SET id = 9 WHERE id = 6") == ["t of 6: delete []"])
    #expect(try write("UPDATE item SET id = 6 WHERE id = 9") == ["t of 6: insert []"])
    #expect(
      try write("INSERT INTO item (id, a, t) VALUES (10, 1, 'x')") == ["a of 10: insert []"])
    #expect(try write("UPDATE item SET t = 'z'") == [#"t of 6: update ["t"]"#])
    #expect(try write("UPDATE item SET a = 3 WHERE id = 10") == [#"a of 10: update ["a"]"#])
    withExtendedLifetime(observers) {}
  }
}
