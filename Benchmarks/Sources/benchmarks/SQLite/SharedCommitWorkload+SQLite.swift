internal import RawSQLite
internal import Synchronization

extension SharedCommitWorkload {
  /// A thread for each task and one connection behind a lock. SQLite has one writer at a time, so
  /// more connections would only wait for each other.
  var sqliteContenders: [Contender] {
    [
      Contender(library: .sqlite, name: "SQLite C API, threads, a lock") { directory in
        let path = directory.file("tracks.sqlite")
        try RawConnection.createTracks([], at: path)
        let policy = try RawConnection(path: path, synchronous: synchronous).policy()
        let writer = try LockedWriter(path: path, synchronous: synchronous)
        var number = 0
        return Session(policy: policy) {
          defer { number += 1 }
          let parts = self.parts(ofRun: number)
          try writer.checkpoint()
          let outcome = try ConcurrentThreads.run(taskCount) { thread in
            try parts[thread].map { track in
              let start = Stopwatch.now
              try writer.commit(track)
              return Stopwatch.now - start
            }
          }
          return try measurement(
            outcome, run: number, at: path, commits: LogFile.commitCount(of: path),
            figures: [
              Measurement.Figure(
                name: "µs of one sync here", value: try SyncCost.measure(in: directory) / 1000)
            ])
        }
      }
    ]
  }
}

/// One connection that several threads use in turn.
private final class LockedWriter: @unchecked Sendable {
  // Guard: `turn`, which is held while the connection or a statement is used.
  private let turn = Mutex(())
  private let connection: RawConnection
  private let begin, insert, end: RawStatement

  init(path: String, synchronous: DurabilityPolicy.Synchronous) throws {
    connection = try RawConnection(path: path, synchronous: synchronous)
    begin = try connection.prepare("BEGIN IMMEDIATE")
    insert = try connection.prepare(Track.insert)
    end = try connection.prepare("COMMIT")
  }

  func checkpoint() throws {
    try turn.withLock { _ in try connection.checkpoint() }
  }

  func commit(_ track: Track) throws {
    try turn.withLock { _ in
      try connection.run(begin)
      sqlite3_bind_int64(insert.handle, 1, track.id)
      sqlite3_bind_int64(insert.handle, 3, track.milliseconds)
      sqlite3_bind_double(insert.handle, 4, track.rating)
      try insert.lend(track.title, at: 2) { try connection.run(insert) }
      try connection.run(end)
    }
  }
}

extension RawConnection {
  /// The digest of the stored tracks whose keys are above `first`, in key order, with their keys
  /// counted from there.
  func storedDigest(after first: Int64) throws -> Int64 {
    let select = try prepare(
      """
      SELECT id - \(first), title, milliseconds, rating
      FROM track
      WHERE id > \(first)
      ORDER BY id
      """)
    return try select.all(self) { $0.track }.digest
  }
}
