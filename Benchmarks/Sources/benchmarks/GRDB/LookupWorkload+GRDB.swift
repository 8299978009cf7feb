import GRDB

extension LookupWorkload {
  var grdbContenders: [Contender] {
    bracket == .single ? synchronous + [awaited] : synchronous
  }

  private var synchronous: [Contender] {
    [
      contender("GRDB, queue, Codable", isolation: .transaction) { database, key in
        try CodableTrack.fetchOne(database, key: key)
      },
      contender("GRDB, queue, statement", isolation: .none) { database, key in
        let select = try database.cachedStatement(sql: Track.selectByKey)
        return try PositionalTrack.fetchOne(select, arguments: [key])
      },
    ]
  }

  /// Each lookup is awaited from a task.
  private var awaited: Contender {
    Contender(library: .grdb, name: "GRDB, pool, statement, async") { directory in
      let path = directory.file("tracks.sqlite")
      try RawConnection.createTracks(Track.generate(count), at: path)
      let pool = try DatabasePool.open(path, synchronous: .full)
      let keys = self.keys
      return Session(policy: try pool.policy()) {
        var samples: [UInt64] = []
        samples.reserveCapacity(keys.count)
        for key in keys {
          let start = Stopwatch.now
          let record = try await pool.read { database in
            let select = try database.cachedStatement(sql: Track.selectByKey)
            return try PositionalTrack.fetchOne(select, arguments: [key])
          }
          samples.append(Stopwatch.now - start)
          try Self.require(record, hasKey: key)
        }
        return Measurement(.each(samples))
      }
    }
  }

  /// How GRDB isolates a single read.
  private enum Isolation {
    /// `read`: BEGIN and COMMIT around it.
    case transaction
    /// `unsafeRead`: none beyond SQLite's own, which is enough for one statement.
    case none
  }

  private func contender<Record: TrackRecord>(
    _ name: String, isolation: Isolation,
    lookup: @escaping (Database, Int64) throws -> Record?
  ) -> Contender {
    Contender(library: .grdb, name: name) { directory in
      let path = directory.file("tracks.sqlite")
      try RawConnection.createTracks(Track.generate(count), at: path)
      let queue = try DatabaseQueue.open(path, synchronous: .full)
      let keys = self.keys
      return Session(policy: try queue.policy()) {
        let timing =
          switch (bracket, isolation) {
          case (.transaction, _):
            try queue.read { database in
              try Stopwatch.each(limit: keys.count) { index in
                try Self.require(lookup(database, keys[index]), hasKey: keys[index])
              }
            }
          case (.single, .transaction):
            try Stopwatch.each(limit: keys.count) { index in
              let record = try queue.read { try lookup($0, keys[index]) }
              try Self.require(record, hasKey: keys[index])
            }
          case (.single, .none):
            try Stopwatch.each(limit: keys.count) { index in
              let record = try queue.unsafeRead { try lookup($0, keys[index]) }
              try Self.require(record, hasKey: keys[index])
            }
          }
        return Measurement(timing)
      }
    }
  }
}
