/// An index from a change to the observers it concerns, without visiting every observer.
///
/// It finds observers by model, by key, by the value of a field that all wanted records share, and
/// by the range that contains the value. Among these it selects by the fields that they read.
struct ChangeRoutes: Sendable {
  /// An observer's number and the fields that it reads.
  fileprivate struct Listener: Sendable {
    let number: UInt64
    let fields: FieldMask
  }

  /// The observers of one key or value. Nearly always one; an array would take most of the memory.
  fileprivate enum Listeners: Sendable {
    case one(Listener)
    case several([Listener])
  }

  fileprivate struct Routes: Sendable {
    /// Observers of every record of the model.
    var all: [Listener] = []
    var identity: KeyIdentity?
    var ofRecord: [SortKey: Listeners] = [:]
    var ofValue: [Int: [SQLValue: Listeners]] = [:]
    var ofRange: [Int: (collation: Collation, ranges: RangeIndex<Listener>)] = [:]
    /// The number of observers that read all fields, and for each field the number of others.
    var allFieldsCount = 0
    var fieldCounts: [Int: Int] = [:]

    var isEmpty: Bool {
      all.isEmpty && ofRecord.isEmpty && ofValue.isEmpty && ofRange.isEmpty
    }
  }

  private var models: [String: Routes] = [:]

  /// For each observed model, the fields that observers read; nil for all.
  var interests: [String: Set<Int>?] {
    models.mapValues { $0.allFieldsCount > 0 ? nil : Set($0.fieldCounts.keys) }
  }

  /// - Returns: Whether ``interests`` changed.
  mutating func add(_ number: UInt64, for interest: ChangeBroker.Interest) -> Bool {
    var routes = models.removeValue(forKey: interest.model) ?? Routes()
    let listener = Listener(number: number, fields: FieldMask(interest.fields))
    switch interest.records {
    case .all:
      routes.all.append(listener)
    case .one(let key, let identity):
      routes.identity = identity
      routes.ofRecord.add(listener, to: key)
    case .having(let field, let value):
      routes.ofValue[field, default: [:]].add(listener, to: value)
    case .within(let range):
      routes.ofRange[range.field, default: (range.collation, RangeIndex())].ranges
        .insert(range, number: number, listener)
    }
    let isWider = routes.count(interest.fields, by: 1)
    models[interest.model] = routes
    return isWider
  }

  /// - Returns: Whether ``interests`` changed.
  mutating func remove(_ number: UInt64, for interest: ChangeBroker.Interest) -> Bool {
    guard var routes = models.removeValue(forKey: interest.model) else { return false }
    switch interest.records {
    case .all:
      routes.all.removeAll { $0.number == number }
    case .one(let key, _):
      routes.ofRecord.remove(number, from: key)
    case .having(let field, let value):
      var values = routes.ofValue.removeValue(forKey: field) ?? [:]
      values.remove(number, from: value)
      if !values.isEmpty { routes.ofValue[field] = values }
    case .within(let range):
      routes.ofRange[range.field]?.ranges.remove(range, number: number)
      if routes.ofRange[range.field]?.ranges.isEmpty == true { routes.ofRange[range.field] = nil }
    }
    let isNarrower = routes.count(interest.fields, by: -1)
    if routes.isEmpty { return true }
    models[interest.model] = routes
    return isNarrower
  }

  /// Calls `body` once with the number of each observer that `change` may concern.
  ///
  /// - Returns: The number of observers visited, including those the change does not concern.
  /// - Complexity: O(observers concerned + fields used for lookup), times log n for observers found
  ///   by one of n ranges. Observers that read other fields of the same records are visited too.
  @discardableResult
  func forEachObserver(of change: RecordChange, _ body: (UInt64) -> Void) -> Int {
    guard let routes = models[change.model] else { return 0 }
    var visited = 0
    let changed = FieldMask(changedIn: change)
    func tell(_ listener: Listener) {
      visited += 1
      if listener.fields.overlaps(changed) { body(listener.number) }
    }
    for listener in routes.all { tell(listener) }
    if let identity = routes.identity, !routes.ofRecord.isEmpty {
      routes.ofRecord[identity(stored: change.key)]?.forEach(tell)
    }
    for (field, values) in routes.ofValue {
      let old = change.old.map { QueryRegion.normalized($0[field]) }
      let new = change.new.map { QueryRegion.normalized($0[field]) }
      if let old { values[old]?.forEach(tell) }
      if let new, new != old { values[new]?.forEach(tell) }
    }
    for (field, (collation, ranges)) in routes.ofRange {
      let old = change.old.map { ValueRange.place(of: $0[field], collation) }
      let new = change.new.map { ValueRange.place(of: $0[field], collation) }
      if let old { visited += ranges.forEach(containing: old) { _, listener in tell(listener) } }
      guard let new, new != old else { continue }
      visited += ranges.forEach(containing: new) { range, listener in
        if let old, range.lower <= .before(old), .after(old) <= range.upper { return }
        tell(listener)
      }
    }
    return visited
  }

