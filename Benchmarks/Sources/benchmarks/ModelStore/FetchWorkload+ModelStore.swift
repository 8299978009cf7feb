import ModelStore

extension FetchTracksWorkload {
  var modelStoreContenders: [Contender] {
    [
      Contender(library: .modelStore, name: "ModelStore") { directory in
        let store = try Store.createTracks(
          Track.generate(count), at: directory.file("tracks.sqlite"), synchronous: .full)
        let query = StoredTrack.all
        return Session(policy: try store.policy()) {
          var tracks: [StoredTrack] = []
          let timing = try Stopwatch.whole(operations: count) { tracks = try store.fetch(query) }
          return Measurement(timing, digest: tracks.digest)
        }
      }
    ]
  }
}

extension FetchItemsWorkload {
  var modelStoreContenders: [Contender] {
    [
      Contender(library: .modelStore, name: "ModelStore") { directory in
        let store = try Store.open(
          directory.file("items.sqlite"), StoredItem.self, synchronous: .full)
        try Self.fill(store, count: count)
        let query = StoredItem.all
        return Session(policy: try store.policy()) {
          var items: [StoredItem] = []
          let timing = try Stopwatch.whole(operations: count) { items = try store.fetch(query) }
          return Measurement(timing, digest: items.digest)
        }
      }
    ]
  }

  private static func fill(_ store: Store, count: Int) throws {
    try store.write { transaction in
      for index in 1...count {
        try transaction.insert(StoredItem(values: TenIntegers.values(at: index)))
      }
    }
    try store.checkpoint()
  }
}
