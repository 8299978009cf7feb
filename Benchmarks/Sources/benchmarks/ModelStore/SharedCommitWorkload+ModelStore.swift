import ModelStore

extension SharedCommitWorkload {
  var modelStoreContenders: [Contender] {
    [
      contender("ModelStore") { _ in nil },
      // Each of the transactions has an event of its own.
      contender("ModelStore, observed") { store in
        try store.observe(StoredTrack.self) { _ in }
      },
      contender("ModelStore, change journal", journal: .full) { _ in nil },
    ]
  }

  private func contender(
    _ name: String, journal: JournalDetail? = nil,
    observing observe: @escaping (Store) throws -> ObservationToken?
  ) -> Contender {
    Contender(library: .modelStore, name: name) { directory in
      let path = directory.file("tracks.sqlite")
      // The record that a commit before each run updates; its key is below all others.
      let first = Track(id: 0, title: "", milliseconds: 0, rating: 0)
      let store = try Store.createTracks(
        [first], at: path, synchronous: synchronous, journal: journal)
      let subscription = try observe(store)
      let outside = try RawConnection(path: path, synchronous: synchronous)
      var number = 0
      return Session(policy: try store.policy()) {
        defer { number += 1 }
        // As in W5: the log is emptied from outside, and one commit detects the other writer.
        try outside.checkpoint()
        let turn = Int64(number + 1)
        try await store.write { tx in
          _ = try tx.set(\StoredTrack.milliseconds, to: turn, for: 0)
        }
        let before = try LogFile.commitCount(of: path)
        let outcome = try await Self.inTasks(parts(ofRun: number)) { track in
          try await store.write { tx in
            _ = try tx.insert(StoredTrack(track))
          }
        }
        withExtendedLifetime(subscription) {}
        return try measurement(
          outcome, run: number, at: path, commits: LogFile.commitCount(of: path) - before)
      }
    }
  }
}
