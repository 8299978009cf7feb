/// The ranks of a delta's touched rows in both results, and what happened to each row. This is the
/// part of an event that does not depend on how records are decoded.
struct DeltaRanks {
  private let rows: [CanonicalMoves.Row]
  /// Positions among the touches, by ascending index in the old result.
  let deletions: [Int]
  /// Positions among the touches, by ascending index in the new result.
  let insertions: [Int]
  /// Positions among the touches, by ascending index in the new result. These rows are in both
  /// results, and at least one field differs.
  let updates: [Int]
  /// Positions among the touches, by ascending index in the new result.
  let moves: [Int]

  /// - Complexity: O(k log n) for k touched rows of n.
  init(_ delta: QueryDelta) {
    let (old, new, touches) = (delta.old, delta.new, delta.touches)
    var rows: [CanonicalMoves.Row] = []
    rows.reserveCapacity(touches.count)
    var (deletions, insertions, updates): ([Int], [Int], [Int]) = ([], [], [])
    // If every touched row kept its rank, so did all other rows.
    let areInPlace = touches.indices.allSatisfy { touches[$0].isInPlace }
    for place in touches.indices {
      let oldRank = (touches[place].old?.entry).map { old.index(of: $0) }
      let newRank = areInPlace ? oldRank : (touches[place].new?.entry).map { new.index(of: $0) }
      rows.append(
        CanonicalMoves.Row(
          oldRank: oldRank, newRank: newRank,
          sortKeyChanged: !areInPlace && !touches[place].isInPlace))
      switch (oldRank, newRank) {
      case (.some, nil): deletions.append(place)
      case (nil, .some): if touches[place].new?.image != nil { insertions.append(place) }
      case (.some, .some): if touches[place].isUpdate { updates.append(place) }
      case (nil, nil): continue
      }
    }
    self.rows = rows
    self.deletions = Self.sorted(deletions) { rows[$0].oldRank ?? 0 }
    self.insertions = Self.sorted(insertions) { rows[$0].newRank ?? 0 }
    self.updates = Self.sorted(updates) { rows[$0].newRank ?? 0 }
    moves = areInPlace ? [] : CanonicalMoves.offsets(in: rows)
  }

  /// The index in the old result of a touched row that is in it.
  func old(at place: Int) -> Int { rows[place].oldRank ?? 0 }

  /// The index in the new result of a touched row that is in it.
  func new(at place: Int) -> Int { rows[place].newRank ?? 0 }

  private static func sorted(_ places: [Int], by rank: (Int) -> Int) -> [Int] {
    let isSorted = zip(places, places.dropFirst()).allSatisfy { rank($0) <= rank($1) }
    return isSorted ? places : places.sorted { rank($0) < rank($1) }
  }
}

extension QueryDelta.Touch {
  /// Whether the row is in both results, at the same place in their order.
  var isInPlace: Bool {
    guard let old = old?.entry.place, let new = new?.entry.place else { return false }
    return old == new
  }

  /// Whether the row's values are known in both results, and differ.
  fileprivate var isUpdate: Bool {
    guard let before = old?.image, let after = new?.image else { return false }
    return before != after
  }

  /// Returns the fields that differ between the two images, each with its origin and cause.
  func changedFields(
    from before: [SQLValue], to after: [SQLValue], of schema: ModelSchema
  ) -> [ChangedField] {
    // A single commit lists exactly these fields; coalesced commits may not.
    if areExactly(from: before, to: after, of: schema) { return fields }
    return schema.fields.indices.filter { before[$0] != after[$0] }.map { index in
      let name = schema.fields[index].name
      let field = fields.first { $0.name == name }
      return ChangedField(
        name: name, old: before[index], new: after[index], origin: field?.origin ?? origin,
        cause: field?.cause)
    }
  }

  private func areExactly(
    from before: [SQLValue], to after: [SQLValue], of schema: ModelSchema
  ) -> Bool {
    var count = 0
    for index in before.indices where before[index] != after[index] {
      guard count < fields.count, fields[count].name == schema.fields[index].name,
        fields[count].old == before[index], fields[count].new == after[index]
      else { return false }
      count += 1
    }
    return count == fields.count
  }
}
