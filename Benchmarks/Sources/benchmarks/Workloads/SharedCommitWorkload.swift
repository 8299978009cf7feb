/// W6: tasks that write at the same time, each record in a transaction of its own whose durability
/// the task awaits. Timed from the start of the first task to the end of the last.
///
/// A library may let waiting transactions share a COMMIT and its sync. With one task nothing can be
/// shared, so that variant shows whether the way there costs a lone writer anything.
struct SharedCommitWorkload {
  let synchronous: DurabilityPolicy.Synchronous
  let taskCount: Int
  /// The transactions of each task in one run.
  let commitCount: Int

  /// The transactions of one run.
  var totalCount: Int { taskCount * commitCount }

  var workload: Workload {
    let level = synchronous == .full ? "full" : "normal"
    let tasks = taskCount == 1 ? "one task" : "\(taskCount) tasks"
    return Workload(
      id: taskCount == 1 ? "W6-lone-\(level)" : "W6-\(level)",
      title: "\(tasks), each record in an awaited transaction of its own (\(level.uppercased()))",
      unit: "commit",
      contenders: { sqliteContenders + grdbContenders + modelStoreContenders })
  }

  /// The records of the run with that number, by task. Their keys follow those of the run before.
  func parts(ofRun number: Int) -> [[Track]] {
    var tracks = Track.generate(totalCount)
    for index in tracks.indices { tracks[index].id += firstKey(ofRun: number) }
    return (0..<taskCount).map { task in
      Array(tracks[task * commitCount..<(task + 1) * commitCount])
    }
  }

  /// The key before the first one of that run.
  private func firstKey(ofRun number: Int) -> Int64 { Int64(number * totalCount) }

  /// Returns the measurement of a run, with the stored records as its digest.
  ///
  /// - Parameter commits: The transactions that the run added to the log.
  func measurement(
    _ outcome: ConcurrentThreads.Outcome, run number: Int, at path: String, commits: Int,
    figures: [Measurement.Figure] = []
  ) throws -> Measurement {
    let stored = try RawConnection(path: path, synchronous: synchronous)
    let digest = try stored.storedDigest(after: firstKey(ofRun: number))
    let samples = outcome.samples.sorted()
    guard samples.count == totalCount, commits > 0 else {
      throw BenchmarkFailure("\(samples.count) of \(totalCount) commits reached the log.")
    }
    let own = [
      Measurement.Figure(
        name: "commits/s", value: Double(totalCount) * 1e9 / Double(outcome.nanoseconds)),
      Measurement.Figure(name: "µs of one call, p50", value: samples.percentile(50) / 1000),
      Measurement.Figure(name: "µs of one call, p99", value: samples.percentile(99) / 1000),
      Measurement.Figure(
        name: "records of one commit in the log", value: Double(totalCount) / Double(commits)),
    ]
    return Measurement(
      .whole(nanoseconds: outcome.nanoseconds, operations: totalCount), digest: digest,
      figures: own + figures)
  }

  /// Runs `commit` for each record, in one task for each part.
  static func inTasks(
    _ parts: [[Track]], _ commit: @escaping @Sendable (Track) async throws -> Void
  ) async throws -> ConcurrentThreads.Outcome {
    let start = Stopwatch.now
    let samples = try await withThrowingTaskGroup(of: [UInt64].self) { group in
      for part in parts {
        group.addTask {
          var samples: [UInt64] = []
          samples.reserveCapacity(part.count)
          for track in part {
            let start = Stopwatch.now
            try await commit(track)
            samples.append(Stopwatch.now - start)
          }
          return samples
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    return ConcurrentThreads.Outcome(nanoseconds: Stopwatch.now - start, samples: samples)
  }
}
