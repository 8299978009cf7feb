import ModelStore

extension ForeignCommitWorkload {
  var modelStoreContenders: [Contender] {
    [
      contender("second process, after COMMIT", by: .benchmarks, from: .commitReturned),
      contender(
        "the same, \(Self.manyModels + 1) models, \(Self.manyBindings) bindings", by: .benchmarks,
        from: .commitReturned, otherModelCount: Self.manyModels),
      contender("second process, COMMIT included", by: .benchmarks, from: .commitAsked),
      contender("sqlite3 shell, COMMIT included", by: .shell, from: .commitAsked),
    ]
  }

  /// The models and bindings of a larger program, of which the commits concern none but one model.
  private static let manyModels = 28
  private static let manyBindings = 22

  /// When the clock starts.
  private enum Start {
    /// When the other process is asked to commit, through a pipe. Its wake-up and the disk count.
    case commitAsked
    /// When COMMIT has returned in the other process.
    case commitReturned
  }

  private func contender(
    _ name: String, by program: ForeignWriter.Program, from start: Start, otherModelCount: Int = 0
  ) -> Contender {
    Contender(library: .modelStore, name: name) { directory in
      let tracks = Track.generate(rowCount)
      let path = try directory.copy(of: "foreign") { try Store.buildTracks(tracks, at: $0) }
      let store = try open(path, NumberedItems.types(otherModelCount))
      let policy = try store.policy()
      let recorder = EventRecorder<FieldEvent<String>>()
      let subscription = try store.observe(\StoredTrack.title, of: 1) { recorder.received($0) }
      let writer = try ForeignWriter(program, path: path)
      var generator = SeededGenerator(seed: 0x13_F0E1)
      return Session(policy: policy) {
        try withExtendedLifetime(subscription) {
          try store.checkpoint()
          let timing = try Stopwatch.collect(limit: commitCount, budget: budget) { _ in
            let title = Track.randomTitle(using: &generator)
            _ = try writer.run("BEGIN IMMEDIATE")
            _ = try writer.run("UPDATE track SET title = '\(title)' WHERE id = 1")
            let asked = Stopwatch.now
            let returned = try writer.run("COMMIT")
            let event = try recorder.next { $0.new == title }
            let started = start == .commitAsked ? asked : returned ?? asked
            // The event can arrive before the other process continues.
            return event.time > started ? event.time - started : 0
          }
          return Measurement(timing)
        }
      }
    }
  }

  private func open(_ path: String, _ others: [any NumberedModel.Type]) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.cacheSize = 64 * 1024 * 1024
    configuration.checkpointFrameCount = Int.max
    return try Store(
      at: path, models: [StoredTrack.self] + others,
      bindings: others.prefix(Self.manyBindings).map { $0.binding }, configuration: configuration)
  }
}
