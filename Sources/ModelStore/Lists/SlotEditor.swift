/// An editor of one record's list by index, as rows of its slots' table. The public interface is
/// ``ListEditor``, which knows the type of the keys.
///
/// Every operation either succeeds completely or throws and leaves the list unchanged.
struct SlotEditor {
  let access: _TransactionAccess
  let orders: ListOrders
  let slots: SlotModel
  let labels: ListLabels
  let owner: SQLValue
  let list: ListIdentity
  let sql: SlotSQL

  /// - Throws: ``StoreError`` with code `misuse` outside of a writing transaction.
  init(access: _TransactionAccess, slots: SlotModel, owner: SQLValue) throws {
    guard let orders = access.runner.lists, let list = orders.identity(of: owner, in: slots) else {
      throw StoreError(
        .misuse, "\(slots.name) can only be changed inside a write.", model: slots.name)
    }
    self.access = access
    self.orders = orders
    self.slots = slots
    self.owner = owner
    self.list = list
    labels = slots.isAdopted ? .adopted : .own
    sql = SlotSQL(slots, owner: owner)
  }

  private typealias Occurrence = ListEdit.Occurrence

  private var isLogged: Bool { orders.isLogged(list) }

  func count() throws -> Int {
    if let places = orders.places(of: list) { return places.count }
    return Int(try access.firstRow(sql.count) { try $0.integer(at: 0) } ?? 0)
  }

  func elements() throws -> [SQLValue] {
    try access.rows(sql.elements) { try $0.value(at: 0) }
  }
}

// Adding.
extension SlotEditor {
  func append(_ elements: [SQLValue]) throws {
    guard !elements.isEmpty else { return }
    // The places are needed only to report indices to observers.
    let count = isLogged ? try places().count : nil
    let free = try labels.free(
      elements.count, after: endLabel(for: elements.count), before: nil)
    // Without free labels other slots are changed too.
    try atomically(free == nil ? .max : elements.count) {
      try add(elements, free ?? freeLabels(elements.count, at: places().count))
    }
    guard let count else { return }
    log(
      .append, count: count,
      elements.enumerated().map {
        Occurrence(element: $0.element, oldIndex: nil, newIndex: count + $0.offset)
      })
  }

  func insert(_ element: SQLValue, at index: Int) throws {
    let count = try places().count
    guard index >= 0, index <= count else { throw outOfRange(index) }
    try withFreeLabels(1, at: index) { try add([element], $0) }
    log(.insert, count: count, [Occurrence(element: element, oldIndex: nil, newIndex: index)])
  }

  private func add(_ elements: [SQLValue], _ labels: [Int64]) throws {
    for (element, label) in zip(elements, labels) {
      let text = sql.insert(element, label: label, slotAtLeast: orders.unusedSlot(of: slots.name))
      do {
        try run(text, expecting: 1)
      } catch let error as StoreError {
        throw try missing(element, error) ?? error
      }
      let slot = access.connection.lastInsertRowID
      orders.change(list, removing: [], inserting: [ListPlace(label: label, slot: slot)])
    }
  }
}

// Explaining refusals.
extension SlotEditor {
  /// SQLite reports that a reference of a slot is broken, but not which one.
  ///
  /// - Returns: An error that names the missing record, owner or element; nil for another reason.
  private func missing(_ element: SQLValue, _ error: StoreError) throws -> StoreError? {
    guard error.code == .rejected, error.violations.first?.kind == .reference,
      access.connection.isInTransaction
    else { return nil }
    let ends = [
      (role: "owner", index: slots.owner, key: owner), ("element", slots.element, element),
    ]
    for (role, index, key) in ends {
      let field = slots.schema.fields[index]
      guard let table = field.reference?.table.asciiFolded,
        let model = access.models.schema.models.first(where: { $0.table.asciiFolded == table }),
        try access.record(model, key: [key]) == nil
      else { continue }
      var refusal = StoreError(
        rejecting: [
          Violation(
            kind: .reference, model: slots.name, fields: [field.name],
            rule: "\(slots.name).\(field.name).reference",
            message: "the list's \(role) must be an existing \(model.name)",
            remedy: "Insert that record first.")
        ], count: 1)
      refusal.sqliteCode = error.sqliteCode
      return refusal
    }
    return nil
  }
}

// Removing.
extension SlotEditor {
  func removeLast() throws {
    let count = isLogged ? try places().count : nil
    guard let last = try lastPlace() else { throw outOfRange(0) }
    let element = isLogged ? try element(of: last.slot) : nil
    try delete(last)
    guard let element, let count else { return }
    log(
      .removeLast, count: count,
      [Occurrence(element: element, oldIndex: count - 1, newIndex: nil)])
  }

