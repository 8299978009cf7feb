#if Postgres
  import ModelStore

  /// W23: members that write at the same time, each a record in a transaction of its own. W24: the
  /// same on one member, whose waiting writers share a turn.
  struct SharedScalingWorkload {
    enum Writers {
      case members
      case tasks
    }

    let writers: Writers
    /// How many write at the same time, one contender for each.
    let counts: [Int]
    /// The transactions of one run, together.
    let writeCount: Int

    var workload: Workload {
      let title =
        writers == .members
        ? "members of a shared store that write at the same time"
        : "tasks that write on one member at the same time"
      return Workload(
        id: writers == .members ? "W23" : "W24", title: title, unit: "write",
        contenders: { counts.map { writers == .members ? members($0) : tasks($0) } })
    }

    private func members(_ count: Int) -> Contender {
      Contender(library: .modelStore, name: count == 1 ? "1 member" : "\(count) members") {
        directory in
        let fixture = try SharedFixture(in: directory)
        var members = [try fixture.member(0, tracks: Track.generate(1_000))]
        for number in 1..<count { members.append(try fixture.member(number)) }
        let stores = members
        let share = writeCount / count
        return Session(policy: fixture.policy) {
          let outcome = try ConcurrentThreads.run(count) { number in
            var rows = RowSource(count: 1_000)
            return try (0..<share).map { _ in
              let track = StoredTrack(rows.next())
              let start = Stopwatch.now
              try stores[number].write { tx in try tx.update(track) }
              return Stopwatch.now - start
            }
          }
          return measurement(outcome)
        }
      }
    }

    private func tasks(_ count: Int) -> Contender {
      Contender(library: .modelStore, name: count == 1 ? "1 task" : "\(count) tasks") { directory in
        let fixture = try SharedFixture(in: directory)
        let store = try fixture.member(0, tracks: Track.generate(1_000))
        var source = RowSource(count: 1_000)
        return Session(policy: fixture.policy) {
          let rows = (0..<writeCount).map { _ in source.next() }
          let share = writeCount / count
          let parts = (0..<count).map { Array(rows[$0 * share..<($0 + 1) * share]) }
          return measurement(
            try await SharedCommitWorkload.inTasks(parts) { track in
              try await store.write { tx in try tx.update(StoredTrack(track)) }
            })
        }
      }
    }

    private func measurement(_ outcome: ConcurrentThreads.Outcome) -> Measurement {
      let samples = outcome.samples.sorted()
      return Measurement(
        .whole(nanoseconds: outcome.nanoseconds, operations: samples.count),
        figures: [
          .init(
            name: "writes/s", value: Double(samples.count) * 1e9 / Double(outcome.nanoseconds)),
          .init(name: "µs of one call, p50", value: samples.percentile(50) / 1000),
          .init(name: "µs of one call, p99", value: samples.percentile(99) / 1000),
        ])
    }
  }
#endif
