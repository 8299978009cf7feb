import ModelStore

extension Store {
  /// Opens a store with the settings of ``DurabilityPolicy``.
  static func open(
    _ path: String, _ model: any Model.Type, synchronous: DurabilityPolicy.Synchronous,
    journal: JournalDetail? = nil, readers: Int? = nil
  ) throws -> Store {
    var configuration = StoreConfiguration()
    if let readers { configuration.maxReaderCount = readers }
    configuration.durability = synchronous == .full ? .full : .normal
    configuration.cacheSize = 64 * 1024 * 1024
    // As for the others, no commit pays for a checkpoint; contenders checkpoint between runs.
    configuration.checkpointFrameCount = Int.max
    configuration.changeJournal = journal
    return try Store(at: path, models: model, configuration: configuration)
  }

  /// Creates a store with `tracks` in it and returns it with an empty log.
  static func createTracks(
    _ tracks: [Track], at path: String, synchronous: DurabilityPolicy.Synchronous,
    journal: JournalDetail? = nil
  ) throws -> Store {
    let store = try open(path, StoredTrack.self, synchronous: synchronous, journal: journal)
    try store.write { transaction in
      for track in tracks { try transaction.insert(StoredTrack(track)) }
    }
    try store.checkpoint()
    return store
  }

  /// Creates a file with `tracks` for contenders to copy, with an index on the order of the live
  /// queries.
  static func buildTracks(
    _ tracks: [Track], at path: String, indexing column: String = "milliseconds"
  ) throws {
    let store = try createTracks(tracks, at: path, synchronous: .normal)
    store.close()
    let connection = try RawConnection(path: path, synchronous: .normal)
    try connection.execute("CREATE INDEX track_order ON track (\(column))")
    try connection.checkpoint()
  }

  /// Returns the settings of ``DurabilityPolicy`` as read back from the writing connection.
  func policy() throws -> [String: String] {
    try write { transaction in
      var values: [String: String] = [:]
      for (name, _) in DurabilityPolicy(synchronous: .full).pragmas {
        // SQLite treats PRAGMA journal_mode as a statement that writes, even without a new value.
        let question =
          name == "journal_mode"
          ? SQLText(sql: "SELECT * FROM pragma_journal_mode") : SQLText(sql: "PRAGMA \(name)")
        switch try transaction.rows(question).first?.values.first {
        case .text(let text): values[name] = text
        case .integer(let number): values[name] = String(number)
        default:
          throw BenchmarkFailure("ModelStore's connection returns no value for PRAGMA \(name).")
        }
      }
      return values
    }
  }
}
