import ModelStore

extension LookupWorkload {
  var modelStoreContenders: [Contender] {
    let keys = self.keys
    switch bracket {
    case .transaction:
      return [contender("ModelStore") { try inTransaction($0, keys: keys) }]
    case .single:
      return [
        contender("ModelStore") { store in
          try Stopwatch.each(limit: keys.count) { index in
            try Self.require(store.find(StoredTrack.self, keys[index]), hasKey: keys[index])
          }
        },
        contender("ModelStore, async") { store in
          try await inTasks(store, keys: keys)
        },
      ]
    }
  }

  private func contender(
    _ name: String, _ measure: @escaping (Store) async throws -> Measurement.Timing
  ) -> Contender {
    Contender(library: .modelStore, name: name) { directory in
      let store = try Store.createTracks(
        Track.generate(count), at: directory.file("tracks.sqlite"), synchronous: .full)
      return Session(policy: try store.policy()) { Measurement(try await measure(store)) }
    }
  }

  private func inTransaction(_ store: Store, keys: [Int64]) throws -> Measurement.Timing {
    try store.read { transaction in
      try Stopwatch.each(limit: keys.count) { index in
        try Self.require(transaction.find(StoredTrack.self, keys[index]), hasKey: keys[index])
      }
    }
  }

  /// Each lookup is awaited from a task: a hop to a reader's thread and back.
  private func inTasks(_ store: Store, keys: [Int64]) async throws -> Measurement.Timing {
    var samples: [UInt64] = []
    samples.reserveCapacity(keys.count)
    for key in keys {
      let start = Stopwatch.now
      let record = try await store.read { try $0.find(StoredTrack.self, key) }
      samples.append(Stopwatch.now - start)
      try Self.require(record, hasKey: key)
    }
    return .each(samples)
  }
}
