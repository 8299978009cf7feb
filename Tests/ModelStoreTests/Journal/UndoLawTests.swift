import Testing

@testable import ModelStore

/// Whatever a file's history is, taking back its last transactions restores the content before
/// them. Where others changed it since, the reversal is refused for a conflict or for a rule that
/// its result breaks, and for nothing else.
@Suite(.tags(.law)) struct UndoLawTests {
  @Test(arguments: [UInt64](1...6))
  func undoingTheLastTransactionsRestoresTheContent(seed: UInt64) throws {
    let world = try SeatWorld(seed: seed)
    for round in 0..<100 {
      let before = try world.content()
      let start = try world.store.changeJournal.position()
      for _ in 0..<Int.random(in: 1...4, using: &world.random) { try world.step() }
      let ids = try world.store.changeJournal.transactions(after: start)
        .filter { !$0.changes.isEmpty }.compactMap(\.id)
      if Bool.random(using: &world.random) {
        for id in ids.reversed() { #expect(try world.store.undo()?.reverted == id) }
      } else {
        try world.store.revert(after: start)
      }
      #expect(try world.content() == before, "seed \(seed), round \(round)")
    }
  }

  @Test(arguments: [UInt64](11...16))
  func undoIsRefusedOnlyForRecordsThatChangedSince(seed: UInt64) throws {
    let world = try SeatWorld(seed: seed)
    var outcomes: [String: Int] = [:]
    for round in 0..<100 {
      let before = try world.content()
      guard let id = try world.step() else { continue }
      let after = try world.content()
      for _ in 0..<Int.random(in: 0...2, using: &world.random) { try world.step() }
      let now = try world.content()
      let expected = SeatWorld.reversed(now, from: after, to: before)
      let outcome: String
      do {
        try world.store.revert(id)
        outcome = "restored"
      } catch let error as StoreError {
        outcome = "\(error.code)"
      }
      outcomes[outcome, default: 0] += 1
      let recreated = try world.recreated(by: id)
      let comment: Comment = "seed \(seed), round \(round): \(outcome)"
      switch expected {
      case .conflict:
        #expect(outcome == "conflict", comment)
        #expect(try world.content() == now, comment)
      case .content
      where outcome == "conflict"
        && recreated.contains { now[$0] != nil && now[$0] != after[$0] }:
        // A record that was gone for a while must be in all fields as it came back.
        #expect(try world.content() == now, comment)
      case .content(let content) where SeatWorld.isAllowed(content):
        #expect(try outcome == "restored" && world.content() == content, comment)
      case .content:
        #expect(outcome == "rejected", comment)
        #expect(try world.content() == now, comment)
      }
    }
    #expect(Set(outcomes.keys).isSuperset(of: ["restored", "conflict"]), "\(outcomes)")
  }

  @Test func undoRepeatsATemporaryChangeOfAUniqueValue() throws {
    let world = try SeatWorld(seed: 1)
    try world.store.write { tx in
      try tx.execute("DELETE FROM Seat")
      try tx.execute("INSERT INTO Seat (id, code) VALUES (1, 'x'), (2, 'a')")
    }
    let before = try world.content()
    let start = try world.store.changeJournal.position()
    let scripts: [[SQLText]] = [
      [
        "UPDATE Seat SET code = 'tmp' WHERE id = 1", "UPDATE Seat SET code = 'x' WHERE id = 2",
        "UPDATE Seat SET code = 'b' WHERE id = 2", "UPDATE Seat SET code = 'x' WHERE id = 1",
      ],
      [
        "DELETE FROM Seat WHERE id = 1", "UPDATE Seat SET code = 'x' WHERE id = 2",
        "UPDATE Seat SET code = 'b' WHERE id = 2", "INSERT INTO Seat (id, code) VALUES (1, 'x')",
      ],
      [
        "UPDATE Seat SET team = 7 WHERE id = 1", "UPDATE Seat SET team = NULL WHERE id = 1",
        "UPDATE Seat SET team = 7 WHERE id = 2",
      ],
    ]
    for script in scripts {
      try world.store.write { tx in for statement in script { try tx.execute(statement) } }
      #expect(try world.store.undo() != nil)
      #expect(try world.content() == before)
    }
    let separate = try world.store.changeJournal.position()
    for statement in scripts[0] { try world.store.write { tx in try tx.execute(statement) } }
    try world.store.revert(after: separate)
    #expect(try world.content() == before)
    try world.store.revert(after: start)
    #expect(try world.content() == before)
  }

  /// The third record took the value that was free in between, so the way back is closed and the
  /// two can only be exchanged at once.
  @Test func anExchangeIsUndoneAlthoughItsIntermediateValueIsTaken() throws {
    let world = try SeatWorld(seed: 1)
    try world.store.write { tx in
      try tx.execute("DELETE FROM Seat")
      try tx.execute("INSERT INTO Seat (id, code) VALUES (1, 'x'), (2, 'y'), (3, 'z')")
    }
    let id = try world.store.write { tx in
      try tx.execute("UPDATE Seat SET code = 'tmp' WHERE id = 1")
      try tx.execute("UPDATE Seat SET code = 'x' WHERE id = 2")
      try tx.execute("UPDATE Seat SET code = 'y' WHERE id = 1")
      return tx.id
    }
    try world.store.write { tx in try tx.execute("UPDATE Seat SET code = 'tmp' WHERE id = 3") }
    let reversal = try #require(try world.store.revert(id))
    #expect(reversal.changes.changes.map(\.key) == [[.integer(1)], [.integer(2)]])
    #expect(
      try world.content().mapValues { $0[1] } == [1: .text("x"), 2: .text("y"), 3: .text("tmp")])
  }

  /// No value of a cycle is free, and another record holds the value by which they were exchanged.
  @Test("several cycles of values are undone although their intermediate values are taken")
  func severalCyclesAreUndoneAtOnce() throws {
    let world = try SeatWorld(seed: 1)
    try world.store.write { tx in
      try tx.execute("DELETE FROM Seat")
      for id in 1...9 { try tx.execute("INSERT INTO Seat (id, code) VALUES (\(id), 'c' || \(id))") }
    }
    let before = try world.content()
    let id = try world.store.write { tx in
      for cycle in [[1, 2], [3, 4, 5], [6, 7, 8, 9]] {
        try tx.execute("UPDATE Seat SET code = 'tmp' WHERE id = \(cycle[0])")
        for (seat, next) in zip(cycle, cycle.dropFirst()) {
          try tx.execute("UPDATE Seat SET code = 'c' || \(seat) WHERE id = \(next)")
        }
        let last = cycle[cycle.count - 1]
        try tx.execute("UPDATE Seat SET code = 'c' || \(last) WHERE id = \(cycle[0])")
      }
      return tx.id
    }
    try world.store.write { tx in
      try tx.execute("INSERT INTO Seat (id, code) VALUES (10, 'tmp')")
    }
    let reversal = try #require(try world.store.revert(id))
    #expect(reversal.changes.changes.map(\.key).count == 9)
    var content = try world.content()
    #expect(content.removeValue(forKey: 10)?[1] == .text("tmp"))
    #expect(content == before)
  }

  /// To undo the exchange, one of the two records would have to be deleted first, and the records
  /// that refer to it would go with it.
  @Test("a record that others refer to is not deleted to undo a cycle: the reversal is refused")
  func aReferencedRecordIsNotDeletedOnTheWay() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("teams.store")
    let other = try PlainDatabase(path)
    try other.execute(
      """
      CREATE TABLE Team (id INTEGER PRIMARY KEY, code TEXT UNIQUE);
      CREATE TABLE Member (
        id INTEGER PRIMARY KEY, team INTEGER REFERENCES Team(id) ON DELETE CASCADE);
      INSERT INTO Team VALUES (1, 'x'), (2, 'y'), (3, 'z');
      INSERT INTO Member VALUES (1, 1), (2, 2);
      """)
    let store = try Store(at: path)
    try store.adopt()
    try store.changeJournal.enable()
    let id = try store.write { tx in
      try tx.execute("UPDATE Team SET code = 'tmp' WHERE id = 1")
      try tx.execute("UPDATE Team SET code = 'x' WHERE id = 2")
      try tx.execute("UPDATE Team SET code = 'y' WHERE id = 1")
      return tx.id
    }
    try store.write { tx in try tx.execute("UPDATE Team SET code = 'tmp' WHERE id = 3") }
    #expect(failure { try store.revert(id) }?.code == .rejected)
    #expect(
      try other.rows("SELECT code FROM Team ORDER BY id")
        == [[.text("y")], [.text("x")], [.text("tmp")]])
    #expect(
      try other.rows("SELECT id, team FROM Member ORDER BY id")
        == [[.integer(1), .integer(1)], [.integer(2), .integer(2)]])
    // With the value free again, nothing has to be deleted.
    try store.write { tx in try tx.execute("UPDATE Team SET code = 'z' WHERE id = 3") }
    try store.revert(id)
    #expect(
      try other.rows("SELECT code FROM Team ORDER BY id")
        == [[.text("x")], [.text("y")], [.text("z")]])
  }

  @Test func withoutAJournalUndoingIsRefused() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("off.store"), models: Artist.self)
    try store.write { tx in _ = try tx.insert(Artist(id: 1, name: "a")) }
    #expect(failure { try store.undo() }?.code == .journalGap)
    #expect(failure { try store.redo() }?.code == .journalGap)
    #expect(failure { try store.previewUndo(1) }?.code == .journalGap)
    try store.changeJournal.enable()
    #expect(try store.undo() == nil)
    try store.changeJournal.disable()
    #expect(failure { try store.undo() }?.code == .journalGap)
  }
}

