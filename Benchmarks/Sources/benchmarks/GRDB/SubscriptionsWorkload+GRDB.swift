import Dispatch
import GRDB

extension SubscriptionsWorkload {
  var grdbContenders: [Contender] {
    [
      Contender(library: .grdb, name: "GRDB, queue, by position") { directory in
        let tracks = self.tracks
        let path = try fixture(of: tracks, in: directory)
        let queue = try DatabaseQueue.open(path, synchronous: .normal)
        let told = Tally()
        let all = DispatchSemaphore(value: 0)
        let observers = DispatchQueue(label: "observer")
        let cancellables = (0..<subscriptionCount).map { number in
          observation(number).start(
            in: queue, scheduling: .async(onQueue: observers),
            onError: { StandardError.print("GRDB: \($0)") },
            onChange: { _ in
              told.add()
              all.signal()
            })
        }
        for _ in 0..<subscriptionCount { all.wait() }
        _ = told.take()
        var generator = SeededGenerator(seed: 0x9_DF1A)
        return Session(policy: try queue.policy()) {
          try withExtendedLifetime(cancellables) {
            try queue.emptyLog()
            return Measurement(
              try Stopwatch.collect(limit: commitCount, countMin: 1) { _ in
                let changed = updated(using: &generator, of: tracks)
                var start: UInt64 = 0
                try queue.write { database in
                  let update = try database.cachedStatement(sql: Track.update)
                  for track in changed {
                    update.setUncheckedArguments([
                      track.title, track.milliseconds, track.rating, track.id,
                    ])
                    try update.execute()
                  }
                  start = Stopwatch.now
                }
                for _ in 0..<subscriptionCount { all.wait() }
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

  /// Each subscription observes the rows that it selects, so that GRDB checks only those that a
  /// commit may affect.
  private func observation(
    _ number: Int
  ) -> ValueObservation<ValueReducers.Fetch<[PositionalTrack]>> {
    let key = Int64(number + 1)
    let (low, high) = (Int64(number), Int64(number + subscriptionCount))
    switch kind {
    case .queries, .objects:
      return ValueObservation.tracking { try PositionalTrack.filter(key: key).fetchAll($0) }
    case .ranges:
      return ValueObservation.tracking { database in
        try PositionalTrack.filter(Column("milliseconds") >= low && Column("milliseconds") < high)
          .order(Column("milliseconds")).fetchAll(database)
      }
    }
  }
}
