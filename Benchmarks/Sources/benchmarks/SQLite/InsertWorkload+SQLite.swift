extension InsertWorkload {
  func sqliteContenders(_ tracks: [Track]) -> [Contender] {
    [
      Contender(library: .sqlite, name: "SQLite C API") { directory in
        let files = RunFiles(in: directory)
        let policy = try RawConnection(path: files.next(), synchronous: .full).policy()
        return Session(policy: policy) {
          let connection = try RawConnection(path: files.next(), synchronous: .full)
          try connection.execute(Track.createTable)
          let timing = try Stopwatch.whole(operations: tracks.count) {
            try connection.insert(tracks)
          }
          return Measurement(timing, digest: try connection.storedDigest())
        }
      }
    ]
  }
}

extension RawConnection {
  /// The digest of every stored track, in key order.
  func storedDigest() throws -> Int64 {
    try prepare(Track.selectAll).all(self) { $0.track }.digest
  }
}
