import Dispatch
import GRDB

extension WindowWorkload {
  var grdbContenders: [Contender] {
    [
      Contender(library: .grdb, name: "GRDB, pool, by position") { directory in
        var tracks = self.tracks
        let pool = try DatabasePool.open(
          try fixture(of: tracks, in: directory), synchronous: .normal)
        let recorder = EventRecorder<[PositionalTrack]>()
        let sql = """
          SELECT id, title, milliseconds, rating FROM track
          ORDER BY milliseconds, id LIMIT \(limit) OFFSET \(offset)
          """
        let cancellable = ValueObservation.trackingConstantRegion { database in
          try PositionalTrack.fetchAll(database.cachedStatement(sql: sql))
        }
        .handleEvents(databaseDidChange: { recorder.committed() })
        .start(
          in: pool, scheduling: .async(onQueue: DispatchQueue(label: "observer")),
          onError: { recorder.failed($0) }, onChange: { recorder.received($0) })
        let limit = self.limit
        var first = try recorder.next { $0.count == limit }.value[0].id
        var number = 0
        return Session(policy: try pool.policy()) {
          try withExtendedLifetime(cancellable) {
            try pool.emptyLog()
            return Measurement(
              try Stopwatch.collect(limit: updateCount) { _ in
                let step = update(number, of: &tracks)
                number += 1
                try pool.write { database in
                  let update = try database.cachedStatement(sql: Track.update)
                  try update.execute(arguments: [
                    step.track.title, step.track.milliseconds, step.track.rating, step.track.id,
                  ])
                }
                let before = first
                let event = try recorder.next { rows in
                  step.slides ? rows[0].id != before : rows.contains { $0.matches(step.track) }
                }
                first = event.value[0].id
                return event.nanoseconds
              })
          }
        }
      }
    ]
  }
}
