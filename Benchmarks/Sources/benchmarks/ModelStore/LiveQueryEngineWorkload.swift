@_spi(Measuring) import ModelStore

/// W1, engine only: from a change set to the live query's event, on one thread and without a disk.
///
/// One store in memory is written and returns its change sets. A second, equal one has the live
/// query. Each change set is published to its observers, as a commit does, and the event is taken
/// at once.
struct LiveQueryEngineWorkload {
  /// The variant's name within W1.
  let name: String
  /// The number of rows that satisfy the query; the table contains a quarter more.
  let resultCount: Int
  /// The updates in one run.
  let updateCount = 2_000

  var workload: Workload {
    Workload(
      id: "W1-engine-\(name)",
      title: "engine only: change set to event of a live query of \(resultCount.grouped) rows",
      unit: "event",
      contenders: { [contender] })
  }

  private var contender: Contender {
    Contender(library: .modelStore, name: "change set in, event out") { _ in
      let world = try EngineWorld(plan: UpdatePlan(resultCount: resultCount))
      return Session(policy: [:]) { Measurement(.each(try world.measure(updateCount))) }
    }
  }
}

/// Two equal stores in memory, one of them with a live query.
private final class EngineWorld {
  private let written: Store
  private let observed: Store
  private let derive: (ChangeSet) throws -> QueryChanges<StoredTrack>?
  private var plan: UpdatePlan

  init(plan: UpdatePlan) throws {
    self.plan = plan
    written = try Self.store(plan.start)
    observed = try Self.store(plan.start)
    derive = try observed.liveQuery(
      StoredTrack.where { $0.rating >= UpdatePlan.ratingMin }.order { $0.milliseconds }
    ).derivation()
  }

  private static func store(_ tracks: [Track]) throws -> Store {
    let store = try Store.inMemory(models: StoredTrack.self)
    try store.write { tx in try tx.insert(contentsOf: tracks.map(StoredTrack.init)) }
    return store
  }

  /// Returns the nanoseconds of each event.
  func measure(_ count: Int) throws -> [UInt64] {
    var times: [UInt64] = []
    for index in 0..<count {
      let step = plan.next()
      let changes = try written.writeReturningChanges { try $0.update(StoredTrack(step.track)) }
        .changes
      let begun = Stopwatch.now
      let event = try derive(changes)
      times.append(Stopwatch.now - begun)
      guard let event, event.newCount == step.resultCount, !event.isReset else {
        throw BenchmarkFailure("The event does not show update \(index).")
      }
    }
    return times
  }
}