  func remove(at index: Int) throws {
    let places = try places()
    let place = try place(at: index, in: places)
    let element = isLogged ? try element(of: place.slot) : nil
    try delete(place)
    guard let element else { return }
    log(
      .remove, count: places.count,
      [Occurrence(element: element, oldIndex: index, newIndex: nil)])
  }

  private func delete(_ place: ListPlace) throws {
    try run(sql.delete(place.slot), expecting: 1)
    orders.change(list, removing: [place], inserting: [])
  }

  func removeAll() throws {
    let elements = isLogged ? try elements() : []
    try run(sql.deleteAll(), expecting: isLogged ? elements.count : try count())
    orders.removeAll(of: list)
    guard !elements.isEmpty else { return }
    log(
      .removeAll, count: elements.count,
      elements.enumerated().map {
        Occurrence(element: $0.element, oldIndex: $0.offset, newIndex: nil)
      })
  }

  /// - Returns: The number of removed slots.
  func removeEqual(_ element: SQLValue) throws -> Int {
    let places = isLogged ? try places() : nil
    let found = try access.rows(sql.occurrences(of: element)) { try Self.place($0) }
    guard !found.isEmpty else { return 0 }
    try run(sql.deleteOccurrences(of: element), expecting: found.count)
    orders.change(list, removing: found, inserting: [])
    guard let places else { return found.count }
    log(
      .removeEqual, count: places.count,
      found.map {
        Occurrence(element: element, oldIndex: places.rank(of: $0), newIndex: nil)
      })
    return found.count
  }
}

// Changing in place.
extension SlotEditor {
  func replace(at index: Int, with element: SQLValue) throws {
    let place = try place(at: index, in: places())
    let isSame = try access.firstRow(sql.isElement(element, of: place.slot)) {
      try $0.integer(at: 0)
    }
    guard isSame != 1 else { return }
    let old = isLogged ? try self.element(of: place.slot) : nil
    if slots.isAdopted {
      // Other rows may refer to this one, so it keeps its number.
      try run(sql.setElement(element, of: place.slot), expecting: 1)
    } else {
      let slot = try access.firstRow(
        sql.unusedSlot(atLeast: orders.unusedSlot(of: slots.name))
      ) { try $0.integer(at: 0) }
      guard let slot else { throw outOfRange(index) }
      try withLabelsOfTheirOwn([index]) { places in
        try run(sql.replace(place.slot, by: slot, with: element), expecting: 1)
        orders.change(
          list, removing: places, inserting: [ListPlace(label: places[0].label, slot: slot)])
      }
    }
    guard let old else { return }
    log(
      .replace, count: try places().count,
      [
        Occurrence(element: old, oldIndex: index, newIndex: nil),
        Occurrence(element: element, oldIndex: nil, newIndex: index),
      ])
  }

  func exchange(_ first: Int, _ second: Int) throws {
    let places = try places()
    let (low, high) = (min(first, second), max(first, second))
    _ = (try place(at: low, in: places), try place(at: high, in: places))
    guard low != high else { return }
    let pair = [places[low].slot, places[high].slot]
    let elements = isLogged ? try pair.map { try element(of: $0) } : []
    var exchanged: [ListPlace] = []
    try withLabelsOfTheirOwn([low, high]) { places in
      try exchangeLabels(of: places[0], places[1])
      exchanged = zip(pair, places.reversed()).map { ListPlace(label: $1.label, slot: $0) }
      orders.change(list, removing: places, inserting: exchanged)
    }
    guard isLogged else { return }
    log(
      .exchange, count: places.count, moving: exchanged,
      [
        Occurrence(element: elements[0], oldIndex: low, newIndex: high),
        Occurrence(element: elements[1], oldIndex: high, newIndex: low),
      ])
  }

  private func exchangeLabels(of one: ListPlace, _ other: ListPlace) throws {
    guard slots.isAdopted else { return try run(sql.exchange(one, other), expecting: 2) }
    // An adopted table may require unique positions, and SQLite checks this row by row.
    guard let free = labels.free(1, after: try endLabel(for: 1), before: nil)?[0] else {
      throw noRoom
    }
    try atomically(3) {
      try run(sql.setLabel(free, of: one.slot), expecting: 1)
      try run(sql.setLabel(one.label, of: other.slot), expecting: 1)
      try run(sql.setLabel(other.label, of: one.slot), expecting: 1)
    }
  }