/// Seats with two unique fields and at most one seat per team, a full journal, and transactions
/// that pass values on among them.
private final class SeatWorld {
  let directory: TemporaryDirectory
  let store: Store
  var random: SeededGenerator

  init(seed: UInt64) throws {
    directory = try TemporaryDirectory()
    random = SeededGenerator(seed: seed)
    let path = directory.file("seats.store")
    try PlainDatabase(path).execute(
      """
      CREATE TABLE Seat (
        id INTEGER PRIMARY KEY, code TEXT UNIQUE, place INTEGER UNIQUE, team INTEGER, note TEXT
      );
      INSERT INTO Seat VALUES (1, 'a', 1, 1, 'n'), (2, 'b', 2, 2, NULL), (3, 'c', NULL, NULL, '');
      """)
    var configuration = StoreConfiguration()
    configuration.durability = .normal
    store = try Store(at: path, configuration: configuration)
    try store.adopt()
    try store.add(
      Rule(
        "Seat.onePerTeam", of: "Seat", fields: ["team"], .countAtMost(count: 1, per: ["team"])))
    try store.changeJournal.enable()
  }

  func content() throws -> [Int64: [SQLValue]] {
    let schema = try store.schema.model(named: "Seat")
    let records = try store.fetch(StoreQuery<DynamicRecord>(schema))
    return Dictionary(
      uniqueKeysWithValues: records.compactMap { record in
        if case .integer(let id) = record.key[0] { (id, record.values) } else { nil }
      })
  }

