import Testing

@testable import ModelStore

/// What the age limit removes where clocks jump.
@Suite(.tags(.unit)) struct RetentionClockTests {
  /// Minutes before now, of transactions in the order of commits; negative is still to come.
  private typealias Ages = [Int]

  /// How many transactions are kept of those that are as old as `ages`, and the newest one.
  private static func keptCount(
    _ ages: Ages, limit: Int, in world: JournalWorld
  ) throws -> Int {
    let now: Int64 = 2_000_000_000_000_000
    try world.other.execute("DELETE FROM _ms_journal")
    for (index, age) in (ages + [0]).enumerated() {
      try world.other.execute(
        """
        INSERT INTO _ms_journal (position, layout, entry, c0, c1, c2, c3, c4)
        VALUES (
          \(index + 1), 0, 1, \(index + 1), \(1000 + index),
          \(now - Int64(age) * 60_000_000), 'p', 1
        )
        """)
    }
    let retention = JournalRetention(age: .seconds(60 * limit))
    while true {
      let step = try world.store.engine.maintenance.transaction { connection in
        try JournalTrimmer(connection: connection, retention: retention, now: now).step()
      }
      if step.removedCount == 0 { break }
    }
    return try Int(world.other.rows("SELECT count(*) FROM _ms_journal")[0][0].description) ?? -1
  }

  /// All sequences of `count` times out of `choices`.
  private static func sequences(_ count: Int, of choices: [Int]) -> [Ages] {
    (0..<count).reduce([[]]) { found, _ in
      found.flatMap { start in choices.map { start + [$0] } }
    }
  }

  @Test func withCorrectClocksExactlyTheOldTransactionsAreTrimmed() throws {
    let world = try JournalWorld("CREATE TABLE Item (id INTEGER PRIMARY KEY)")
    let choices = [90, 40, 30, 20, 10]
    for ages in Self.sequences(4, of: choices) where ages == ages.sorted(by: >) {
      let kept = try Self.keptCount(ages, limit: 30, in: world)
      #expect(kept == ages.count { $0 < 30 } + 1, "\(ages)")
    }
  }

  /// One transaction with a wrong time, at any place and dated anywhere, keeps at most the last of
  /// the old ones with it and takes no young one along.
  @Test func oneWrongClockAffectsOnlyItsOwnTransaction() throws {
    let world = try JournalWorld("CREATE TABLE Item (id INTEGER PRIMARY KEY)")
    for oldCount in 0...4 {
      let ages = [70, 60, 50, 40].prefix(oldCount) + [20, 15, 10].prefix(7 - oldCount)
      for place in 0...ages.count {
        for wrong in [-30_000_000, -5, 5, 35, 30_000_000] {
          var ages = Array(ages)
          ages.insert(wrong, at: place)
          let kept = try Self.keptCount(ages, limit: 30, in: world)
          let young = ages.enumerated().count { $0.offset != place && $0.element < 30 } + 1
          #expect((young...(young + 2)).contains(kept), "\(ages): \(kept)")
        }
      }
    }
  }

  /// However wrong all times are, the newest transaction stays, a time that is still to come keeps
  /// nothing that is followed by an old one, and only what precedes an old one goes.
  @Test func anySequenceOfTimesKeepsWhatNoOldTransactionFollows() throws {
    let world = try JournalWorld("CREATE TABLE Item (id INTEGER PRIMARY KEY)")
    for ages in Self.sequences(4, of: [-30_000_000, 10, 40, 30_000_000]) {
      let kept = try Self.keptCount(ages, limit: 30, in: world)
      let removed = ages.count + 1 - kept
      #expect(removed == 0 || ages[..<removed].contains { $0 >= 30 }, "\(ages): \(kept)")
      if !ages.contains(10) {
        #expect(removed == (ages.lastIndex { $0 >= 30 } ?? -1) + 1, "\(ages): \(kept)")
      }
    }
  }

  /// More of them than one step reads, and none of the times can be read.
  @Test func aRunOfFutureTimesIsSkipped() throws {
    let world = try JournalWorld("CREATE TABLE Item (id INTEGER PRIMARY KEY)")
    try world.other.execute(
      """
      DELETE FROM _ms_journal;
      WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO _ms_journal (position, layout, entry, c0, c1, c2, c3, c4)
      SELECT i, 0, 1, i, i, iif(i % 2, 9e15, 'then'), 'p', 1 FROM n;
      INSERT INTO _ms_journal (position, layout, entry, c0, c1, c2, c3, c4)
      VALUES (3001, 0, 1, 3001, 1, 5, 'p', 1), (3002, 0, 1, 3002, 1, 7, 'p', 1);
      """)
    let trimming = try world.store.changeJournal.trim(JournalRetention(age: .seconds(3600)))
    #expect(trimming.removedCount == 3001)
  }
}
