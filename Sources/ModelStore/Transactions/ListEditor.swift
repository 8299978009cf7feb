/// One record's ordered list inside a writing transaction: reads and changes it by index.
///
/// Every slot has an identity of its own, so an element may occur many times. Slots are ordered by
/// integer labels with gaps between them: an insertion or a move writes one row, except that a full
/// gap first spreads the labels around it.
public struct ListEditor<Element: Model>: ~Copyable {
  private let access: TransactionAccess
  private let slots: ModelSchema
  private let owner: SQLValue

  init(access: TransactionAccess, slots: ModelSchema, owner: SQLValue) {
    self.access = access
    self.slots = slots
    self.owner = owner
  }

  private struct Slot {
    var number: Int64
    var label: Int64
  }

  // Labels keep this distance at the ends, so that 2^43 elements fit on either side.
  private static var step: Int64 { 1 << 20 }

  // Reading

  public func count() throws -> Int {
    let number = try access.firstRow(text("SELECT count(*)", "")) { try $0.integer(at: 0) }
    return Int(number ?? 0)
  }

  /// The keys of the elements, in order.
  public func keys() throws -> [Element.Key] {
    try access.rows(text("SELECT \"element\"", "ORDER BY \"label\", \"slot\"")) { row in
      try Element.Key(sqlValues: [try row.value(at: 0)])
    }
  }

  // Changing

  /// Adds an element at the end.
  public func append(_ key: Element.Key) throws {
    let last = try edge("DESC")
    try add(key, label: last.map { $0.label + Self.step } ?? 0)
  }

  /// Adds an element so that it has `index`.
  ///
  /// - Throws: ``StoreError`` with code `invalidValue` when the list has fewer than `index`
  ///   elements.
  public func insert(_ key: Element.Key, at index: Int) throws {
    try add(key, label: try label(before: index, ignoring: nil))
  }

  /// Removes the element at `index`.
  public func remove(at index: Int) throws {
    let slot = try slot(at: index)
    try run("DELETE FROM \(identifier: slots.table) WHERE \"slot\" = \(slot.number)")
  }

  /// Removes every occurrence of an element.
  ///
  /// - Returns: How many there were.
  @discardableResult
  public func removeEvery(_ key: Element.Key) throws -> Int {
    let value = try value(key)
    try run(
      "DELETE FROM \(identifier: slots.table) WHERE \"owner\" = \(owner) AND \"element\" = \(value)"
    )
    return access.connection.changeCount
  }

  public func removeAll() throws {
    try run("DELETE FROM \(identifier: slots.table) WHERE \"owner\" = \(owner)")
  }

  /// Puts another element in the place of the one at `index`.
  public func replace(at index: Int, with key: Element.Key) throws {
    let slot = try slot(at: index)
    // In this order an element that does not exist is refused before anything is removed.
    try add(key, label: slot.label)
    try run("DELETE FROM \(identifier: slots.table) WHERE \"slot\" = \(slot.number)")
  }

  /// Moves the element at `index` so that it has `newIndex` afterwards. Writes one row.
  public func move(from index: Int, to newIndex: Int) throws {
    let slot = try slot(at: index)
    guard index != newIndex else { return }
    let label = try label(before: newIndex, ignoring: slot.number)
    try run(
      "UPDATE \(identifier: slots.table) SET \"label\" = \(label) WHERE \"slot\" = \(slot.number)")
  }

  /// Lets the elements at two indices change places. Writes two rows.
  public func exchange(_ first: Int, _ second: Int) throws {
    let one = try slot(at: first)
    let other = try slot(at: second)
    guard first != second else { return }
    for (slot, label) in [(one, other.label), (other, one.label)] {
      try run(
        "UPDATE \(identifier: slots.table) SET \"label\" = \(label) WHERE \"slot\" = \(slot.number)"
      )
    }
  }

  // Labels

  /// A free label for a slot that is to have `index` among the others.
  private func label(before index: Int, ignoring number: Int64?) throws -> Int64 {
    let (left, right) = try neighbours(index, ignoring: number)
    guard let left else { return right.map { $0.label - Self.step } ?? 0 }
    guard let right else { return left.label + Self.step }
    if right.label - left.label < 2 {
      try spread(around: left.label)
      return try label(before: index, ignoring: number)
    }
    return left.label + (right.label - left.label) / 2
  }

  private func neighbours(
    _ index: Int, ignoring number: Int64?
  ) throws -> (left: Slot?, right: Slot?) {
    guard index >= 0 else { throw outOfRange(index) }
    let first = max(index - 1, 0)
    let found = try access.rows(
      text(
        "SELECT \"slot\", \"label\"",
        "AND \"slot\" IS NOT \(number.map(SQLValue.integer) ?? .null) ORDER BY \"label\", \"slot\" LIMIT 2 OFFSET \(first)"
      )
    ) { row in Slot(number: try row.integer(at: 0), label: try row.integer(at: 1)) }
    if index == 0 { return (nil, found.first) }
    guard let left = found.first else { throw outOfRange(index) }
    return (left, found.dropFirst().first)
  }