  /// One transaction of a few random changes, of which some are refused.
  ///
  /// - Returns: nil when it changed nothing.
  @discardableResult
  func step() throws -> TransactionID? {
    let id = try store.write { tx in
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        do {
          try tx.savepoint { tx in try self.change(tx) }
        } catch let error as StoreError where error.code == .rejected {
          continue
        }
      }
      return tx.id
    }
    return try changes(of: id).isEmpty ? nil : id
  }

  private func changes(of id: TransactionID) throws -> [JournalChange] {
    try store.changeJournal.transactions(matching: JournalFilter(transaction: id))
      .flatMap(\.changes)
  }

  /// The records that a transaction deleted, inserted again ones among them.
  func recreated(by id: TransactionID) throws -> [Int64] {
    try changes(of: id).filter { $0.operation == .delete }.compactMap { change in
      if case .integer(let id) = change.key[0] { id } else { nil }
    }
  }

  private func change(_ tx: borrowing WriteTransaction) throws {
    let ids = [Int64](1...5).shuffled(using: &random)
    let code: SQLValue =
      ["a", "b", "c", "d", "tmp"].randomElement(using: &random).map { .text($0) } ?? .null
    let number = Int64.random(in: 1...4, using: &random)
    switch Int.random(in: 0..<10, using: &random) {
    case 0: try tx.execute("DELETE FROM Seat WHERE id = \(ids[0])")
    case 1: try tx.execute("INSERT INTO Seat VALUES (\(ids[0]), \(code), NULL, NULL, 'new')")
    case 2:
      try tx.execute(
        "INSERT OR REPLACE INTO Seat VALUES (\(ids[0]), \(code), \(number), NULL, 'r')")
    case 3: try tx.execute("UPDATE Seat SET code = \(code) WHERE id = \(ids[0])")
    case 4: try tx.execute("UPDATE Seat SET place = \(number) WHERE id = \(ids[0])")
    case 5: try tx.execute("UPDATE Seat SET team = \(number) WHERE id = \(ids[0])")
    case 6: try tx.execute("UPDATE Seat SET note = 'n' || \(number) WHERE id = \(ids[0])")
    case 7: try rotate(ids.prefix(2), tx)
    case 8: try rotate(ids.prefix(3), tx)
    default: try tx.execute("UPDATE Seat SET team = NULL, place = NULL WHERE id = \(ids[0])")
    }
  }

  /// Passes the codes of seats on in a circle, by way of a code that none has.
  private func rotate(_ ids: ArraySlice<Int64>, _ tx: borrowing WriteTransaction) throws {
    let schema = try store.schema.model(named: "Seat")
    let codes = try ids.map { id in
      try tx.find(schema, key: [.integer(id)])?.values[1] ?? .null
    }
    guard let first = ids.first else { return }
    try tx.execute("UPDATE Seat SET code = 'away' WHERE id = \(first)")
    for (id, code) in zip(ids.dropFirst(), codes) {
      try tx.execute("UPDATE Seat SET code = \(code) WHERE id = \(id)")
    }
    try tx.execute("UPDATE Seat SET code = \(codes[codes.count - 1]) WHERE id = \(first)")
  }

  /// What a reversal has to do.
  enum Expected {
    case conflict
    case content([Int64: [SQLValue]])
  }

  /// `now` without what turned `before` into `after`.
  static func reversed(
    _ now: [Int64: [SQLValue]], from after: [Int64: [SQLValue]], to before: [Int64: [SQLValue]]
  ) -> Expected {
    var content = now
    for id in Set(before.keys).union(after.keys) where before[id] != after[id] {
      switch (before[id], after[id], now[id]) {
      case (let old?, nil, nil): content[id] = old
      case (nil, let new?, let present) where present == new: content[id] = nil
      case (let old?, let new?, var present?):
        for field in old.indices where old[field] != new[field] {
          guard present[field] == new[field] else { return .conflict }
          present[field] = old[field]
        }
        content[id] = present
      default: return .conflict
      }
    }
    return .content(content)
  }

  /// Whether `content` keeps the unique fields and the rule.
  static func isAllowed(_ content: [Int64: [SQLValue]]) -> Bool {
    [1, 2, 3].allSatisfy { field in
      let values = content.values.map { $0[field] }.filter { $0 != .null }
      return Set(values).count == values.count
    }
  }
}
