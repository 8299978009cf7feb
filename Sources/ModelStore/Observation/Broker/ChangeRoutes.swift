/// An index from a change to the observers it concerns, without visiting every observer.
///
/// It finds observers by model, by key, by the value of a field that all wanted records share, and
/// by the range that contains the value. Among these it selects by the fields that they read.
struct ChangeRoutes: Sendable {
  /// An observer that a change may concern.
  enum Found: Sendable {
    case seat(ObserverSeat)
    /// An observer of single records, with its number.
    case record(RecordObserver, UInt64)

    var number: UInt64 {
      switch self {
      case .seat(let seat): seat.number
      case .record(_, let number): number
      }
    }
  }

  /// An observer and the fields that it reads.
  fileprivate struct Listener: Sendable {
    let seat: ObserverSeat
    let fields: FieldMask

    var number: UInt64 { seat.number }
  }

  /// The observers of one key or value. Nearly always one; an array would take most of the memory.
  fileprivate enum Listeners: Sendable {
    case one(Listener)
    case several([Listener])
  }

  /// The observers of one model. A class, because it is used for each changed row.
  private final class ModelRoutes: @unchecked Sendable {
    // Guard: only the routes use it, and the broker's mutex guards them.

    let model: String
    /// Not checked for exclusivity at each access, because the hook runs for each row. The broker's
    /// mutex excludes a second access.
    @exclusivity(unchecked) var routes = Routes()

    init(_ model: String) { self.model = model }
  }

  /// Not copyable: a copy for each changed row would count every reference in it.
  fileprivate struct Routes: ~Copyable {
    /// Observers of every record of the model.
    var all: [Listener] = []
    var identity: KeyIdentity?
    var records = RecordTable()
    /// Observers of one record that are not a ``RecordObserver``.
    var ofRecord: [RecordIdentity: Listeners] = [:]
    var ofValue: [Int: [SQLValue: Listeners]] = [:]
    var ofRange: [Int: (collation: Collation, ranges: RangeIndex<Listener>)] = [:]
    /// The number of observers that read all fields, and for each field the number of others.
    var allFieldsCount = 0
    var fieldCounts: [Int: Int] = [:]

    /// Whether each observer is found by a record's key.
    var isOfRecordsOnly: Bool { all.isEmpty && ofValue.isEmpty && ofRange.isEmpty }

    var isEmpty: Bool {
      all.isEmpty && records.isEmpty && ofRecord.isEmpty && ofValue.isEmpty && ofRange.isEmpty
    }
  }

  private var models: [String: ModelRoutes] = [:]
  /// The model found last: most rows of a transaction are of one.
  private var latest: ModelRoutes?
  /// The number of observers of single records.
  private(set) var recordObserverCount = 0

  /// For each observed model, the fields that observers read; nil for all.
  var interests: [String: Set<Int>?] {
    models.mapValues { model in
      model.routes.allFieldsCount > 0 ? nil : Set(model.routes.fieldCounts.keys)
    }
  }

  private mutating func routes(of model: String) -> ModelRoutes? {
    if let latest, latest.model == model { return latest }
    guard let found = models[model] else { return nil }
    latest = found
    return found
  }

  private mutating func madeRoutes(of model: String) -> ModelRoutes {
    if let found = routes(of: model) { return found }
    let made = ModelRoutes(model)
    models[model] = made
    return made
  }

  /// - Returns: Whether ``interests`` changed.
  mutating func add(_ number: UInt64, for interest: ChangeBroker.Interest) -> Bool {
    add(ObserverSeat(number), for: interest)
  }

  /// - Returns: Whether ``interests`` changed.
  mutating func add(_ seat: ObserverSeat, for interest: ChangeBroker.Interest) -> Bool {
    let listener = Listener(seat: seat, fields: FieldMask(interest.fields))
    return madeRoutes(of: interest.model).routes.add(listener, for: interest)
  }

