import ModelStore

extension InsertWorkload {
  func modelStoreContenders(_ tracks: [Track]) -> [Contender] {
    [
      contender("ModelStore", tracks, journal: nil),
      contender("ModelStore, change journal", tracks, journal: .full),
      contender("ModelStore, journal of keys", tracks, journal: .keys),
    ]
  }

  private func contender(
    _ name: String, _ tracks: [Track], journal: JournalDetail?
  ) -> Contender {
    Contender(library: .modelStore, name: name) { directory in
      let files = RunFiles(in: directory)
      return Session(policy: try Self.policy(at: files.next())) {
        let path = try files.next()
        return Measurement(
          try Self.insert(tracks, at: path, journal: journal),
          digest: try RawConnection(path: path, synchronous: .full).storedDigest())
      }
    }
  }

  private static func policy(at path: String) throws -> [String: String] {
    let store = try Store.open(path, StoredTrack.self, synchronous: .full)
    defer { store.close() }
    return try store.policy()
  }

  private static func insert(
    _ tracks: [Track], at path: String, journal: JournalDetail?
  ) throws -> Measurement.Timing {
    let store = try Store.open(path, StoredTrack.self, synchronous: .full, journal: journal)
    defer { store.close() }
    return try Stopwatch.whole(operations: tracks.count) {
      try store.write { transaction in
        for track in tracks { try transaction.insert(StoredTrack(track)) }
      }
    }
  }
}
