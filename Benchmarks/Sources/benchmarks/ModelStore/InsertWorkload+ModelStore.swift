import ModelStore

extension InsertWorkload {
  func modelStoreContenders(_ tracks: [Track]) -> [Contender] {
    [
      Contender(library: .modelStore, name: "ModelStore") { directory in
        let files = RunFiles(in: directory)
        return Session(policy: try Self.policy(at: files.next())) {
          let path = try files.next()
          return Measurement(
            try Self.insert(tracks, at: path),
            digest: try RawConnection(path: path, synchronous: .full).storedDigest())
        }
      }
    ]
  }

  private static func policy(at path: String) throws -> [String: String] {
    let store = try Store.open(path, StoredTrack.self, synchronous: .full)
    defer { store.close() }
    return try store.policy()
  }

  private static func insert(_ tracks: [Track], at path: String) throws -> Measurement.Timing {
    let store = try Store.open(path, StoredTrack.self, synchronous: .full)
    defer { store.close() }
    return try Stopwatch.whole(operations: tracks.count) {
      try store.write { transaction in
        for track in tracks { try transaction.insert(StoredTrack(track)) }
      }
    }
  }
}
