#if Postgres
  import ModelStore

  /// W25: from the return of a write on one member to the event on another one. W26: a member that
  /// was closed meanwhile opens and applies what it missed.
  struct SharedFollowingWorkload {
    /// The maximum number of writes in one run.
    let writeCount: Int
    /// The rows that a member missed, and in how many commits.
    let missedCount: Int
    let commitCount = 100

    var workloads: [Workload] {
      [
        Workload(
          id: "W25", title: "write on a member to the event on another", unit: "event",
          contenders: { [events] }),
        Workload(
          id: "W26", title: "a member applies \(missedCount.grouped) changed rows that it missed",
          unit: "row", contenders: { [catchingUp] }),
      ]
    }

    private var events: Contender {
      Contender(library: .modelStore, name: "after the write returned") { directory in
        let fixture = try SharedFixture(in: directory)
        let writer = try fixture.member(0, tracks: Track.generate(1_000))
        let follower = try fixture.member(1)
        let recorder = EventRecorder<FieldEvent<String>>()
        let subscription = try follower.observe(\StoredTrack.title, of: 1) { recorder.received($0) }
        var generator = SeededGenerator(seed: 0x25_5AED)
        return Session(policy: fixture.policy) {
          try withExtendedLifetime((follower, subscription)) {
            Measurement(
              try Stopwatch.collect(limit: writeCount, budget: 5_000_000_000) { _ in
                let title = Track.randomTitle(using: &generator)
                try writer.write { tx in _ = try tx.set(\StoredTrack.title, to: title, for: 1) }
                let returned = Stopwatch.now
                let event = try recorder.next { $0.new == title }
                // The event can arrive before the writer continues.
                return event.time > returned ? event.time - returned : 0
              })
          }
        }
      }
    }

    private var catchingUp: Contender {
      Contender(library: .modelStore, name: "opening, with the journal") { directory in
        let fixture = try SharedFixture(in: directory)
        let share = missedCount / commitCount
        let writer = try fixture.member(0, tracks: Track.generate(share))
        try fixture.member(1).close()
        var rating = 0.0
        return Session(policy: fixture.policy) {
          let tracks = try writer.fetch(StoredTrack.all)
          for _ in 0..<commitCount {
            rating += 1
            try writer.write { tx in
              for var track in tracks {
                track.rating = rating
                try tx.update(track)
              }
            }
          }
          let start = Stopwatch.now
          let follower = try fixture.member(1)
          try follower.refresh()
          let elapsed = Stopwatch.now - start
          defer { follower.close() }
          let last = try follower.fetch(StoredTrack.all).last?.rating
          guard last == rating else { throw BenchmarkFailure("The member is behind.") }
          let count = commitCount * share
          return Measurement(
            .whole(nanoseconds: elapsed, operations: count),
            figures: [.init(name: "rows/s", value: Double(count) * 1e9 / Double(elapsed))])
        }
      }
    }
  }
#endif
