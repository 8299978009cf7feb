import ModelStore

extension RoutedQueriesWorkload {
  var modelStoreContenders: [Contender] {
    switch target {
    case .one:
      return [
        contender("one live query", queryCount: 1),
        contender("\(queryCount.grouped) live queries", queryCount: queryCount),
      ]
    case .none:
      return [
        contender("no live query", queryCount: 0),
        contender("one live query", queryCount: 1),
        contender("\(queryCount.grouped) live queries", queryCount: queryCount),
      ]
    }
  }

  private func contender(_ name: String, queryCount liveCount: Int) -> Contender {
    Contender(library: .modelStore, name: name) { directory in
      let path = try directory.copy(of: "by-value-\(queryCount)") {
        try Store.buildTracks(tracks, at: $0)
      }
      let store = try Store.open(path, StoredTrack.self, synchronous: .normal)
      let recorder = EventRecorder<QueryChanges<StoredTrack>>()
      let subscriptions = try (0..<liveCount).map { value in
        try store.liveQuery(
          StoredTrack.where { $0.milliseconds == Int64(value) }.order { $0.rating }
        ).observe { recorder.received($0) }
      }
      var generator = SeededGenerator(seed: 0x7_0117)
      return Session(policy: try store.policy()) {
        try withExtendedLifetime(subscriptions) {
          try store.checkpoint()
          return Measurement(
            try Stopwatch.collect(limit: commitCount) { _ in
              var track = tracks[target == .one ? 0 : queryCount]
              track.title = Track.randomTitle(using: &generator)
              return try target == .one
                ? event(of: track, in: store, recorder) : commit(track, to: store)
            })
        }
      }
    }
  }

  /// One row for each value that a query may select, and one that no query selects.
  private var tracks: [Track] {
    var tracks = Track.generate(queryCount + 1)
    for index in tracks.indices { tracks[index].milliseconds = Int64(index) }
    return tracks
  }

  private func event(
    of track: Track, in store: Store, _ recorder: EventRecorder<QueryChanges<StoredTrack>>
  ) throws -> UInt64 {
    try store.write { transaction in
      try transaction.update(StoredTrack(track))
      recorder.committed()
    }
    return try recorder.next { event in
      event.updates.count == 1 && event.updates[0].new.matches(track)
    }.nanoseconds
  }

  private func commit(_ track: Track, to store: Store) throws -> UInt64 {
    let start = Stopwatch.now
    try store.write { try $0.update(StoredTrack(track)) }
    return Stopwatch.now - start
  }
}
