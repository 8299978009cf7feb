import ModelStore

extension OpeningWorkload {
  var modelStoreContenders: [Contender] {
    [
      Contender(library: .modelStore, name: "ModelStore") { directory in
        let store = try Store.open(
          try fixture(in: directory), StoredTrack.self, synchronous: .normal)
        return Session(policy: try store.policy()) {
          let (elapsed, bytes) = try open(store)
          return Measurement(
            .each([elapsed]),
            figures: [
              Measurement.Figure(name: "bytes a row", value: Double(bytes) / Double(rowCount)),
              Measurement.Figure(
                name: "longest commit beside it in ms", value: try longestCommit(store)),
            ])
        }
      }
    ]
  }

  /// A file with an index on the order, which both libraries can open.
  func fixture(in directory: TemporaryDirectory) throws -> String {
    try directory.copy(of: "tracks-\(rowCount)-\(order.rawValue)") {
      try Store.buildTracks(tracks, at: $0, indexing: column)
    }
  }

  /// Opens the query and returns the time and the bytes that it took. The query is released again,
  /// because the next run would share an equal query that is still live.
  private func open(_ store: Store) throws -> (nanoseconds: UInt64, bytes: Int) {
    let start = Stopwatch.now
    let opened = try MemoryUse.of { try live(store) }
    let elapsed = Stopwatch.now - start
    guard opened.value.count == rowCount else {
      throw BenchmarkFailure("The live query has \(opened.value.count) rows.")
    }
    return (elapsed, opened.bytes)
  }

  private func live(_ store: Store) throws -> LiveQuery<StoredTrack> {
    switch order {
    case .integers: try store.liveQuery(StoredTrack.all.order { $0.milliseconds })
    case .texts: try store.liveQuery(StoredTrack.all.order { $0.title })
    }
  }

  /// Returns the longest commit while a live query opens that shares nothing.
  private func longestCommit(_ store: Store) throws -> Double {
    let longest = try BusyWriter.longestCommit {
      try store.write { try $0.set(\StoredTrack.rating, to: .random(in: 0...5), for: 1) }
    } during: {
      _ = try live(store)
    }
    return Double(longest) / 1e6
  }
}
