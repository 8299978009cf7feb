internal import RawSQLite

extension LiveQueryWorkload {
  /// The lower limit for every library that re-executes the query.
  var sqliteContenders: [Contender] {
    [
      Contender(library: .sqlite, name: "SQLite C API, query again") { directory in
        var plan = UpdatePlan(resultCount: resultCount)
        let path = directory.file("tracks.sqlite")
        try RawConnection.createTracks(plan.start, at: path)
        let connection = try RawConnection(path: path, synchronous: .normal)
        let begin = try connection.prepare("BEGIN IMMEDIATE")
        let update = try connection.prepare(Track.update)
        let commit = try connection.prepare("COMMIT")
        let select = try connection.prepare(UpdatePlan.select)
        return Session(policy: try connection.policy()) {
          try connection.checkpoint()
          return Measurement(
            try Stopwatch.collect(limit: updateCount, countMin: sampleCountMin) { index in
              let step = plan.next()
              try connection.run(begin)
              sqlite3_bind_int64(update.handle, 2, step.track.milliseconds)
              sqlite3_bind_double(update.handle, 3, step.track.rating)
              sqlite3_bind_int64(update.handle, 4, step.track.id)
              try update.lend(step.track.title, at: 1) { try connection.run(update) }
              try connection.run(commit)
              let committed = Stopwatch.now
              let result = try select.all(connection) { $0.track }
              let elapsed = Stopwatch.now - committed
              guard step.isShown(by: result) else {
                throw BenchmarkFailure("The query's result does not show update \(index).")
              }
              return elapsed
            })
        }
      }
    ]
  }
}
