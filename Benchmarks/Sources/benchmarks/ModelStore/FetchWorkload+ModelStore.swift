import ModelStore

extension FetchTracksWorkload {
  var modelStoreContenders: [Contender] {
    [
      contender("ModelStore", StoredTrack.self),
      contender("ModelStore, Codable", CodedTrack.self),
    ]
  }

  private func contender<Record: Model & TrackRecord>(
    _ name: String, _ model: Record.Type
  ) -> Contender {
    Contender(library: .modelStore, name: name) { directory in
      let path = directory.file("tracks.sqlite")
      try Store.createTracks(Track.generate(count), at: path, synchronous: .full).close()
      let store = try Store.open(path, model, synchronous: .full)
      let query = Record.all
      return Session(policy: try store.policy()) {
        var tracks: [Record] = []
        let timing = try Stopwatch.whole(operations: count) { tracks = try store.fetch(query) }
        return Measurement(timing, digest: tracks.digest)
      }
    }
  }
}

extension FetchItemsWorkload {
  var modelStoreContenders: [Contender] {
    [
      contender("ModelStore", StoredItem.self),
      contender("ModelStore, Codable", CodedItem.self),
    ]
  }

  private func contender<Record: Model & TenIntegersRecord>(
    _ name: String, _ model: Record.Type
  ) -> Contender {
    Contender(library: .modelStore, name: name) { directory in
      let path = directory.file("items.sqlite")
      try fill(path)
      let store = try Store.open(path, model, synchronous: .full)
      let query = Record.all
      return Session(policy: try store.policy()) {
        var items: [Record] = []
        let timing = try Stopwatch.whole(operations: count) { items = try store.fetch(query) }
        return Measurement(timing, digest: items.digest)
      }
    }
  }

  private func fill(_ path: String) throws {
    let store = try Store.open(path, StoredItem.self, synchronous: .full)
    defer { store.close() }
    try store.write { transaction in
      for index in 1...count {
        try transaction.insert(StoredItem(values: TenIntegers.values(at: index)))
      }
    }
    try store.checkpoint()
  }
}
