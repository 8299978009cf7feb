import ModelStore

extension CommitWorkload {
  var modelStoreContenders: [Contender] {
    [
      contender("ModelStore") { _ in nil },
      // All the work of a commit for an observer: old image, new image, delivery.
      contender("ModelStore, observed") { store in
        try store.observe(StoredTrack.self) { _ in }
      },
      contender("ModelStore, change journal", journal: .full) { _ in nil },
    ]
  }

  /// - Parameter observe: Prepares the store. The contender keeps the token that it returns.
  func contender(
    _ name: String, journal: JournalDetail? = nil,
    observing observe: @escaping (Store) throws -> ObservationToken?
  ) -> Contender {
    Contender(library: .modelStore, name: name) { directory in
      let path = directory.file("tracks.sqlite")
      let store = try Store.createTracks(
        Track.generate(count), at: path, synchronous: synchronous, journal: journal)
      let subscription = try observe(store)
      let outside = try RawConnection(path: path, synchronous: synchronous)
      var rows = RowSource(count: count)
      return Session(policy: try store.policy()) {
        try withExtendedLifetime(subscription) {
          // The store's own checkpoint keeps the log's length on disk, and overwriting a log is
          // cheaper than growing it. So the log is emptied from outside, as for the others. The
          // store then detects another writer, so one commit runs before the timed ones.
          try outside.checkpoint()
          try Self.commit(rows.next(), to: store)
          let timing = try Stopwatch.collect(limit: commitCount) { _ in
            let track = rows.next()
            let start = Stopwatch.now
            try Self.commit(track, to: store)
            return Stopwatch.now - start
          }
          let measurement = Measurement(timing)
          try Self.requireLogged(commits: measurement.samples.count, at: path)
          return measurement
        }
      }
    }
  }

  private static func commit(_ track: Track, to store: Store) throws {
    try store.write { try $0.update(StoredTrack(track)) }
  }
}
