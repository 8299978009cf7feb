import GRDB

extension CommitWorkload {
  var grdbContenders: [Contender] {
    [
      contender("GRDB, Codable") { database, track in
        try CodableTrack(track).update(database)
      },
      contender("GRDB, by hand") { database, track in
        try PositionalTrack(track).update(database)
      },
      contender("GRDB, statement") { database, track in
        let update = try database.cachedStatement(sql: Track.update)
        update.setUncheckedArguments([track.title, track.milliseconds, track.rating, track.id])
        try update.execute()
      },
    ]
  }

  private func contender(
    _ name: String, update: @escaping (Database, Track) throws -> Void
  ) -> Contender {
    Contender(library: .grdb, name: name) { directory in
      let path = directory.file("tracks.sqlite")
      try RawConnection.createTracks(Track.generate(count), at: path)
      let queue = try DatabaseQueue.open(path, synchronous: synchronous)
      var rows = RowSource(count: count)
      return Session(policy: try queue.policy()) {
        try queue.emptyLog()
        let measurement = Measurement(
          try Stopwatch.collect(limit: commitCount) { _ in
            let track = rows.next()
            let start = Stopwatch.now
            try queue.write { try update($0, track) }
            return Stopwatch.now - start
          })
        try Self.requireLogged(commits: measurement.samples.count, at: path)
        return measurement
      }
    }
  }
}
