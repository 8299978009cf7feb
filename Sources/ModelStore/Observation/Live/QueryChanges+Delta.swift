// How a delta of a live result becomes an event. Code for any type of element takes long for each
// step, so it does nothing for the parts of an event that are empty, as most are.
extension QueryChanges {
  /// Computes the indices of `delta`.
  ///
  /// - Throws: ``StoreError`` with code `invalidValue` when a record cannot be decoded as
  ///   `Element`.
  /// - Complexity: O(k log n) for k touched rows of n.
  init(_ delta: QueryDelta, schema: ModelSchema) throws {
    let ranks = DeltaRanks(delta)
    let deletions = try Self.deletions(ranks, delta, schema)
    let insertions = try Self.insertions(ranks, delta, schema)
    let updates = try Self.updates(ranks, delta, schema)
    let moves = try Self.moves(ranks, delta, schema)
    let refreshes = try Self.refreshes(ranks, delta, schema)
    self.init(
      oldVersion: delta.old.version, newVersion: delta.new.version, oldCount: delta.old.count,
      newCount: delta.new.count, versions: delta.versions, deletions: deletions,
      insertions: insertions, moves: moves, updates: updates,
      refreshes: refreshes, isInitial: delta.isInitial, isReset: delta.isReset)
  }

  private static func deletions(
    _ ranks: DeltaRanks, _ delta: QueryDelta, _ schema: ModelSchema
  ) throws -> [Deletion] {
    try parts(ranks.deletions) { place in
      let touch = delta.touches[place]
      let reading: SingleRecord<Element> = try touch.row.record(.old, of: schema)
      return Deletion(
        index: ranks.old(at: place), key: reading.key, record: reading.record,
        reason: Reason(touch.after), origin: touch.origin)
    }
  }

  private static func insertions(
    _ ranks: DeltaRanks, _ delta: QueryDelta, _ schema: ModelSchema
  ) throws -> [Insertion] {
    try parts(ranks.insertions) { place in
      let touch = delta.touches[place]
      let reading: SingleRecord<Element> = try touch.row.record(.new, of: schema)
      return Insertion(
        index: ranks.new(at: place), key: reading.key, record: reading.known,
        reason: delta.isInitial ? .record : Reason(touch.before), origin: touch.origin)
    }
  }

  private static func updates(
    _ ranks: DeltaRanks, _ delta: QueryDelta, _ schema: ModelSchema
  ) throws -> [Update] {
    guard !ranks.updates.isEmpty else { return [] }
    // Looked up once, because there may be very many rows.
    let type = ObjectIdentifier(RecordPair<Element>.self)
    return try parts(ranks.updates) { place in
      Update(
        oldIndex: ranks.old(at: place), newIndex: ranks.new(at: place),
        records: try delta.touches[place].row.records(of: schema, as: type))
    }
  }

  private static func moves(
    _ ranks: DeltaRanks, _ delta: QueryDelta, _ schema: ModelSchema
  ) throws -> [Move] {
    guard !ranks.moves.isEmpty else { return [] }
    return try parts(ranks.moves.filter { delta.touches[$0].new?.image != nil }) { place in
      let reading: SingleRecord<Element> = try delta.touches[place].row.record(.new, of: schema)
      return Move(
        oldIndex: ranks.old(at: place), newIndex: ranks.new(at: place), key: reading.key,
        record: reading.known)
    }
  }

  private static func refreshes(
    _ ranks: DeltaRanks, _ delta: QueryDelta, _ schema: ModelSchema
  ) throws -> [Refresh] {
    try parts(ranks.refreshes) { place in
      let reading: SingleRecord<Element> = try delta.touches[place].row.record(.new, of: schema)
      return Refresh(
        oldIndex: ranks.old(at: place), newIndex: ranks.new(at: place), key: reading.key,
        record: reading.known)
    }
  }

  /// Returns what `make` makes of each place, in an array that is filled in place.
  @inline(__always)
  private static func parts<Part>(
    _ places: [Int], _ make: (Int) throws -> Part
  ) rethrows -> [Part] {
    guard !places.isEmpty else { return [] }
    return try Array(unsafeUninitializedCapacity: places.count) { parts, count in
      guard let first = parts.baseAddress else { return }
      for place in places {
        (first + count).initialize(to: try make(place))
        count += 1
      }
    }
  }
}

extension QueryChanges.Reason {
  /// - Parameter standing: The record's standing in the version in which it is not shown.
  fileprivate init(_ standing: QueryDelta.Touch.Standing) {
    self =
      switch standing {
      case .absent: .record
      case .excluded: .filter
      case .admitted: .slid
      }
  }
}