  /// Returns whether a row that is about to change may concern an observer. It reads only the
  /// values by which observers are found.
  ///
  /// If it returns false for each change of a row in a transaction, then ``forEachObserver(of:_:)``
  /// finds no observer for the net change: the record before and after are among the states seen
  /// here, and fields that differ in the end have differed in a step.
  ///
  /// - Returns: true also if the hook cannot read a value.
  func mayConcern(_ row: borrowing PreupdateRow, of table: TrackedTable) -> Bool {
    guard let routes = models[table.schema.name] else { return false }
    guard !table.needsSnapshot, !routes.all.contains(where: \.fields.isAll) else { return true }
    do {
      let changed = try FieldMask(changedBy: row, of: table)
      if routes.all.contains(where: { $0.fields.overlaps(changed) }) { return true }
      return try row.operation != .insert && routes.mayHold(row, isNew: false, table, changed)
        || row.operation != .delete && routes.mayHold(row, isNew: true, table, changed)
    } catch {
      return true
    }
  }

  /// Calls `body` with the number of each observer of records of `model`.
  ///
  /// - Complexity: O(observers of the model).
  func forEachObserver(ofModel model: String, _ body: (UInt64) -> Void) {
    guard let routes = models[model] else { return }
    func tell(_ listener: Listener) { body(listener.number) }
    for listener in routes.all { tell(listener) }
    for listeners in routes.ofRecord.values { listeners.forEach(tell) }
    for values in routes.ofValue.values {
      for listeners in values.values { listeners.forEach(tell) }
    }
    for (_, ranges) in routes.ofRange.values { ranges.forEach(tell) }
  }
}

extension ChangeRoutes.Routes {
  /// Whether an observer that reads one of the changed fields is found by a value of the row.
  ///
  /// - Parameter isNew: Whether to use the row after its change.
  fileprivate func mayHold(
    _ row: borrowing PreupdateRow, isNew: Bool, _ table: TrackedTable, _ changed: FieldMask
  ) throws(ColumnError) -> Bool {
    if let identity, !ofRecord.isEmpty {
      var key: [SQLValue] = []
      for field in table.schema.keyIndices {
        // A row without a key is identified by its rowid.
        guard let value = try table.value(of: field, in: row, isNew: isNew), !value.isNull else {
          return true
        }
        key.append(value)
      }
      if ofRecord[identity(stored: key)]?.reads(changed) ?? false { return true }
    }
    for (field, values) in ofValue {
      guard let value = try table.value(of: field, in: row, isNew: isNew) else { return true }
      // A row that gets or loses the value may change the observed fields in another step.
      if let listeners = values[QueryRegion.normalized(value)],
        changed.contains(field) || listeners.reads(changed)
      {
        return true
      }
    }
    for (field, (collation, ranges)) in ofRange {
      guard let value = try table.value(of: field, in: row, isNew: isNew) else { return true }
      var isFound = false
      ranges.forEach(containing: ValueRange.place(of: value, collation)) { _, listener in
        isFound = isFound || changed.contains(field) || listener.fields.overlaps(changed)
      }
      if isFound { return true }
    }
    return false
  }

  /// Adds one reader of `fields` for a `step` of 1, and removes one for -1.
  ///
  /// - Returns: Whether the set of fields to read changed.
  fileprivate mutating func count(_ fields: Set<Int>?, by step: Int) -> Bool {
    guard let fields else {
      allFieldsCount += step
      return allFieldsCount == (step > 0 ? 1 : 0)
    }
    var changes = false
    for field in fields {
      let count = fieldCounts[field, default: 0] + step
      fieldCounts[field] = count > 0 ? count : nil
      if count == (step > 0 ? 1 : 0) { changes = true }
    }
    return changes && allFieldsCount == 0
  }
}

