/// Where the rows that a delta touched stand in both results, and what became of them: all of an
/// event that does not depend on how its records are decoded.
struct DeltaRanks {
  private let rows: [CanonicalMoves.Row]
  /// Places among the touches, by ascending index in the old result.
  let deletions: [Int]
  /// Places among the touches, by ascending index in the new result.
  let insertions: [Int]
  /// Places among the touches, by ascending index in the new result: rows of both results of which
  /// some field differs.
  let updates: [Int]
  /// Places among the touches, by ascending index in the new result: rows of both results whose
  /// older record is not known.
  let refreshes: [Int]
  /// Places among the touches, by ascending index in the new result.
  let moves: [Int]

  /// - Complexity: O(k log n) for k touched rows of n.
  init(_ delta: QueryDelta) {
    let (old, new, touches) = (delta.old, delta.new, delta.touches)
    var rows: [CanonicalMoves.Row] = []
    rows.reserveCapacity(touches.count)
    var (deletions, insertions): ([Int], [Int]) = ([], [])
    var (updates, refreshes): ([Int], [Int]) = ([], [])
    // Where every touched row kept its place, nobody else's changed.
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
      case (.some, .some):
        if touches[place].isUpdate { updates.append(place) }
        if touches[place].isRefresh { refreshes.append(place) }
      case (nil, nil): continue
      }
    }
    self.rows = rows
    self.deletions = Self.sorted(deletions) { rows[$0].oldRank ?? 0 }
    self.insertions = Self.sorted(insertions) { rows[$0].newRank ?? 0 }
    self.updates = Self.sorted(updates) { rows[$0].newRank ?? 0 }
    self.refreshes = Self.sorted(refreshes) { rows[$0].newRank ?? 0 }
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

  /// Whether only the newer record of the row is known.
  fileprivate var isRefresh: Bool { old?.image == nil && new?.image != nil }

  /// The fields that differ between the two images, each with who set it.
  func changedFields(
    from before: [SQLValue], to after: [SQLValue], of schema: ModelSchema
  ) -> [ChangedField] {
    // One commit lists exactly these; folded ones may not.
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
