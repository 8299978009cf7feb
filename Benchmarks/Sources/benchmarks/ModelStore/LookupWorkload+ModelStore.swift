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
          try await inTasks(keys: keys) { try await store.find(StoredTrack.self, $0) }
        },
        contender("ModelStore, async closure") { store in
          try await inTasks(keys: keys) { key in
            try await store.read { try $0.find(StoredTrack.self, key) }
          }
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

  /// Each lookup is awaited from a task.
  private func inTasks(
    keys: [Int64], _ find: (Int64) async throws -> StoredTrack?
  ) async throws -> Measurement.Timing {
    var samples: [UInt64] = []
    samples.reserveCapacity(keys.count)
    for key in keys {
      let start = Stopwatch.now
      let record = try await find(key)
      samples.append(Stopwatch.now - start)
      try Self.require(record, hasKey: key)
    }
    return .each(samples)
  }
}
