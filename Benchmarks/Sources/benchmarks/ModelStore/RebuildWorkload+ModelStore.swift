import ModelStore

/// A track with a bound field: the model's first version.
struct BoundTrack: Model {
  var track: StoredTrack
  var seconds: Int64?

  static let definition = ModelDefinition<BoundTrack>(
    "Track", table: "track", key: \.track.id,
    fields: [
      .init("id", \.track.id), .init("title", \.track.title),
      .init("milliseconds", \.track.milliseconds), .init("rating", \.track.rating),
      .init("seconds", \.seconds),
    ])

  var key: Int64 { track.id }

  init(_ track: Track) {
    self.track = StoredTrack(track)
  }

  init(row: borrowing RowView) throws {
    track = try StoredTrack(row: row)
    seconds = try row.decode(at: 4)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try track.encode(to: &arguments)
    try seconds.encode(to: &arguments, at: 4)
  }
}

/// The second version, with a rule.
struct RevisedTrack: Model {
  var bound: BoundTrack

  static let definition = ModelDefinition<RevisedTrack>(
    "Track", table: "track", key: \.bound.track.id,
    fields: [
      .init("id", \.bound.track.id), .init("title", \.bound.track.title),
      .init("milliseconds", \.bound.track.milliseconds, rules: [.range(0...)]),
      .init("rating", \.bound.track.rating), .init("seconds", \.bound.seconds),
    ])

  var key: Int64 { bound.track.id }

  init(row: borrowing RowView) throws {
    bound = try BoundTrack(row: row)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try bound.encode(to: &arguments)
  }
}

extension RebuildWorkload {
  var modelStoreContenders: [Contender] {
    [
      Contender(library: .modelStore, name: "ModelStore, opening with .migrate") { directory in
        let store = try open(try original(in: directory), BoundTrack.self, journal: .full)
        let policy = try store.policy()
        store.close()
        return try session(in: directory, policy: policy) { path in
          let start = Stopwatch.now
          let store = try open(path, RevisedTrack.self, journal: .full)
          let elapsed = Stopwatch.now - start
          store.close()
          return elapsed
        }
      }
    ]
  }

  /// Creates the file of the first version. The journal begins after the records, so that the
  /// file's size is that of the table.
  func makeFile(at path: String) throws {
    let store = try open(path, BoundTrack.self, journal: nil)
    try store.write { tx in
      for track in Track.generate(rowCount) { try tx.insert(BoundTrack(track)) }
    }
    store.close()
    let recorded = try open(path, BoundTrack.self, journal: .full)
    try recorded.checkpoint()
    recorded.close()
  }

  private func open(
    _ path: String, _ model: any Model.Type, journal: JournalDetail?
  ) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.cacheSize = 64 * 1024 * 1024
    configuration.checkpointFrameCount = Int.max
    configuration.schemaChanges = .migrate
    configuration.changeJournal = journal
    return try Store(
      at: path, models: model,
      bindings: [.derive(to: "Track.seconds", from: "milliseconds / 1000")],
      configuration: configuration)
  }
}
