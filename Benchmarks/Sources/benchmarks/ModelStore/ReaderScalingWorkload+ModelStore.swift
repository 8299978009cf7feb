import ModelStore

extension ReaderScalingWorkload {
  /// A store with its usual number of readers, and with one for each thread.
  var modelStoreContenders: [Contender] {
    let usual = StoreConfiguration().maxReaderCount
    guard threadCount > usual else { return [contender("ModelStore", readers: usual)] }
    return [
      contender("ModelStore", readers: usual),
      contender("ModelStore, \(threadCount) readers", readers: threadCount),
    ]
  }

  private func contender(_ name: String, readers: Int) -> Contender {
    Contender(library: .modelStore, name: name) { directory in
      let path = directory.file("tracks.sqlite")
      try Store.createTracks(Track.generate(count), at: path, synchronous: .normal).close()
      let store = try Store.open(path, StoredTrack.self, synchronous: .normal, readers: readers)
      let keys = self.keys
      let rows = SharedRows(count: count)
      return Session(policy: try store.policy()) {
        try store.checkpoint()
        return try measure(rows, keys: keys) { _, key in
          try store.find(StoredTrack.self, key)
        } update: { track in
          try store.write { try $0.update(StoredTrack(track)) }
        }
      }
    }
  }
}
