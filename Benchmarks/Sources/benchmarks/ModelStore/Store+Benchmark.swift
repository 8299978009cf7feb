import ModelStore

extension Store {
  /// Opens a store under the settings of ``DurabilityPolicy``.
  static func open(
    _ path: String, _ model: any Model.Type, synchronous: DurabilityPolicy.Synchronous
  ) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.durability = synchronous == .full ? .full : .normal
    configuration.cacheSize = 64 * 1024 * 1024
    // As for the others, no commit pays for a checkpoint; contenders checkpoint between runs.
    configuration.checkpointFrameCount = Int.max
    return try Store(at: path, models: model, configuration: configuration)
  }

  /// Creates a store with `tracks` in it and hands it over with an empty log.
  static func createTracks(
    _ tracks: [Track], at path: String, synchronous: DurabilityPolicy.Synchronous
  ) throws -> Store {
    let store = try open(path, StoredTrack.self, synchronous: synchronous)
    try store.write { transaction in
      for track in tracks { try transaction.insert(StoredTrack(track)) }
    }
    try store.checkpoint()
    return store
  }

  /// The settings of ``DurabilityPolicy`` as the writing connection answers them.
  func policy() throws -> [String: String] {
    try write { transaction in
      var values: [String: String] = [:]
      for (name, _) in DurabilityPolicy(synchronous: .full).pragmas {
        // SQLite counts PRAGMA journal_mode among the statements that write, even when it asks.
        let question =
          name == "journal_mode"
          ? SQLText(sql: "SELECT * FROM pragma_journal_mode") : SQLText(sql: "PRAGMA \(name)")
        switch try transaction.rows(question).first?.values.first {
        case .text(let text): values[name] = text
        case .integer(let number): values[name] = String(number)
        default: throw BenchmarkFailure("ModelStore's connection does not answer PRAGMA \(name).")
        }
      }
      return values
    }
  }
}
