import Dispatch
import GRDB

extension OpeningWorkload {
  /// An observation of the whole records, because GRDB has no sort keys.
  var grdbContenders: [Contender] {
    [
      Contender(library: .grdb, name: "GRDB, pool, by position") { directory in
        let pool = try DatabasePool.open(try fixture(in: directory), synchronous: .normal)
        return Session(policy: try pool.policy()) {
          let start = Stopwatch.now
          let opened = try MemoryUse.of { try observe(pool) }
          let elapsed = Stopwatch.now - start
          opened.value.cancellable.cancel()
          let longest = try BusyWriter.longestCommit {
            try pool.write { database in
              let update = try database.cachedStatement(
                sql: "UPDATE track SET rating = ? WHERE id = 1")
              try update.execute(arguments: [Double.random(in: 0...5)])
            }
          } during: {
            try observe(pool).cancellable.cancel()
          }
          return Measurement(
            .each([elapsed]),
            figures: [
              Measurement.Figure(
                name: "bytes a row", value: Double(opened.bytes) / Double(rowCount)),
              Measurement.Figure(
                name: "longest commit beside it in ms", value: Double(longest) / 1e6),
            ])
        }
      }
    ]
  }

  /// The records stay as long as the recorder, as in a program that displays them.
  private func observe(
    _ pool: DatabasePool
  ) throws -> (cancellable: AnyDatabaseCancellable, records: [PositionalTrack]) {
    let recorder = EventRecorder<[PositionalTrack]>()
    let sql = "SELECT id, title, milliseconds, rating FROM track ORDER BY \(column), id"
    let cancellable = ValueObservation.trackingConstantRegion { database in
      try PositionalTrack.fetchAll(database.cachedStatement(sql: sql))
    }
    .start(
      in: pool, scheduling: .async(onQueue: DispatchQueue(label: "observer")),
      onError: { recorder.failed($0) }, onChange: { recorder.received($0) })
    let count = rowCount
    return (cancellable, try recorder.next { $0.count == count }.value)
  }
}
