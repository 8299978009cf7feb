import ModelStore

extension WindowWorkload {
  var modelStoreContenders: [Contender] {
    [
      Contender(library: .modelStore, name: "ModelStore, COMMIT included") { directory in
        var tracks = self.tracks
        let store = try Store.open(
          try fixture(of: tracks, in: directory), StoredTrack.self, synchronous: .normal)
        let recorder = EventRecorder<QueryChanges<StoredTrack>>()
        let query = StoredTrack.all.order { $0.milliseconds }
        // SQLite's page caches fill with the first window; they belong to the connections.
        _ = try store.liveQuery(query.limit(limit, offset: offset + 1))
        let opened = try MemoryUse.of {
          try store.liveQuery(query.limit(limit, offset: offset)).observe { recorder.received($0) }
        }
        let bytes = Measurement.Figure(name: "bytes of the window", value: Double(opened.bytes))
        var number = 0
        return Session(policy: try store.policy()) {
          try withExtendedLifetime(opened.value) {
            try store.checkpoint()
            return Measurement(
              try Stopwatch.collect(limit: updateCount) { _ in
                let step = update(number, of: &tracks)
                number += 1
                try store.write { transaction in
                  try transaction.update(StoredTrack(step.track))
                  recorder.committed()
                }
                return try recorder.next { event in
                  step.slides
                    ? event.deletions.count == 1 && event.insertions.count == 1
                    : event.updates.count == 1 && event.updates[0].new.matches(step.track)
                }.nanoseconds
              }, figures: [bytes])
          }
        }
      }
    ]
  }

  /// A file with an index on the order, which both libraries can open.
  func fixture(of tracks: [Track], in directory: TemporaryDirectory) throws -> String {
    try directory.copy(of: "window-\(rowCount)") { try Store.buildTracks(tracks, at: $0) }
  }
}
