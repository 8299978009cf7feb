import GRDB

extension SharedCommitWorkload {
  var grdbContenders: [Contender] {
    [
      contender("GRDB, pool, Codable") { pool, track in
        try await pool.write { try CodableTrack(track).insert($0) }
      },
      contender("GRDB, pool, statement") { pool, track in
        try await pool.write { database in
          let insert = try database.cachedStatement(sql: Track.insert)
          insert.setUncheckedArguments([track.id, track.title, track.milliseconds, track.rating])
          try insert.execute()
        }
      },
    ]
  }

  private func contender(
    _ name: String, commit: @escaping @Sendable (DatabasePool, Track) async throws -> Void
  ) -> Contender {
    Contender(library: .grdb, name: name) { directory in
      let path = directory.file("tracks.sqlite")
      try RawConnection.createTracks([], at: path)
      let pool = try DatabasePool.open(path, synchronous: synchronous)
      var number = 0
      return Session(policy: try pool.policy()) {
        defer { number += 1 }
        try pool.emptyLog()
        let outcome = try await Self.inTasks(parts(ofRun: number)) { try await commit(pool, $0) }
        return try measurement(
          outcome, run: number, at: path, commits: LogFile.commitCount(of: path))
      }
    }
  }
}
