internal import RawSQLite

extension CommitWorkload {
  var sqliteContenders: [Contender] {
    [
      Contender(library: .sqlite, name: "SQLite C API") { directory in
        let path = directory.file("tracks.sqlite")
        try RawConnection.createTracks(Track.generate(count), at: path)
        let connection = try RawConnection(path: path, synchronous: synchronous)
        let begin = try connection.prepare("BEGIN IMMEDIATE")
        let update = try connection.prepare(Track.update)
        let commit = try connection.prepare("COMMIT")
        var rows = RowSource(count: count)
        return Session(policy: try connection.policy()) {
          try connection.checkpoint()
          let measurement = Measurement(
            try Stopwatch.collect(limit: commitCount) { _ in
              let track = rows.next()
              let start = Stopwatch.now
              try connection.run(begin)
              sqlite3_bind_int64(update.handle, 2, track.milliseconds)
              sqlite3_bind_double(update.handle, 3, track.rating)
              sqlite3_bind_int64(update.handle, 4, track.id)
              try update.lend(track.title, at: 1) { try connection.run(update) }
              try connection.run(commit)
              return Stopwatch.now - start
            })
          try Self.requireLogged(commits: measurement.samples.count, at: path)
          return measurement
        }
      }
    ]
  }
}