  /// Adds an observer of one record.
  ///
  /// - Returns: Whether ``interests`` changed.
  mutating func add(_ observer: RecordObserver) -> Bool {
    recordObserverCount += 1
    return madeRoutes(of: observer.model).routes.add(observer)
  }

  /// - Returns: Whether ``interests`` changed.
  mutating func remove(_ number: UInt64, for interest: ChangeBroker.Interest) -> Bool {
    guard let model = routes(of: interest.model) else { return false }
    model.routes.remove(number, from: interest.records)
    return removeReader(of: interest.fields, from: model)
  }

  /// Removes an observer of one record.
  ///
  /// - Returns: Whether it was here, and whether ``interests`` changed.
  mutating func remove(_ observer: RecordObserver) -> (found: Bool, changes: Bool) {
    guard let model = routes(of: observer.model), model.routes.records.remove(observer) else {
      return (false, false)
    }
    recordObserverCount -= 1
    return (true, removeReader(of: observer.fields.fields, from: model))
  }

  private mutating func removeReader(of fields: Set<Int>?, from model: ModelRoutes) -> Bool {
    let isNarrower = model.routes.count(fields, by: -1)
    guard model.routes.isEmpty else { return isNarrower }
    models[model.model] = nil
    latest = nil
    return true
  }

  /// Calls `body` once with each observer that `change` may concern.
  ///
  /// - Returns: The number of observers visited, including those the change does not concern.
  /// - Complexity: O(observers concerned + fields used for lookup), times log n for observers found
  ///   by one of n ranges. Observers that read other fields of the same records are visited too.
  @discardableResult
  mutating func forEach(of change: RecordChange, _ body: (Found) -> Void) -> Int {
    routes(of: change.model)?.routes.forEach(of: change, body) ?? 0
  }

  /// Calls `body` as ``forEach(of:_:)`` does, with the number of each observer.
  @discardableResult
  mutating func forEachObserver(of change: RecordChange, _ body: (UInt64) -> Void) -> Int {
    forEach(of: change) { body($0.number) }
  }

  /// Returns whether a row that is about to change may concern an observer. It reads only the
  /// values by which observers are found.
  ///
  /// If it returns false for each change of a row in a transaction, then ``forEachObserver(of:_:)``
  /// finds no observer for the net change: the record before and after are among the states seen
  /// here, and fields that differ in the end have differed in a step.
  ///
  /// - Returns: true also if the hook cannot read a value.
  mutating func mayConcern(_ row: borrowing PreupdateRow, of table: TrackedTable) -> Bool {
    routes(of: table.schema.name)?.routes.mayConcern(row, of: table) ?? false
  }

  /// Calls `body` with each observer of records of `model`.
  ///
  /// - Complexity: O(observers of the model).
  func forEach(ofModel model: String, _ body: (Found) -> Void) {
    models[model]?.routes.forEach(body)
  }

  /// Calls `body` with each observer of single records.
  ///
  /// - Complexity: O(these observers).
  func forEachRecordObserver(_ body: (RecordObserver, UInt64) -> Void) {
    for model in models.values {
      model.routes.records.forEachObserver { observer in
        if let number = observer.number { body(observer, number) }
      }
    }
  }
}

extension RecordObserver {
  /// Calls `body` with this observer. One that has just ended is about to leave.
  fileprivate func found(_ body: (ChangeRoutes.Found) -> Void) {
    if let number { body(.record(self, number)) }
  }
}

extension ChangeRoutes.Routes {
  /// - Returns: Whether the set of fields to read changed.
  fileprivate mutating func add(
    _ listener: ChangeRoutes.Listener, for interest: ChangeBroker.Interest
  ) -> Bool {
    switch interest.records {
    case .all:
      all.append(listener)
    case .one(let key, let identity):
      self.identity = identity
      ofRecord.add(listener, to: key)
    case .having(let field, let value):
      ofValue[field, default: [:]].add(listener, to: value)
    case .within(let range):
      ofRange[range.field, default: (range.collation, RangeIndex())].ranges
        .insert(range, number: listener.number, listener)
    }
    return count(interest.fields, by: 1)
  }

