import ModelStore

extension LongListWorkload {
  var modelStoreContenders: [Contender] {
    [
      Contender(library: .modelStore, name: "ModelStore") { directory in
        let store = try makeStore(at: directory.file("list.sqlite"))
        var generator = SeededGenerator(seed: 0x10_115)
        return Session(policy: try store.policy()) {
          try store.checkpoint()
          var number = 0
          let timing = try Stopwatch.collect(limit: editCount) { _ in
            let edit = Edit.allCases[number % Edit.allCases.count]
            number += 1
            let start = Stopwatch.now
            try store.write { try apply(edit, in: $0, using: &generator) }
            return Stopwatch.now - start
          }
          return Measurement(
            timing, figures: [try rowsWritten(by: store, using: &generator)])
        }
      }
    ]
  }

  private func makeStore(at path: String) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.durability = .normal
    configuration.cacheSize = 64 * 1024 * 1024
    configuration.checkpointFrameCount = Int.max
    let store = try Store(
      at: path, models: StoredTrack.self, StoredMix.self, configuration: configuration)
    try store.write { transaction in
      for track in Track.generate(Self.elementCount) {
        try transaction.insert(StoredTrack(track))
      }
      try transaction.insert(StoredMix(id: 1))
      try transaction.list(\StoredMix.tracks, of: 1)
        .append(contentsOf: (0..<slotCount).map(element))
    }
    return store
  }

  private func apply(
    _ edit: Edit, in transaction: borrowing WriteTransaction,
    using generator: inout SeededGenerator
  ) throws {
    let list = try transaction.list(\StoredMix.tracks, of: 1)
    let place = Int.random(in: 0..<slotCount, using: &generator)
    switch edit {
    case .insert: try list.insert(element(at: place), at: place)
    case .move: try list.move(from: place, to: Int.random(in: 0..<slotCount, using: &generator))
    case .remove: try list.remove(at: place)
    }
  }

  /// Returns how many slots a move changes, measured with a thousand untimed moves.
  private func rowsWritten(
    by store: Store, using generator: inout SeededGenerator
  ) throws -> Measurement.Figure {
    let moveCount = 1_000
    var total = 0
    for _ in 0..<moveCount {
      total += try store.writeReturningChanges { try apply(.move, in: $0, using: &generator) }
        .changes.changes.count
    }
    return Measurement.Figure(
      name: "rows written a move", value: Double(total) / Double(moveCount))
  }
}

/// A record with an ordered list.
struct StoredMix: Model {
  var id: Int64
  var tracks = OrderedList<StoredTrack>()

  static let definition = ModelDefinition<StoredMix>(
    "Mix", table: "mix", key: \.id, fields: [.init("id", \.id)],
    lists: [.init("tracks", \.tracks)])

  var key: Int64 { id }

  init(id: Int64) {
    self.id = id
  }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
  }
}