  func move(from index: Int, to newIndex: Int) throws {
    let count = try places().count
    let slot = try place(at: index, in: places()).slot
    guard newIndex >= 0, newIndex < count else { throw outOfRange(newIndex) }
    guard index != newIndex else { return }
    let element = isLogged ? try element(of: slot) : nil
    var moved = ListPlace(label: 0, slot: slot)
    try withFreeLabels(1, at: newIndex, ignoring: index) { labels in
      // Making room may have changed its label, but not its index.
      let place = try place(at: index, in: places())
      moved = ListPlace(label: labels[0], slot: slot)
      try run(sql.setLabel(moved.label, of: slot), expecting: 1)
      orders.change(list, removing: [place], inserting: [moved])
    }
    guard let element else { return }
    log(
      .move, count: count, moving: [moved],
      [Occurrence(element: element, oldIndex: index, newIndex: newIndex)])
  }

  /// Replaces the elements of the list. Slots in the common beginning and end are left unchanged.
  func assign(_ elements: [SQLValue]) throws {
    let old = try access.rows(sql.contents) { row in
      (place: try Self.place(row), element: try row.value(at: 2))
    }
    let identity = KeyIdentity([slots.schema.fields[slots.element]])
    func same(_ stored: SQLValue, _ given: SQLValue) -> Bool {
      stored == given || identity(stored: [stored]) == identity(given: [given])
    }
    var start = 0
    while start < min(old.count, elements.count), same(old[start].element, elements[start]) {
      start += 1
    }
    var rest = 0
    while rest < min(old.count, elements.count) - start,
      same(old[old.count - 1 - rest].element, elements[elements.count - 1 - rest])
    {
      rest += 1
    }
    let leaving = old[start..<(old.count - rest)]
    let coming = Array(elements[start..<(elements.count - rest)])
    guard !leaving.isEmpty || !coming.isEmpty else { return }
    try atomically(2) {
      if let first = leaving.first, let last = leaving.last {
        try run(sql.delete(from: first.place, through: last.place), expecting: leaving.count)
        orders.change(list, removing: leaving.map(\.place), inserting: [])
      }
      if !coming.isEmpty {
        let right = rest > 0 ? old[old.count - rest].place.label : nil
        let left =
          right == nil
          ? try endLabel(for: coming.count) : start > 0 ? old[start - 1].place.label : nil
        let labels =
          try labels.free(coming.count, after: left, before: right)
          ?? freeLabels(coming.count, at: start)
        try add(coming, labels)
      }
    }
    guard isLogged else { return }
    let left = leaving.enumerated().map {
      Occurrence(element: $0.element.element, oldIndex: start + $0.offset, newIndex: nil)
    }
    let came = coming.enumerated().map {
      Occurrence(element: $0.element, oldIndex: nil, newIndex: start + $0.offset)
    }
    log(.assign, count: old.count, left + came)
  }
}

// Statements.
extension SlotEditor {
  /// - Parameter count: The number of rows that it must change.
  /// - Throws: ``StoreError`` with code `rejected` when a trigger prevented some of the changes.
  ///   Then none of them is kept.
  func run(_ text: SQLText, expecting count: Int) throws {
    // Without triggers there is nothing to undo.
    let hasTriggers =
      access.models.statements(for: slots.schema).rewritesInserts || access.notes.ranRawSQL
    try atomically(hasTriggers ? count : 1) {
      try orders.editing(slots.name) {
        try access.runner.run(text.sql, of: slots.schema) { statement in
          try statement.bind(text)
          try statement.run()
        }
      }
      guard access.connection.changeCount == count else {
        throw StoreError(
          .rejected,
          "\(slots.name): a trigger prevented a change of the list, so the operation was undone.",
          model: slots.name)
      }
    }
  }

  /// Runs `body` so that a failure undoes all of it. A change of at most one row needs no
  /// savepoint.
  private func atomically(_ rowCount: Int, _ body: () throws -> Void) throws {
    if rowCount > 1 { try access.runner.savepoint(body) } else { try body() }
  }

  private func log(
    _ kind: ListOperationKind, count: Int, moving: [ListPlace] = [], _ elements: [Occurrence]
  ) {
    let left = elements.count { $0.newIndex == nil }
    let came = elements.count { $0.oldIndex == nil }
    orders.add(
      ListEdit(kind: kind, elements: elements, oldCount: count, newCount: count - left + came),
      moving: moving, to: list)
  }

  var noRoom: StoreError {
    StoreError(
      .database, "\(slots.name): the list has no free labels left.", model: slots.name)
  }

  func outOfRange(_ index: Int) -> StoreError {
    StoreError(.invalidValue, "\(slots.name) has no index \(index).", model: slots.name)
  }
}