  /// Makes room by spreading the labels of the smallest range around `label` that is sparse enough,
  /// so that later insertions there find gaps again: Bender et al., "Two simplified algorithms for
  /// maintaining order in a list", ESA 2002. Amortised O(log n) rows; not visible as a change of
  /// order.
  private func spread(around label: Int64) throws {
    // At most half full, so that every gap afterwards has a free label in it.
    var density = 0.5 * 1.3
    for bits in 4...61 {
      density /= 1.3
      let width = Int64(1) << bits
      let low = label & ~(width - 1)
      let high = low + (width - 1)
      let crowd = try access.rows(
        text(
          "SELECT \"slot\", \"label\"",
          "AND \"label\" BETWEEN \(low) AND \(high) ORDER BY \"label\", \"slot\"")
      ) { row in Slot(number: try row.integer(at: 0), label: try row.integer(at: 1)) }
      guard Double(crowd.count + 1) < Double(width) * density else { continue }
      let gap = width / Int64(crowd.count + 1)
      for (place, slot) in crowd.enumerated() {
        let spread = low + gap * Int64(place + 1)
        guard spread != slot.label else { continue }
        try run(
          "UPDATE \(identifier: slots.table) SET \"label\" = \(spread) WHERE \"slot\" = \(slot.number)"
        )
      }
      return
    }
    throw StoreError(.database, "The list \(slots.name) has no free places left.")
  }

  // Statements

  private func slot(at index: Int) throws -> Slot {
    guard index >= 0 else { throw outOfRange(index) }
    let found = try access.firstRow(
      text("SELECT \"slot\", \"label\"", "ORDER BY \"label\", \"slot\" LIMIT 1 OFFSET \(index)")
    ) { row in Slot(number: try row.integer(at: 0), label: try row.integer(at: 1)) }
    guard let found else { throw outOfRange(index) }
    return found
  }

  private func edge(_ direction: String) throws -> Slot? {
    try access.firstRow(
      text(
        "SELECT \"slot\", \"label\"",
        "ORDER BY \(SQLText(sql: "\"label\" \(direction), \"slot\" \(direction)")) LIMIT 1")
    ) { row in Slot(number: try row.integer(at: 0), label: try row.integer(at: 1)) }
  }

  private func add(_ key: Element.Key, label: Int64) throws {
    let element = try value(key)
    try run(
      "INSERT INTO \(identifier: slots.table) (\"owner\", \"label\", \"element\") VALUES (\(owner), \(label), \(element))"
    )
  }

  private func value(_ key: Element.Key) throws -> SQLValue {
    do {
      return try key.sqlValues()[0]
    } catch {
      throw StoreError(
        .invalidValue, "\(slots.name): the element's key cannot be stored: \(error).")
    }
  }

  private func text(_ head: String, _ tail: SQLText) -> SQLText {
    "\(SQLText(sql: head)) FROM \(identifier: slots.table) WHERE \"owner\" = \(owner) \(tail)"
  }

  private func run(_ text: SQLText) throws {
    try access.run(text.sql, of: slots) { statement in
      try statement.bind(text.arguments)
      try statement.run()
    }
  }

  private func outOfRange(_ index: Int) -> StoreError {
    StoreError(.invalidValue, "\(slots.name) has no place \(index).", model: slots.name)
  }
}

extension Transaction {
  /// One record's list, to read and change.
  ///
  /// - Parameter key: The owner's key. Its record must exist before an element is added.
  /// - Throws: ``StoreError`` with code `unknownField` when the model declares no such list.
  public borrowing func list<Owner: Model, Element: Model>(
    _ list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key
  ) throws -> ListEditor<Element> {
    let slots = try access.models.slots(of: list)
    return ListEditor(access: access, slots: slots, owner: try Self.values(key)[0])
  }
}

extension TransactionReads where Self: ~Copyable {
  /// The keys of the elements of one record's list, in order.
  public borrowing func keys<Owner: Model, Element: Model>(
    of list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key
  ) throws -> [Element.Key] {
    let slots = try access.models.slots(of: list)
    do {
      return try ListEditor<Element>(
        access: access, slots: slots, owner: try key.sqlValues()[0]
      ).keys()
    } catch let error as ColumnError {
      throw StoreError(.invalidValue, "\(slots.name): \(error).")
    }
  }
}

extension ModelRegistry {
  fileprivate func slots<Owner: Model, Element: Model>(
    of path: any KeyPath<Owner, OrderedList<Element>> & Sendable
  ) throws -> ModelSchema {
    let owner = try statements(for: Owner.self).schema
    guard let list = Owner.definition.list(at: path) else {
      throw StoreError(.unknownField, "\(path) is no list of \(owner.name).", model: owner.name)
    }
    return try schema.model(named: "\(owner.name).\(list.name)")
  }
}
