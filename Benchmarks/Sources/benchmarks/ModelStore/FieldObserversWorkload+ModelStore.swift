import ModelStore
import Synchronization

extension FieldObserversWorkload {
  var modelStoreContenders: [Contender] {
    let crowd = contender("\(observerCount.grouped) observers", observerCount: observerCount)
    switch batch {
    case .one: return [contender("one observer", observerCount: 1), crowd]
    case .many:
      return [
        contender("no observer", observerCount: 0), contender("one observer", observerCount: 1),
        crowd,
      ]
    }
  }

  private func contender(_ name: String, observerCount heldCount: Int) -> Contender {
    Contender(library: .modelStore, name: name) { directory in
      let tracks = Track.generate(observerCount)
      let path = try directory.copy(of: "observed-\(observerCount)") {
        try Store.buildTracks(tracks, at: $0)
      }
      let store = try Store.open(path, StoredTrack.self, synchronous: .normal)
      let recorder = EventRecorder<FieldEvent<String>>()
      let count = Atomic(0)
      let held = try MemoryUse.of {
        try (0..<heldCount).map { index in
          try store.observe(\StoredTrack.title, of: Int64(index + 1)) { change in
            if batch == .one { recorder.received(change) } else { count.add(1, ordering: .relaxed) }
          }
        }
      }
      let bytes = Measurement.Figure(
        name: "bytes an observer", value: Double(held.bytes) / Double(max(heldCount, 1)))
      var generator = SeededGenerator(seed: 0x8_0B5E)
      return Session(policy: try store.policy()) {
        try withExtendedLifetime(held.value) {
          try store.checkpoint()
          var first = 0
          let timing = try Stopwatch.collect(limit: commitCount) { _ in
            var changed: [Track] = []
            for index in first..<first + rowCount {
              var track = tracks[index % max(1, heldCount == 1 ? rowCount : observerCount)]
              track.title = Track.randomTitle(using: &generator)
              changed.append(track)
            }
            first = (first + rowCount) % observerCount
            if batch == .one { return try event(of: changed[0], in: store, recorder) }
            let start = Stopwatch.now
            try store.write { transaction in
              for track in changed { try transaction.update(StoredTrack(track)) }
            }
            let elapsed = Stopwatch.now - start
            // Delivery is work of the subscribers' thread, and must not count for the next commit.
            store.waitForDelivery()
            return elapsed / UInt64(rowCount)
          }
          return Measurement(timing, figures: heldCount > 1 ? [bytes] : [])
        }
      }
    }
  }

  private func event(
    of track: Track, in store: Store, _ recorder: EventRecorder<FieldEvent<String>>
  ) throws -> UInt64 {
    try store.write { transaction in
      try transaction.update(StoredTrack(track))
      recorder.committed()
    }
    return try recorder.next { $0.new == track.title }.nanoseconds
  }
}
