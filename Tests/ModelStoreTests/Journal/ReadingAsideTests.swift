import Foundation
import Synchronization
import Testing

@testable import ModelStore

/// Results are read while others write as fast as they can: the reader receives exactly the later
/// changes, and so does every other observer.
@Suite(.tags(.law)) struct ReadingAsideTests {
  @Test(.timeLimit(.minutes(30)), arguments: 1...3 as ClosedRange<UInt64>)
  func readingDuringWritesCausesNoResets(seed: UInt64) throws {
    print("seed \(seed)")
    let world = try JournalWorld(LiveQueryTests.setup)
    let store = world.store
    let path = store.path
    let schema = try store.schema.model(named: "item")
    let places = LiveQueryTests.queries.indices
    let steady = try places.map { try KeptResult($0, schema, store) }
    var passing = try places.map { try KeptResult($0, schema, store) }
    var random = RandomTransaction(seed: seed)
    let isOver = Flag()
    var objections: [String] = []
    var openedCount = 0
    let writers = DispatchGroup()
    let failures = Recorder<String>()
    for number in 0..<2 as Range<UInt64> {
      DispatchQueue.global().async(group: writers) {
        do {
          try Self.write(to: path, seed: 1000 * (number + 1) + seed, until: isOver)
        } catch {
          failures.add("\(error)")
        }
      }
    }
    defer {
      isOver.set()
      writers.wait()
    }
    while writers.wait(timeout: .now()) == .timedOut {
      if openedCount % 3 == 0 {
        try LiveQueryTests.commit(&random, to: store)
      } else {
        try store.refresh()
      }
      let place = random.place(of: passing)
      objections += passing[place].objections.events
      passing[place] = try KeptResult(place, schema, store)
      openedCount += 1
    }
    #expect(failures.events == [])
    try store.refresh()
    store.waitForDelivery()
    objections += (steady + passing).flatMap(\.objections.events)
    #expect(objections == [], "seed \(seed)")
    for result in steady + passing {
      let isTrue = try result.images == world.other.rows(result.sql)
      #expect(isTrue, "query \(result.number), seed \(seed)")
    }
    #expect(world.errors.events == [])
    let commitCount = try store.changeJournal.position().rawValue
    print("seed \(seed): \(openedCount) results opened beside \(commitCount) positions")
  }

  /// Commits 3000 times without a pause.
  private static func write(to path: String, seed: UInt64, until isOver: Flag) throws {
    var random = RandomTransaction(seed: seed)
    let other = try PlainDatabase(path)
    // An automatic checkpoint meets a bug in many versions of SQLite that damages the file.
    try other.execute(
      "PRAGMA foreign_keys = ON; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0")
    for _ in 0..<3000 where !isOver.isSet {
      try other.execute(
        random.foreignStatements().replacing("BEGIN;", with: "BEGIN IMMEDIATE;"))
    }
  }
}

private final class Flag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .relaxed) }

  func set() { value.store(true, ordering: .relaxed) }
}

/// A copy of a result, kept by applying the events of a live query from the first one on.
private final class KeptResult: Sendable {
  let number: Int
  let sql: String
  let objections = Recorder<String>()
  private let list = Mutex<[DynamicRecord]>([])
  private let subscription = Mutex<ObservationToken?>(nil)

  init(_ number: Int, _ schema: ModelSchema, _ store: Store) throws {
    self.number = number
    let watched = LiveQueryTests.queries[number]
    sql = "SELECT id, a, t, g, u FROM item " + watched.sql
    let query = StoreQuery<DynamicRecord>(
      schema, where: watched.condition, orderings: watched.order, limit: watched.limit,
      offset: watched.offset)
    let held = try store.liveQuery(query).observe(options: .initial) { [weak self] in self?.note($0)
    }
    subscription.withLock { $0 = held }
  }

  var images: [[SQLValue]] { list.withLock { $0.map(\.values) } }

  private func note(_ event: QueryChanges<DynamicRecord>) {
    list.withLock { list in
      guard !event.isReset, event.oldCount == list.count else {
        return objections.add(
          "query \(number): reset \(event.isReset), \(event.oldCount) of \(list.count)")
      }
      event.apply(to: &list)
    }
  }
}