extension ChangeRoutes.Listeners {
  func forEach(_ body: (ChangeRoutes.Listener) -> Void) {
    switch self {
    case .one(let listener): body(listener)
    case .several(let listeners): for listener in listeners { body(listener) }
    }
  }

  fileprivate func reads(_ changed: FieldMask) -> Bool {
    switch self {
    case .one(let listener): listener.fields.overlaps(changed)
    case .several(let listeners): listeners.contains { $0.fields.overlaps(changed) }
    }
  }

  fileprivate var all: [ChangeRoutes.Listener] {
    switch self {
    case .one(let listener): [listener]
    case .several(let listeners): listeners
    }
  }
}

extension Dictionary where Value == ChangeRoutes.Listeners {
  fileprivate mutating func add(_ listener: ChangeRoutes.Listener, to key: Key) {
    switch removeValue(forKey: key) {
    case nil: self[key] = .one(listener)
    case .one(let first): self[key] = .several([first, listener])
    case .several(var listeners):
      listeners.append(listener)
      self[key] = .several(listeners)
    }
  }

  fileprivate mutating func remove(_ number: UInt64, from key: Key) {
    guard let listeners = removeValue(forKey: key) else { return }
    let rest = listeners.all.filter { $0.number != number }
    if rest.count == 1 { self[key] = .one(rest[0]) }
    if rest.count > 1 { self[key] = .several(rest) }
  }
}

extension TrackedTable {
  /// Returns the value of a field in a row of the hook; nil if the hook does not know it.
  fileprivate func value(
    of field: Int, in row: borrowing PreupdateRow, isNew: Bool
  ) throws(ColumnError) -> SQLValue? {
    guard let column = storedColumns[field] else { return nil }
    let value = isNew ? try row.new(at: column) : try row.old(at: column)
    return value.isNull && fieldsWithDefault.contains(field) ? nil : value
  }
}

/// A set of fields of one model in one word. Fields from index 63 on share the last bit. So it may
/// report an overlap where there is none, but never misses one.
private struct FieldMask: Sendable {
  private let bits: UInt64

  /// - Parameter fields: nil for all. An empty set also means all: an observer that reads no field
  ///   observes whether records exist.
  init(_ fields: Set<Int>?) {
    guard let fields, !fields.isEmpty else {
      bits = .max
      return
    }
    bits = fields.reduce(0) { $0 | Self.bit($1) }
  }

  /// The fields that an update changed. All fields for inserts and deletes, and for an update in
  /// which no captured field differs.
  init(changedIn change: RecordChange) {
    guard let old = change.old, let new = change.new else {
      bits = .max
      return
    }
    var bits: UInt64 = 0
    for index in old.indices where old[index] != new[index] { bits |= Self.bit(index) }
    self.bits = bits == 0 ? .max : bits
  }

  /// The captured fields that one step changes. All fields for an insertion, a deletion and a
  /// change of the key, which is both.
  init(changedBy row: borrowing PreupdateRow, of table: TrackedTable) throws(ColumnError) {
    guard row.operation == .update else {
      bits = .max
      return
    }
    var bits: UInt64 = 0
    for field in table.fields {
      guard let column = table.storedColumns[field] else { continue }
      if row.changes(at: column) { bits |= Self.bit(field) }
    }
    // The hook reports a default that the row does not store as NULL.
    for field in table.fieldsWithDefault where bits & Self.bit(field) == 0 {
      guard let column = table.storedColumns[field] else { continue }
      if try row.old(at: column).isNull { bits |= Self.bit(field) }
    }
    let hasNewKey =
      row.oldRowID != row.newRowID || table.key.contains { bits & Self.bit($0) != 0 }
    self.bits = hasNewKey ? .max : bits
  }

  func contains(_ field: Int) -> Bool { bits & Self.bit(field) != 0 }

  var isAll: Bool { bits == .max }

  private static func bit(_ field: Int) -> UInt64 { 1 << UInt64(min(field, 63)) }

  func overlaps(_ other: FieldMask) -> Bool { bits & other.bits != 0 }
}
