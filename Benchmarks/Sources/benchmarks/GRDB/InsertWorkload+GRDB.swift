import GRDB

extension InsertWorkload {
  func grdbContenders(_ tracks: [Track]) -> [Contender] {
    [
      contender("GRDB, Codable", tracks) { database in
        for track in tracks { try CodableTrack(track).insert(database) }
      },
      contender("GRDB, by hand", tracks) { database in
        for track in tracks { try PositionalTrack(track).insert(database) }
      },
      contender("GRDB, statement", tracks) { database in
        let insert = try database.makeStatement(sql: Track.insert)
        for track in tracks {
          insert.setUncheckedArguments([track.id, track.title, track.milliseconds, track.rating])
          try insert.execute()
        }
      },
    ]
  }

  private func contender(
    _ name: String, _ tracks: [Track], insert: @escaping (Database) throws -> Void
  ) -> Contender {
    Contender(library: .grdb, name: name) { directory in
      let files = RunFiles(in: directory)
      let policy = try DatabaseQueue.open(files.next(), synchronous: .full).policy()
      return Session(policy: policy) {
        let path = try files.next()
        let queue = try DatabaseQueue.open(path, synchronous: .full)
        try queue.write { try $0.execute(sql: Track.createTable) }
        let timing = try Stopwatch.whole(operations: tracks.count) {
          try queue.write(insert)
        }
        try queue.close()
        let check = try RawConnection(path: path, synchronous: .full)
        return Measurement(timing, digest: try check.storedDigest())
      }
    }
  }
}
