internal import RawSQLite

extension LookupWorkload {
  var sqliteContenders: [Contender] {
    [
      Contender(library: .sqlite, name: "SQLite C API") { directory in
        let path = directory.file("tracks.sqlite")
        try RawConnection.createTracks(Track.generate(count), at: path)
        let connection = try RawConnection(path: path, synchronous: .full)
        let select = try connection.prepare(Track.selectByKey)
        let keys = self.keys
        return Session(policy: try connection.policy()) {
          if bracket == .transaction { try connection.execute("BEGIN") }
          let timing = try Stopwatch.each(limit: keys.count) { index in
            sqlite3_bind_int64(select.handle, 1, keys[index])
            try connection.check(sqlite3_step(select.handle), is: SQLITE_ROW)
            let track = select.track
            sqlite3_reset(select.handle)
            try Self.require(track, hasKey: keys[index])
          }
          if bracket == .transaction { try connection.execute("COMMIT") }
          return Measurement(timing)
        }
      }
    ]
  }
}
