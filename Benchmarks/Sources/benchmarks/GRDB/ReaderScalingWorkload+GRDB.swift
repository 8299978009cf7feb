import GRDB

extension ReaderScalingWorkload {
  /// GRDB's pool with its usual number of readers, and with one for each thread.
  var grdbContenders: [Contender] {
    let usual = [
      contender("GRDB, pool, read", readers: Self.usualReaderCount) { pool, key in
        try pool.read { try Self.find(key, in: $0) }
      },
      contender("GRDB, pool, unsafeRead", readers: Self.usualReaderCount) { pool, key in
        try pool.unsafeRead { try Self.find(key, in: $0) }
      },
    ]
    guard threadCount > Self.usualReaderCount else { return usual }
    return usual + [
      contender("GRDB, pool of \(threadCount), unsafeRead", readers: threadCount) { pool, key in
        try pool.unsafeRead { try Self.find(key, in: $0) }
      }
    ]
  }

  private static let usualReaderCount = Configuration().maximumReaderCount

  private static func find(_ key: Int64, in database: Database) throws -> PositionalTrack? {
    let select = try database.cachedStatement(sql: Track.selectByKey)
    return try PositionalTrack.fetchOne(select, arguments: [key])
  }

  private func contender(
    _ name: String, readers: Int,
    find: @escaping @Sendable (DatabasePool, Int64) throws -> PositionalTrack?
  ) -> Contender {
    Contender(library: .grdb, name: name) { directory in
      let path = directory.file("tracks.sqlite")
      try RawConnection.createTracks(Track.generate(count), at: path)
      let pool = try DatabasePool.open(path, synchronous: .normal, readers: readers)
      let keys = self.keys
      let rows = SharedRows(count: count)
      return Session(policy: try pool.policy()) {
        try pool.emptyLog()
        return try measure(rows, keys: keys) { _, key in
          try find(pool, key)
        } update: { track in
          try pool.write { database in
            let update = try database.cachedStatement(sql: Track.update)
            update.setUncheckedArguments([track.title, track.milliseconds, track.rating, track.id])
            try update.execute()
          }
        }
      }
    }
  }
}
