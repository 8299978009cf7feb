import Synchronization

/// W16: records by key from several threads at once, beside a writer that commits a thousand times
/// a second. Timed from the start of the threads to the end of the last.
///
/// Each commit makes the readers' page caches out of date, as in a program in use.
struct ReaderScalingWorkload {
  let threadCount: Int
  /// The records in the table.
  let count: Int
  /// The reads of all threads together in one run.
  let readCount: Int

  var workload: Workload {
    Workload(
      id: "W16-\(threadCount)",
      title: "records by key out of \(count.grouped) from \(threadCount) "
        + (threadCount == 1 ? "thread" : "threads") + " beside a writer (NORMAL)",
      unit: "record",
      contenders: { sqliteContenders + grdbContenders + modelStoreContenders })
  }

  /// The keys that each thread reads, the same for every contender.
  var keys: [[Int64]] {
    (0..<threadCount).map { thread in
      var generator = SeededGenerator(seed: 0x16_0000 + UInt64(thread))
      return (0..<max(1, readCount / threadCount)).map { _ in
        Int64.random(in: 1...Int64(count), using: &generator)
      }
    }
  }

  /// Returns the measurement of one run.
  ///
  /// - Parameters:
  ///   - read: Returns the record with that key; receives the number of its thread first.
  ///   - update: Commits that record.
  func measure<Record: TrackRecord>(
    _ rows: SharedRows, keys: [[Int64]],
    read: @escaping @Sendable (Int, Int64) throws -> Record?,
    update: @escaping @Sendable (Track) throws -> Void
  ) throws -> Measurement {
    let (outcome, work) = try PacedWriter.run {
      try update(rows.next())
    } during: {
      try ConcurrentThreads.run(threadCount) { thread in
        try keys[thread].map { key in
          let start = Stopwatch.now
          let record = try read(thread, key)
          let elapsed = Stopwatch.now - start
          try LookupWorkload.require(record, hasKey: key)
          return elapsed
        }
      }
    }
    let samples = outcome.samples.sorted()
    return Measurement(
      .whole(nanoseconds: outcome.nanoseconds, operations: samples.count),
      figures: [
        Measurement.Figure(name: "µs of one read, p50", value: samples.percentile(50) / 1000),
        Measurement.Figure(name: "µs of one read, p99", value: samples.percentile(99) / 1000),
        work.figure,
      ])
  }
}

/// The rows that a writer on another thread stores; see ``RowSource``.
final class SharedRows: Sendable {
  private let source: Mutex<RowSource>

  init(count: Int) {
    source = Mutex(RowSource(count: count))
  }

  func next() -> Track { source.withLock { $0.next() } }
}
