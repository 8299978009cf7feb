internal import RawSQLite

extension ReaderScalingWorkload {
  var sqliteContenders: [Contender] {
    [
      Contender(library: .sqlite, name: "SQLite C API, a connection each") { directory in
        let path = directory.file("tracks.sqlite")
        try RawConnection.createTracks(Track.generate(count), at: path)
        let writer = try UpdatingConnection(path: path)
        let readers = try (0..<threadCount).map { _ in try ReadingConnection(path: path) }
        let keys = self.keys
        let rows = SharedRows(count: count)
        return Session(policy: try writer.connection.policy()) {
          try writer.connection.checkpoint()
          return try measure(rows, keys: keys) { thread, key in
            try readers[thread].find(key)
          } update: { track in
            try writer.commit(track)
          }
        }
      }
    ]
  }
}

/// A connection that finds tracks by key.
private final class ReadingConnection: @unchecked Sendable {
  // Guard: one thread at a time uses it, the one with its number.
  private let connection: RawConnection
  private let select: RawStatement

  init(path: String) throws {
    connection = try RawConnection(path: path, synchronous: .normal)
    select = try connection.prepare(Track.selectByKey)
  }

  func find(_ key: Int64) throws -> Track? {
    sqlite3_bind_int64(select.handle, 1, key)
    try connection.check(sqlite3_step(select.handle), is: SQLITE_ROW)
    let track = select.track
    sqlite3_reset(select.handle)
    return track
  }
}

/// A connection that commits one track at a time.
private final class UpdatingConnection: @unchecked Sendable {
  // Guard: the writer's thread alone uses it during a run, and no other thread between runs.
  let connection: RawConnection
  private let begin, update, end: RawStatement

  init(path: String) throws {
    connection = try RawConnection(path: path, synchronous: .normal)
    begin = try connection.prepare("BEGIN IMMEDIATE")
    update = try connection.prepare(Track.update)
    end = try connection.prepare("COMMIT")
  }

  func commit(_ track: Track) throws {
    try connection.run(begin)
    sqlite3_bind_int64(update.handle, 2, track.milliseconds)
    sqlite3_bind_double(update.handle, 3, track.rating)
    sqlite3_bind_int64(update.handle, 4, track.id)
    try update.lend(track.title, at: 1) { try connection.run(update) }
    try connection.run(end)
  }
}