  /// - Returns: Whether the set of fields to read changed.
  fileprivate mutating func add(_ observer: RecordObserver) -> Bool {
    identity = observer.fields.identity
    records.insert(observer)
    return count(observer.fields.fields, by: 1)
  }

  fileprivate mutating func remove(
    _ number: UInt64, from wanted: ChangeBroker.Interest.Records
  ) {
    switch wanted {
    case .all:
      all.removeAll { $0.number == number }
    case .one(let key, _):
      ofRecord.remove(number, from: key)
    case .having(let field, let value):
      var values = ofValue.removeValue(forKey: field) ?? [:]
      values.remove(number, from: value)
      if !values.isEmpty { ofValue[field] = values }
    case .within(let range):
      ofRange[range.field]?.ranges.remove(range, number: number)
      if ofRange[range.field]?.ranges.isEmpty == true { ofRange[range.field] = nil }
    }
  }

  /// Calls `body` with each observer of the model.
  fileprivate func forEach(_ body: (ChangeRoutes.Found) -> Void) {
    func tell(_ listener: ChangeRoutes.Listener) { body(.seat(listener.seat)) }
    for listener in all { tell(listener) }
    records.forEachObserver { $0.found(body) }
    for listeners in ofRecord.values { listeners.forEachListener(tell) }
    for values in ofValue.values {
      for listeners in values.values { listeners.forEachListener(tell) }
    }
    for (_, ranges) in ofRange.values { ranges.forEach(tell) }
  }

  fileprivate func mayConcern(_ row: borrowing PreupdateRow, of table: TrackedTable) -> Bool {
    guard !table.needsSnapshot, !all.contains(where: { $0.fields.isAll }) else { return true }
    do {
      // Only observers of records, found by the rowid: most rows have none.
      if isOfRecordsOnly, table.rowsAreRecords {
        let readers = fieldsRead(ofRecordIn: row)
        return try !readers.isEmpty && readers.overlaps(FieldMask(changedBy: row, of: table))
      }
      let changed = try FieldMask(changedBy: row, of: table)
      if all.contains(where: { $0.fields.overlaps(changed) }) { return true }
      return try row.operation != .insert && mayHold(row, isNew: false, table, changed)
        || row.operation != .delete && mayHold(row, isNew: true, table, changed)
    } catch {
      return true
    }
  }

  fileprivate func forEach(of change: RecordChange, _ body: (ChangeRoutes.Found) -> Void) -> Int {
    let changed = change.changed
    func tell(_ listener: ChangeRoutes.Listener) {
      if listener.fields.overlaps(changed) { body(.seat(listener.seat)) }
    }
    func tell(_ listeners: ChangeRoutes.Listeners?) -> Int {
      guard let listeners else { return 0 }
      listeners.forEachListener(tell)
      return listeners.count
    }
    for listener in all { tell(listener) }
    var visited = all.count
    if let identity, !records.isEmpty || !ofRecord.isEmpty,
      let record = identity(changed: change.recordKey)
    {
      visited += records.forEach(of: record) { observer in
        if observer.fields.mask.overlaps(changed) { observer.found(body) }
      }
      if !ofRecord.isEmpty { visited += tell(ofRecord[record]) }
    }
    for (field, values) in ofValue {
      let old = change.old.map { QueryRegion.normalized($0[field]) }
      if let old { visited += tell(values[old]) }
      guard old == nil || changed.contains(field),
        let new = change.new.map({ QueryRegion.normalized($0[field]) }), new != old
      else { continue }
      visited += tell(values[new])
    }
    for (field, (collation, ranges)) in ofRange {
      let old = change.old.map { ValueRange.place(of: $0[field], collation) }
      if let old { visited += ranges.forEach(containing: old) { _, listener in tell(listener) } }
      guard old == nil || changed.contains(field),
        let new = change.new.map({ ValueRange.place(of: $0[field], collation) }), new != old
      else { continue }
      visited += ranges.forEach(containing: new, butNot: old) { _, listener in tell(listener) }
    }
    return visited
  }

