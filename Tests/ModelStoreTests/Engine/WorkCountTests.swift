import CFaultVFS
import Testing

@testable import ModelStore

/// What the operations of the benchmark report cost in counts, row by row, so that a loss of speed
/// fails without a clock. `CatalogCostTests` counts W13, W17, W19 and W20. W6 and W14 need other
/// processes or programs, so only the benchmark program measures them.
///
/// Statements, compiled statements, scans and rows are exact. Steps differ by a few between
/// versions of SQLite, and allocations between compilers and with optimization, so their limits
/// leave room. When an operation becomes cheaper, lower its limit. W1 to W12 are the benchmark's
/// names of the rows.
@Suite(.tags(.unit)) struct WorkCountTests {
  private static let recordCount = 1_000

  /// A store with a thousand tracks.
  private static func filled(
    journal: JournalDetail? = nil, count: Int = recordCount
  ) throws -> CountedStore {
    let counted = try CountedStore(
      models: [CountedTrack.self, CountedMix.self], journal: journal)
    try counted.store.write { tx in
      for id in 1...Int64(count) { try tx.insert(CountedTrack(id)) }
    }
    return counted
  }

  private func expect(
    _ work: Work, atMost limit: Work, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(work.excess(over: limit) == [], "\(work)", sourceLocation: sourceLocation)
  }

  // The counters themselves.

  @Test func everyCountIsTaken() throws {
    let counted = try Self.filled()
    var kept: [[Int]] = []
    let work = try counted.work(10) { index in
      // Long enough not to be kept on the stack.
      kept.append(Array(repeating: index, count: 100))
      let title = "title \(index)"
      try counted.store.write { tx in
        try tx.update(CountedTrack(Int64(index + 1), title: title))
        _ = try tx.rows("SELECT count(*) FROM Track WHERE title = \(title)")
      }
    }
    #expect(work.statements >= 4)
    #expect(work.prepared == 0)
    #expect(work.rows == 1)
    #expect(work.scans >= Double(Self.recordCount - 1))
    #expect(work.steps > work.scans)
    if let allocations = work.allocations { #expect(allocations >= 1) }
    #expect(kept.count == 20)
  }

  @Test func aCompiledStatementIsCounted() throws {
    let counted = try Self.filled()
    let work = try counted.work(5) { index in
      try counted.store.write { tx in
        _ = try tx.rows(SQLText(sql: "SELECT \(index) FROM Track WHERE id = 1"))
      }
    }
    #expect(work.prepared == 1)
  }

  @Test func aHigherCountThanTheLimitIsNamed() {
    let work = Work(statements: 3, prepared: 1, steps: 9, scans: 2, rows: 1, allocations: 4)
    let limit = Work(statements: 3, prepared: 0, steps: 8, scans: 1, rows: 0, allocations: 3)
    #expect(
      work.excess(over: limit) == [
        "1.0 prepared, not at most 0.0", "9.0 steps, not at most 8.0", "2.0 scans, not at most 1.0",
        "1.0 rows, not at most 0.0", "4.0 allocations, not at most 3.0",
      ])
    #expect(work.excess(over: work) == [])
  }

  // Writing.

  /// W2.
  @Test("insert a record in a transaction of many")
  func insertInALargeTransaction() throws {
    let counted = try CountedStore(models: [CountedTrack.self])
    let share = 100
    let work = try counted.work(5, share: share) { index in
      try counted.store.write { tx in
        for id in 1...Int64(share) { try tx.insert(CountedTrack(id + Int64(index * share))) }
      }
    }
    expect(work, atMost: Work(statements: 1.04, steps: 22, rows: 1, allocations: 10))
  }

  /// W2.
  @Test("insert a record in a transaction of many, with the journal")
  func insertIntoTheJournal() throws {
    let counted = try CountedStore(models: [CountedTrack.self], journal: .full)
    let share = 100
    let work = try counted.work(5, share: share) { index in
      try counted.store.write { tx in
        for id in 1...Int64(share) { try tx.insert(CountedTrack(id + Int64(index * share))) }
      }
    }
    expect(work, atMost: Work(statements: 1.07, steps: 95, rows: 2.02, allocations: 34))
  }

  /// W5.
  @Test("a transaction of one update, without observers")
  func oneUpdate() throws {
    let counted = try Self.filled()
    let work = try counted.work(100) { index in
      try counted.store.write { try $0.update(CountedTrack(7, title: "title \(index)")) }
    }
    expect(work, atMost: Work(statements: 3, steps: 50, rows: 1, allocations: 285))
  }

  /// W5.
  @Test("a transaction of one update, observed")
  func oneObservedUpdate() throws {
    let counted = try Self.filled()
    let events = Recorder<Int64>()
    let token = try counted.store.observe(CountedTrack.self) { event in
      for change in event.changes { events.add(change.new?.id ?? 0) }
    }
    let work = try counted.work(100) { index in
      try counted.store.write { try $0.update(CountedTrack(7, title: "title \(index)")) }
    }
    withExtendedLifetime(token) {}
    #expect(events.events == Array(repeating: 7, count: 200))
    expect(work, atMost: Work(statements: 4, steps: 72, rows: 1, allocations: 355))
  }

  /// W5.
  @Test("a transaction of one update, with the journal")
  func oneRecordedUpdate() throws {
    let counted = try Self.filled(journal: .full)
    let work = try counted.work(100) { index in
      try counted.store.write { try $0.update(CountedTrack(7, title: "title \(index)")) }
    }
    expect(work, atMost: Work(statements: 8, steps: 240, rows: 3, allocations: 350))
  }

  /// W5, W21.
  @Test("a transaction of one update, before, with and after a monitor")
  func oneMonitoredUpdate() throws {
    let counted = try Self.filled()
    func work() throws -> Work {
      try counted.work(100) { index in
        try counted.store.write { try $0.update(CountedTrack(7, title: "title \(index)")) }
      }
    }
    let before = try work()
    let monitors = counted.store.engine.monitors
    monitors.add(IgnoringMonitor(), of: .max)
    let monitored = try work()
    monitors.remove(of: .max)
    // A monitor makes the thread allocate, and no statement. Nothing is left of it.
    expect(monitored, atMost: Work(statements: 3, steps: 50, rows: 1, allocations: 320))
    var limit = before
    // The mean differs by the allocations of caches that grow.
    limit.allocations = before.allocations.map { $0 + 1 }
    expect(try work(), atMost: limit)
    if let limit = limit.allocations { #expect(monitored.allocations ?? 0 > limit) }
  }

  private struct IgnoringMonitor: StoreMonitor {
    func receive(_ event: StoreEvent) {}
  }

  /// W10.
  @Test("move a slot of a long list")
  func moveInAList() throws {
    let counted = try Self.filled()
    try counted.store.write { tx in
      try tx.insert(CountedMix(id: 1))
      try tx.list(\CountedMix.tracks, of: 1)
        .append(contentsOf: (0..<5_000).map { Int64($0 % Self.recordCount) + 1 })
    }
    var generator = SeededGenerator(seed: 10)
    let work = try counted.work(100) { _ in
      let places = (0..<2).map { _ in Int.random(in: 0..<5_000, using: &generator) }
      try counted.store.write { tx in
        try tx.list(\CountedMix.tracks, of: 1).move(from: places[0], to: places[1])
      }
    }
    expect(work, atMost: Work(statements: 5, steps: 60, rows: 1.02, allocations: 460))
  }

  // Reading.

  /// W3.
  @Test("fetch a record among many")
  func fetchRecords() throws {
    let counted = try Self.filled()
    let work = try counted.work(5, share: Self.recordCount) { _ in
      let records = try counted.store.fetch(CountedTrack.all)
      #expect(records.count == Self.recordCount)
    }
    expect(work, atMost: Work(statements: 0.01, steps: 8, scans: 1, allocations: 1.5))
  }

  /// W4 and W16.
  @Test("find a record by its key")
  func findARecord() throws {
    let counted = try Self.filled()
    let work = try counted.work(100) { index in
      _ = try counted.store.find(CountedTrack.self, Int64(index + 1))
    }
    expect(work, atMost: Work(statements: 1, steps: 14, allocations: 65))
  }

  /// W4.
  @Test("find a record by its key inside a transaction")
  func findARecordInATransaction() throws {
    let counted = try Self.filled()
    let share = 100
    let work = try counted.work(5, share: share) { _ in
      try counted.store.read { tx in
        for id in 1...Int64(share) { _ = try tx.find(CountedTrack.self, id) }
      }
    }
    expect(work, atMost: Work(statements: 1.02, steps: 14, allocations: 11))
  }

  // Observing.

  /// W1.
  @Test("an update under a live query that sorts and filters", arguments: [100, 2_000])
  func updateUnderALiveQuery(count: Int) throws {
    let counted = try Self.filled(count: count)
    let live = try counted.store.liveQuery(
      CountedTrack.where { $0.rating >= 2.5 }.order { $0.milliseconds })
    let events = Recorder<Int>()
    let token = try live.observe { events.add($0.newCount) }
    let work = try counted.work(50) { index in
      var track = CountedTrack(Int64(index % count + 1))
      // The row moves by one place, so that the event has a move too.
      track.milliseconds += 1500
      track.title = "title \(index)"
      try counted.store.write { try $0.update(track) }
    }
    withExtendedLifetime(token) {}
    #expect(events.events == Array(repeating: count, count: 100))
    expect(work, atMost: Work(statements: 4, steps: 72, rows: 1, allocations: 415))
  }

  /// W7.
  @Test("a commit that concerns one of many live queries, or none", arguments: [1, 500])
  func routedQueries(queryCount: Int) throws {
    let counted = try Self.filled()
    let events = Recorder<Int>()
    let tokens = try (0..<queryCount).map { number in
      let value = Int64(number) * 1000
      return try counted.store.liveQuery(CountedTrack.where { $0.milliseconds == value })
        .observe { events.add($0.updates.count) }
    }
    // The record with key 0 is in the first query; the one with the last key is in none.
    try counted.store.write { try $0.insert(CountedTrack(0)) }
    counted.store.waitForDelivery()
    #expect(events.taken() == [0])
    let one = try counted.work(50) { index in
      try counted.store.write { try $0.update(CountedTrack(0, title: "title \(index)")) }
    }
    #expect(events.taken() == Array(repeating: 1, count: 100))
    let none = try counted.work(50) { index in
      try counted.store.write {
        try $0.update(CountedTrack(Int64(Self.recordCount), title: "title \(index)"))
      }
    }
    #expect(events.taken() == [])
    withExtendedLifetime(tokens) {}
    expect(one, atMost: Work(statements: 4, steps: 72, rows: 1, allocations: 370))
    expect(none, atMost: Work(statements: 4, steps: 72, rows: 1, allocations: 340))
  }

  /// W8.
  @Test("a commit that concerns one of many field observers", arguments: [1, 1_000])
  func fieldObservers(observerCount: Int) throws {
    let counted = try Self.filled()
    let events = Recorder<String>()
    let tokens = try (1...Int64(observerCount)).map { id in
      try counted.store.observe(\CountedTrack.title, of: id) { events.add($0.new ?? "") }
    }
    let work = try counted.work(50) { index in
      try counted.store.write { try $0.update(CountedTrack(1, title: "title \(index)")) }
    }
    withExtendedLifetime(tokens) {}
    #expect(events.events == (0..<100).map { "title \($0)" })
    expect(work, atMost: Work(statements: 4, steps: 70, rows: 1, allocations: 370))
  }

  /// W8.
  @Test("begin to observe a field")
  func beginToObserve() throws {
    let counted = try Self.filled()
    var tokens: [ObservationToken] = []
    tokens.reserveCapacity(400)
    let work = try counted.work(200) { index in
      tokens.append(try counted.store.observe(\CountedTrack.title, of: Int64(index + 1)) { _ in })
    }
    #expect(tokens.count == 400)
    expect(work, atMost: Work(allocations: 35))
  }

  /// W8.
  @Test("the memory of an observer of a field", arguments: [1, 3])
  func memoryOfAnObserver(observersOfARecord: Int) throws {
    let counted = try Self.filled()
    let events = Recorder<String>()
    let count = 2_000
    var tokens: [ObservationToken] = []
    tokens.reserveCapacity(2 * count)
    let kept = try counted.kept(count) { index in
      tokens.append(
        try counted.store.observe(\CountedTrack.title, of: Int64(index / observersOfARecord)) {
          events.add($0.new ?? "")
        })
    }
    #expect(tokens.count == 2 * count)
    // The observer, its token and the caller's closure; and the table's entry for the record.
    if let kept {
      #expect(kept.allocations <= (observersOfARecord == 1 ? 3.01 : 4.01), "\(kept)")
      #expect(kept.bytes <= 260, "\(kept)")
    }
  }

  /// W8.
  @Test("the delivery of an event to an observer of a field")
  func deliveredFieldEvents() throws {
    let counted = try Self.filled()
    let share = 200
    let counts = Recorder<Int64>()
    let tokens = try (1...Int64(share)).map { id in
      try counted.store.observe(\CountedTrack.title, of: id) { _ in
        // All of a commit are delivered in one turn, on one thread.
        if id == 1 { _ = allocation_count_begin() }
        if id == share { counts.add(allocation_count_end()) }
      }
    }
    for index in 0..<5 {
      try counted.store.write { tx in
        for id in 1...Int64(share) { try tx.update(CountedTrack(id, title: "title \(index)")) }
      }
      counted.store.waitForDelivery()
    }
    withExtendedLifetime(tokens) {}
    #expect(counts.events.count == 5)
    for count in counts.events { #expect(Double(count) / Double(share - 1) <= 12) }
  }

  /// W8.
  @Test("an observed row of a commit of many")
  func manyObservedRows() throws {
    let counted = try Self.filled()
    let share = 200
    let events = Recorder<String>()
    let tokens = try (1...Int64(share)).map { id in
      try counted.store.observe(\CountedTrack.title, of: id) { events.add($0.new ?? "") }
    }
    let work = try counted.work(5, share: share) { index in
      try counted.store.write { tx in
        for id in 1...Int64(share) { try tx.update(CountedTrack(id, title: "title \(index)")) }
      }
    }
    withExtendedLifetime(tokens) {}
    #expect(events.events.count == 10 * share)
    expect(work, atMost: Work(statements: 2.025, steps: 37, rows: 1, allocations: 125))
  }

  /// W9.
  @Test("an object in a range that many queries observe")
  func overlappingRanges() throws {
    let counted = try Self.filled()
    let queryCount = 50
    let events = Recorder<Int>()
    let tokens = try (0..<queryCount).map { number in
      let (low, high) = (Int64(number) * 1000, Int64(number + queryCount) * 1000)
      return try counted.store.liveQuery(
        CountedTrack.where { $0.milliseconds >= low && $0.milliseconds < high }
          .order { $0.milliseconds }
      ).observe { events.add($0.updates.count) }
    }
    // Every query selects the record with this key.
    let key = Int64(queryCount - 1)
    let work = try counted.work(20, share: queryCount) { index in
      try counted.store.write { try $0.update(CountedTrack(key, title: "title \(index)")) }
    }
    withExtendedLifetime(tokens) {}
    #expect(events.events == Array(repeating: 1, count: 40 * queryCount))
    expect(work, atMost: Work(statements: 0.14, steps: 1.5, rows: 0.02, allocations: 112))
  }

  /// W11.
  @Test("open a live query, for each of its rows")
  func openALiveQuery() throws {
    let counted = try Self.filled()
    let work = try counted.work(3, share: Self.recordCount) { _ in
      let live = try counted.store.liveQuery(CountedTrack.all.order { $0.title })
      #expect(live.count == Self.recordCount)
    }
    expect(work, atMost: Work(statements: 0.014, steps: 12, scans: 1, allocations: 68))
  }

  /// W12.
  @Test("a window in the middle of a large table slides")
  func slidingWindow() throws {
    let counted = try Self.filled()
    let live = try counted.store.liveQuery(
      CountedTrack.all.order { $0.milliseconds }.limit(50, offset: 500))
    let events = Recorder<[Int]>()
    let token = try live.observe { events.add([$0.deletions.count, $0.insertions.count]) }
    let work = try counted.work(20) { index in
      var track = CountedTrack(Int64(index + 1))
      track.milliseconds = Int64(Self.recordCount + index + 1) * 1000
      try counted.store.write { try $0.update(track) }
    }
    withExtendedLifetime(token) {}
    #expect(events.events == Array(repeating: [1, 1], count: 40))
    expect(work, atMost: Work(statements: 9, steps: 100, rows: 1, allocations: 480))
  }

  // Comparing.

  /// W18.
  @Test("compare a record of two stores, of which one in a hundred differs")
  func comparison() throws {
    let (old, new) = (try Self.filled(), try Self.filled())
    try new.store.write { tx in
      for id in 1...Int64(10) { try tx.update(CountedTrack(id * 100, title: "changed")) }
    }
    var count = 0
    let work = try old.work(5, share: Self.recordCount) { _ in
      try old.store.forEachDifference(to: new.store) { _ in count += 1 }
    }
    #expect(count == 100)
    expect(work, atMost: Work(statements: 0.005, steps: 7.2, scans: 1, allocations: 1.8))
  }

  // A window.

  /// `watch --sort --limit` opens such a window.
  @Test func openingAWindowReadsNoMoreOfALargerTableIfAnIndexLeadsThere() throws {
    func work(count: Int, by order: String) throws -> Work {
      let counted = try Self.filled(count: count)
      try counted.store.write { try $0.execute("CREATE INDEX byLength ON Track (milliseconds)") }
      let window =
        order == "milliseconds"
        ? CountedTrack.all.order { $0.milliseconds } : CountedTrack.all.order { $0.rating }
      return try counted.work(3) { _ in
        let live = try counted.store.liveQuery(window.limit(10, offset: 5))
        #expect(live.keepsOnlyItsWindow == (order == "milliseconds"))
      }
    }
    let (few, many) = try (
      work(count: 100, by: "milliseconds"), work(count: 10_000, by: "milliseconds")
    )
    #expect(many.steps <= few.steps + 10 && many.scans <= 20, "\(few), then \(many)")
    let unindexed = try work(count: 10_000, by: "rating")
    #expect(unindexed.scans >= 9_999, "\(unindexed)")
  }
}
