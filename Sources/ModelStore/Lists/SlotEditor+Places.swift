/// The places of the slots of one list.
extension SlotEditor {
  /// Returns the list's places in order. They are read once and then cached.
  func places() throws -> RankedTree<ListPlace> {
    if let places = orders.places(of: list) { return places }
    guard let places = RankedTree(checking: try access.rows(sql.places) { try Self.place($0) })
    else { throw slots.disorder }
    let outside =
      slots.isAdopted ? try access.firstRow(sql.lastOutsideLabel) { try $0.integer(at: 0) } : nil
    orders.keep(places, outside: outside, of: list)
    return places
  }

  func lastPlace() throws -> ListPlace? {
    if let places = orders.places(of: list) {
      return places.isEmpty ? nil : places[places.count - 1]
    }
    return try access.firstRow(sql.lastPlace) { try Self.place($0) }
  }

  /// Returns the label behind which `count` slots are appended: normally the label of the last
  /// slot.
  ///
  /// In an adopted table, rows that are in no list have labels too, and labels may be unique. If
  /// such rows leave too little room, this is the label of one of them.
  func endLabel(for count: Int) throws -> Int64? {
    var end = try lastPlace()?.label
    let start = end ?? labels.least
    guard slots.isAdopted, mayHaveOutsideLabel(from: start) else { return end }
    let outside = sql.outsideLabels(from: start)
    try access.runner.run(outside.sql, of: slots.schema) { statement in
      try statement.bind(outside)
      while try statement.step() {
        let label = try RowView(statement: statement.handle).integer(at: 0)
        if let last = labels.free(count, after: end, before: nil)?.last, last < label { return }
        end = label
      }
    }
    return end
  }

  private func mayHaveOutsideLabel(from start: Int64) -> Bool {
    guard orders.places(of: list) != nil else { return true }
    return orders.lastOutsideLabel(of: list).map { $0 >= start } ?? false
  }

  func place(at index: Int, in places: RankedTree<ListPlace>) throws -> ListPlace {
    guard index >= 0, index < places.count else { throw outOfRange(index) }
    return places[index]
  }

  func element(of slot: Int64) throws -> SQLValue {
    let found = try access.firstRow(sql.element(of: slot)) { try $0.value(at: 0) }
    guard let found else {
      throw StoreError(.database, "\(slots.name): the slot \(slot) is gone.", model: slots.name)
    }
    return found
  }

  static func place(_ row: borrowing RowView) throws -> ListPlace {
    ListPlace(label: try row.integer(at: 0), slot: try row.integer(at: 1))
  }

  /// Runs `body` with free labels for slots that are to have the indices from `index` on. If other
  /// slots have to be relabelled first, a failure undoes that too.
  ///
  /// - Parameter ignored: The index of a slot that is being moved away.
  func withFreeLabels(
    _ count: Int, at index: Int, ignoring ignored: Int? = nil, _ body: ([Int64]) throws -> Void
  ) throws {
    if let free = try unusedLabels(count, at: index, ignoring: ignored) { return try body(free) }
    try access.runner.savepoint { try body(freeLabels(count, at: index, ignoring: ignored)) }
  }

  /// Returns free labels for slots that are to have the indices from `index` on. Relabels other
  /// slots if there are none.
  func freeLabels(
    _ count: Int, at index: Int, ignoring ignored: Int? = nil
  ) throws -> [Int64] {
    if let free = try unusedLabels(count, at: index, ignoring: ignored) { return free }
    let (left, right) = try neighbours(count, at: index, ignoring: ignored)
    if let label = left ?? right { try spread(around: label, room: count) }
    guard let free = try unusedLabels(count, at: index, ignoring: ignored) else { throw noRoom }
    return free
  }

  private func unusedLabels(_ count: Int, at index: Int, ignoring ignored: Int?) throws -> [Int64]?
  {
    let (left, right) = try neighbours(count, at: index, ignoring: ignored)
    return labels.free(count, after: left, before: right)
  }

  /// Returns the labels between which `count` slots are inserted to have the indices from `index`
  /// on.
  private func neighbours(
    _ count: Int, at index: Int, ignoring ignored: Int?
  ) throws -> (left: Int64?, right: Int64?) {
    let places = try places()
    func label(_ index: Int) -> Int64? {
      var index = index
      if let ignored, index >= ignored { index += 1 }
      return index >= 0 && index < places.count ? places[index].label : nil
    }
    guard let right = label(index) else { return (try endLabel(for: count), nil) }
    return (index > 0 ? label(index - 1) : nil, right)
  }

  /// Runs `body` with the places of the slots at `indices`. None of them shares its label with
  /// another slot, because a shared label cannot be handed to a different slot. If slots have to be
  /// relabelled first, a failure undoes that too.
  ///
  /// Two slots share a label only if a writer other than an editor set it. Their numbers then
  /// determine the order.
  func withLabelsOfTheirOwn(_ indices: [Int], _ body: ([ListPlace]) throws -> Void) throws {
    let places = try places()
    guard indices.contains(where: { isLabelShared(at: $0, in: places) }) else {
      return try body(indices.map { places[$0] })
    }
    try access.runner.savepoint {
      for index in indices {
        let places = try self.places()
        guard isLabelShared(at: index, in: places) else { continue }
        try spread(around: places[index].label, room: 1)
      }
      let places = try self.places()
      try body(indices.map { places[$0] })
    }
  }

  private func isLabelShared(at index: Int, in places: RankedTree<ListPlace>) -> Bool {
    let label = places[index].label
    return (index > 0 && places[index - 1].label == label)
      || (index + 1 < places.count && places[index + 1].label == label)
  }

  /// Relabels the slots around `label` to make room. Their order does not change.
  private func spread(around label: Int64, room: Int) throws {
    guard let spread = ListLabels.spread(around: label, room: room, in: try places()) else {
      throw noRoom
    }
    let changed = spread.filter { $0.place.label != $0.label }
    // Each slot moves to a label that is free at that moment, because positions may be unique.
    // Slots that move up are written from the last one backwards, then slots that move down from
    // the first one forwards.
    let inTurn =
      changed.filter { $0.label > $0.place.label }.reversed()
      + changed.filter { $0.label < $0.place.label }
    try access.runner.savepoint {
      for slot in inTurn {
        try run(sql.setLabel(slot.label, of: slot.place.slot), expecting: 1)
      }
    }
    orders.change(
      list, removing: changed.map(\.place),
      inserting: changed.map { ListPlace(label: $0.label, slot: $0.place.slot) })
  }
}
