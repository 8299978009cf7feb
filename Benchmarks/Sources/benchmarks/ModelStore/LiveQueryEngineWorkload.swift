import ModelStore
import Synchronization

/// W1, engine only: from a known change set to the live query's event, without a disk and without
/// another thread.
///
/// The store is in memory. A validator, which receives the finished change set just before COMMIT,
/// starts the clock. The event is taken from a sequence in which it waits already when the write
/// has returned, so no thread wakes up. What remains besides the engine is COMMIT in memory and the
/// end of the write. A second store without the live query does the same beside it, turn by turn,
/// and shows what that takes.
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
      contenders: { [alone, all, difference] })
  }

  /// What a contender's time contains.
  private enum Part { case all, alone, difference }

  private var alone: Contender { contender("COMMIT in memory, no live query", .alone) }
  private var all: Contender { contender("COMMIT in memory and the event", .all) }
  /// The second less the first, measured in turns within each run.
  private var difference: Contender { contender("engine only, their difference", .difference) }

  private func contender(_ name: String, _ part: Part) -> Contender {
    Contender(library: .modelStore, name: name) { _ in
      let world = try EngineWorld(plan: UpdatePlan(resultCount: resultCount))
      return Session(policy: [:]) {
        let times = try await world.measure(updateCount)
        switch part {
        case .all: return Measurement(.each(times.observed))
        case .alone: return Measurement(.each(times.bare))
        case .difference:
          let medians = [times.observed, times.bare].map { $0.map { Double($0) }.median }
          let difference = Swift.max(0, medians[0] - medians[1])
          return Measurement(
            .whole(
              nanoseconds: UInt64(difference * Double(updateCount)), operations: updateCount))
        }
      }
    }
  }
}

/// Two equal stores in memory, one of them with a live query.
private final class EngineWorld {
  private let observed: Store
  private let bare: Store
  private let live: LiveQuery<StoredTrack>
  private var changes: ChangeSequence<QueryChanges<StoredTrack>>.AsyncIterator
  private let clock = ChangeSetClock()
  private var plan: UpdatePlan

  init(plan: UpdatePlan) throws {
    self.plan = plan
    observed = try Self.store(plan.start, clock)
    bare = try Self.store(plan.start, clock)
    live = try observed.liveQuery(
      StoredTrack.where { $0.rating >= UpdatePlan.ratingMin }.order { $0.milliseconds })
    changes = try live.changes().makeAsyncIterator()
  }

  private static func store(_ tracks: [Track], _ clock: ChangeSetClock) throws -> Store {
    let store = try Store.inMemory(
      models: StoredTrack.self,
      validators: [
        Validator("Track.clock", StoredTrack.self) { _, _ in
          clock.start()
          return .accept
        }
      ])
    // A transaction of a million rows would keep each of them for the validator.
    for start in stride(from: 0, to: tracks.count, by: 10_000) {
      try store.write { tx in
        for track in tracks[start..<min(start + 10_000, tracks.count)] {
          try tx.insert(StoredTrack(track))
        }
      }
    }
    return store
  }

  /// Makes the same updates in both stores, and returns the nanoseconds of each.
  func measure(_ count: Int) async throws -> (observed: [UInt64], bare: [UInt64]) {
    var times: (observed: [UInt64], bare: [UInt64]) = ([], [])
    for index in 0..<count {
      let step = plan.next()
      try Self.commit(step.track, to: bare)
      times.bare.append(clock.elapsed)
      try Self.commit(step.track, to: observed)
      guard let event = try await changes.next() else {
        throw BenchmarkFailure("The sequence of changes has ended.")
      }
      times.observed.append(clock.elapsed)
      guard event.newCount == step.resultCount, !event.isReset else {
        throw BenchmarkFailure("The event does not show update \(index).")
      }
    }
    return times
  }

  // In a function of its own, so that the synchronous form of `write` is called.
  private static func commit(_ track: Track, to store: Store) throws {
    try store.write { try $0.update(StoredTrack(track)) }
  }
}

/// A clock that a validator starts.
private final class ChangeSetClock: Sendable {
  private let begun = Atomic<UInt64>(0)

  func start() { begun.store(Stopwatch.now, ordering: .relaxed) }

  var elapsed: UInt64 { Stopwatch.now - begun.load(ordering: .relaxed) }
}
