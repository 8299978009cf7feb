import ModelStore

extension InsertWorkload {
  func modelStoreContenders(_ tracks: [Track]) -> [Contender] {
    [
      contender("ModelStore", tracks, journal: nil) { StoredTrack($0) },
      contender("ModelStore, Codable", tracks, journal: nil) { CodedTrack($0) },
      contender("ModelStore, change journal", tracks, journal: .full) { StoredTrack($0) },
      contender("ModelStore, journal of keys", tracks, journal: .keys) { StoredTrack($0) },
    ]
  }

  private func contender<Record: Model>(
    _ name: String, _ tracks: [Track], journal: JournalDetail?,
    record: @escaping (Track) -> Record
  ) -> Contender {
    Contender(library: .modelStore, name: name) { directory in
      let files = RunFiles(in: directory)
      return Session(policy: try Self.policy(at: files.next())) {
        let path = try files.next()
        return Measurement(
          try Self.insert(tracks, at: path, journal: journal, record: record),
          digest: try RawConnection(path: path, synchronous: .full).storedDigest())
      }
    }
  }

  private static func policy(at path: String) throws -> [String: String] {
    let store = try Store.open(path, StoredTrack.self, synchronous: .full)
    defer { store.close() }
    return try store.policy()
  }

  private static func insert<Record: Model>(
    _ tracks: [Track], at path: String, journal: JournalDetail?, record: (Track) -> Record
  ) throws -> Measurement.Timing {
    let store = try Store.open(path, Record.self, synchronous: .full, journal: journal)
    defer { store.close() }
    return try Stopwatch.whole(operations: tracks.count) {
      try store.write { transaction in
        for track in tracks { try transaction.insert(record(track)) }
      }
    }
  }
}