  /// Returns the fields read by observers that are found by the rowid before or after the change.
  /// The rowid is the key.
  fileprivate func fieldsRead(ofRecordIn row: borrowing PreupdateRow) -> FieldMask {
    switch row.operation {
    case .insert: return fieldsRead(of: .integer(row.newRowID))
    case .delete: return fieldsRead(of: .integer(row.oldRowID))
    case .update:
      var fields = fieldsRead(of: .integer(row.oldRowID))
      if row.newRowID != row.oldRowID { fields.formUnion(fieldsRead(of: .integer(row.newRowID))) }
      return fields
    }
  }

  /// Returns the fields read by observers that are found by the key of a record.
  private func fieldsRead(of record: RecordIdentity) -> FieldMask {
    var fields = records.fieldsRead(of: record)
    if !ofRecord.isEmpty, let listeners = ofRecord[record] { fields.formUnion(listeners.fields) }
    return fields
  }

  /// Whether an observer that reads one of the changed fields is found by a value of the row.
  ///
  /// - Parameter isNew: Whether to use the row after its change.
  fileprivate func mayHold(
    _ row: borrowing PreupdateRow, isNew: Bool, _ table: TrackedTable, _ changed: FieldMask
  ) throws(ColumnError) -> Bool {
    // An update that keeps the key is found by the old one.
    let hasSameKey = isNew && row.operation == .update && !changed.isAll
    if let identity, !hasSameKey, !records.isEmpty || !ofRecord.isEmpty {
      guard let record = try table.record(identity, in: row, isNew: isNew) else { return true }
      if fieldsRead(of: record).overlaps(changed) { return true }
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
      let place = ValueRange.place(of: value, collation)
      let mayCome = changed.contains(field)
      if ranges.contains(place, where: { mayCome || $0.fields.overlaps(changed) }) { return true }
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
  func forEachListener(_ body: (ChangeRoutes.Listener) -> Void) {
    switch self {
    case .one(let listener): body(listener)
    case .several(let listeners): for listener in listeners { body(listener) }
    }
  }

  fileprivate var count: Int {
    switch self {
    case .one: 1
    case .several(let listeners): listeners.count
    }
  }

  fileprivate func reads(_ changed: FieldMask) -> Bool {
    switch self {
    case .one(let listener): listener.fields.overlaps(changed)
    case .several(let listeners): listeners.contains { $0.fields.overlaps(changed) }
    }
  }

  /// The fields that they read.
  fileprivate var fields: FieldMask {
    switch self {
    case .one(let listener): listener.fields
    case .several(let listeners):
      listeners.reduce(into: FieldMask.none) { $0.formUnion($1.fields) }
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
  /// Returns the identity of the record in a row of the hook; nil if the hook does not know it, or
  /// if the row has no key: it is identified by its rowid then.
  fileprivate func record(
    _ identity: KeyIdentity, in row: borrowing PreupdateRow, isNew: Bool
  ) throws(ColumnError) -> RecordIdentity? {
    if key.count == 1 {
      guard let value = try value(of: key[0], in: row, isNew: isNew), !value.isNull else {
        return nil
      }
      return identity(stored: value)
    }
    var values: [SQLValue] = []
    for field in key {
      guard let value = try value(of: field, in: row, isNew: isNew), !value.isNull else {
        return nil
      }
      values.append(value)
    }
    return identity(stored: values)
  }

  /// Returns the value of a field in a row of the hook; nil if the hook does not know it.
  fileprivate func value(
    of field: Int, in row: borrowing PreupdateRow, isNew: Bool
  ) throws(ColumnError) -> SQLValue? {
    guard let column = storedColumns[field] else { return nil }
    let value = isNew ? try row.new(at: column) : try row.old(at: column)
    return value.isNull && fieldsWithDefault.contains(field) ? nil : value
  }
}
