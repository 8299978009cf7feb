import ModelStore
import Synchronization

extension SubscriptionsWorkload {
  var modelStoreContenders: [Contender] {
    [
      Contender(library: .modelStore, name: "ModelStore, COMMIT included") { directory in
        let tracks = self.tracks
        let path = try fixture(of: tracks, in: directory)
        let store = try Store.open(path, StoredTrack.self, synchronous: .normal)
        let told = Tally()
        let subscriptions = try (0..<subscriptionCount).map { try subscribe($0, to: store, told) }
        var generator = SeededGenerator(seed: 0x9_DF1A)
        return Session(policy: try store.policy()) {
          try withExtendedLifetime(subscriptions) {
            try store.checkpoint()
            return Measurement(
              try Stopwatch.collect(limit: commitCount) { _ in
                let changed = updated(using: &generator, of: tracks)
                var start: UInt64 = 0
                try store.write { transaction in
                  for track in changed { try transaction.update(StoredTrack(track)) }
                  start = Stopwatch.now
                }
                store.waitForDelivery()
                let elapsed = Stopwatch.now - start
                guard told.take() == subscriptionCount else {
                  throw BenchmarkFailure("Not every subscriber was notified once.")
                }
                return elapsed
              })
          }
        }
      }
    ]
  }

  /// Returns a file with the objects and an index on the value of the ranges.
  func fixture(of tracks: [Track], in directory: TemporaryDirectory) throws -> String {
    try directory.copy(of: "objects-\(objectCount)") { try Store.buildTracks(tracks, at: $0) }
  }

  private func subscribe(
    _ number: Int, to store: Store, _ told: Tally
  ) throws -> ObservationToken {
    let key = Int64(number + 1)
    switch kind {
    case .queries:
      return try store.liveQuery(StoredTrack.where { $0.id == key }).observe { _ in told.add() }
    case .objects:
      return try store.observe(StoredTrack.self, of: key) { _ in told.add() }
    case .ranges:
      let (low, high) = (Int64(number), Int64(number + subscriptionCount))
      return try store.liveQuery(
        StoredTrack.where { $0.milliseconds >= low && $0.milliseconds < high }
          .order { $0.milliseconds }
      ).observe { _ in told.add() }
    }
  }
}

/// The number of notified subscribers, on any threads.
final class Tally: Sendable {
  private let count = Atomic(0)

  func add() { count.add(1, ordering: .relaxed) }

  /// The count since the last call.
  func take() -> Int { count.exchange(0, ordering: .relaxed) }
}
