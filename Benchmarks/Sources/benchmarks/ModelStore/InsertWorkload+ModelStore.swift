import ModelStore

extension InsertWorkload {
  func modelStoreContenders(_ tracks: [Track]) -> [Contender] {
    [
      contender("ModelStore", StoredTrack.self, tracks) { try Self.insert($1, with: $0) },
      contender("ModelStore, insert(contentsOf:)", StoredTrack.self, tracks) { tx, tracks in
        try tx.insert(contentsOf: tracks.lazy.map { StoredTrack($0) })
      },
      contender("ModelStore, Codable", CodedTrack.self, tracks) { tx, tracks in
        for track in tracks { try tx.insert(CodedTrack(track)) }
      },
      contender("ModelStore, change journal", StoredTrack.self, tracks, journal: .full) {
        try Self.insert($1, with: $0)
      },
      contender(
        "ModelStore, insert(contentsOf:), change journal", StoredTrack.self, tracks, journal: .full
      ) { tx, tracks in
        try tx.insert(contentsOf: tracks.lazy.map { StoredTrack($0) })
      },
      contender("ModelStore, journal of keys", StoredTrack.self, tracks, journal: .keys) {
        try Self.insert($1, with: $0)
      },
    ]
  }

  private static func insert(_ tracks: [Track], with tx: borrowing WriteTransaction) throws {
    for track in tracks { try tx.insert(StoredTrack(track)) }
  }

  /// - Parameter insert: Inserts the tracks; timed with the transaction around it.
  private func contender(
    _ name: String, _ model: any Model.Type, _ tracks: [Track], journal: JournalDetail? = nil,
    insert: @escaping (borrowing WriteTransaction, [Track]) throws -> Void
  ) -> Contender {
    Contender(library: .modelStore, name: name) { directory in
      let files = RunFiles(in: directory)
      return Session(policy: try Self.policy(at: files.next())) {
        let path = try files.next()
        let timing = try Self.timing(tracks.count, path, model, journal) { try insert($0, tracks) }
        return Measurement(
          timing, digest: try RawConnection(path: path, synchronous: .full).storedDigest())
      }
    }
  }

  private static func timing(
    _ count: Int, _ path: String, _ model: any Model.Type, _ journal: JournalDetail?,
    _ body: (borrowing WriteTransaction) throws -> Void
  ) throws -> Measurement.Timing {
    let store = try Store.open(path, model, synchronous: .full, journal: journal)
    defer { store.close() }
    return try Stopwatch.whole(operations: count) { try store.write(body) }
  }

  private static func policy(at path: String) throws -> [String: String] {
    let store = try Store.open(path, StoredTrack.self, synchronous: .full)
    defer { store.close() }
    return try store.policy()
  }
}
