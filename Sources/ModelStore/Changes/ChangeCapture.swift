/// Collects which rows a transaction touched and the content of each before its first touch.
///
/// This is a pure state machine: the preupdate hook reports rows, and the pipeline requests the net
/// result. It keeps no list of events, because SQLite does not retract events when a savepoint or a
/// failed statement rolls back. The first old image remains valid in all these cases, and the final
/// row is read from the table. So rollbacks, OR FAIL, trigger chains and no-op updates need no code
/// here.
struct ChangeCapture {
  /// How a row is identified during the transaction.
  enum RowIdentity: Hashable {
    case rowID(Int64)
    /// The key of a WITHOUT ROWID table, in key order.
    case key([SQLValue])
  }

  struct TouchedRow {
    let table: Int
    let identity: RowIdentity
    /// The row before the transaction, as wide as the model; nil when it did not exist.
    let before: [SQLValue]?
    /// Whether `before` must be read from a snapshot instead, because the hook could not read it.
    let needsSnapshot: Bool
    /// The origin of the first touch that was not rolled back.
    fileprivate(set) var provenance: Provenance
    /// Whether the touch by `provenance` has not been rolled back.
    fileprivate var isTouched = true
    /// Whether an observer may be concerned. If no touch of a row concerns anybody, its net change
    /// concerns no observer, because each of its states was seen.
    fileprivate(set) var isWanted: Bool
    /// Whether the row has, or had, further notes in addition to its first touch.
    fileprivate(set) var hasMarks = false
    /// The row after its latest touch, if that touch reported it.
    fileprivate var latest: Latest?
  }

  /// A row as a touch reported that it would leave it. It is certain as long as no statement failed
  /// and nothing was rolled back afterwards.
  fileprivate struct Latest {
    let image: [SQLValue]
    let certainty: UInt64
  }

  /// A later note about a touched row. A rollback to a savepoint removes it.
  private enum Mark {
    /// The row was touched again, after its first touch was rolled back.
    case touched(row: Int)
    case inserted(row: Int, Provenance)
    case deleted(row: Int, Provenance)
    /// The origin of the field's last change.
    case set(row: Int, field: Int, Provenance)
  }

  private(set) var rows: [TouchedRow] = []
  /// The number of rollbacks to a savepoint.
  private var rollbackCount: UInt64 = 0
  private var marks: [Mark] = []
  /// The place of each row in ``rows``; empty while there are few rows.
  private var places = RowPlaces()

  /// The most rows that are searched without a table. Most transactions touch one row.
  private static let fewRows = 4

  var isEmpty: Bool { rows.isEmpty }

  struct FirstImage {
    var values: [SQLValue]?
    var needsSnapshot = false
  }

  /// Records that a row is about to be inserted, or to get this key.
  mutating func inserting(
    table: Int, identity: RowIdentity, by provenance: Provenance, isWanted: Bool = true
  ) {
    let (row, isFirst) = touch(
      table: table, identity: identity, by: provenance, isWanted: isWanted
    ) { FirstImage() }
    if !isFirst { note(.inserted(row: row, provenance), of: row) }
  }

  /// Records that a row is about to be deleted, or to lose this key.
  ///
  /// - Parameter before: Returns the current row; called only for a first touch.
  mutating func deleting(
    table: Int, identity: RowIdentity, by provenance: Provenance, isWanted: Bool = true,
    before: () throws -> FirstImage
  ) rethrows {
    let (row, isFirst) = try touch(
      table: table, identity: identity, by: provenance, isWanted: isWanted, before: before)
    if !isFirst { note(.deleted(row: row, provenance), of: row) }
  }

  /// Records that a row is about to be updated under the same key.
  ///
  /// - Parameter before: Returns the current row; called only for a first touch.
  /// - Returns: The row's index in ``rows``.
  mutating func updating(
    table: Int, identity: RowIdentity, by provenance: Provenance, isWanted: Bool = true,
    before: () throws -> FirstImage
  ) rethrows -> Int {
    try touch(
      table: table, identity: identity, by: provenance, isWanted: isWanted, before: before
    ).row
  }

  /// Whether `provenance` may differ from that of an earlier change of the row.
  func mayDiffer(_ provenance: Provenance, at row: Int) -> Bool {
    rows[row].hasMarks || rows[row].provenance.origin != provenance.origin
  }

  /// Records the row at index `row` as its latest touch will leave it; nil if that is not known.
  ///
  /// - Parameter failureCount: The number of statements that failed so far.
  mutating func setLatest(_ image: [SQLValue]?, of row: Int, failureCount: UInt64) {
    rows[row].latest = image.map { Latest(image: $0, certainty: failureCount &+ rollbackCount) }
  }

  /// Returns the row at index `row` as its latest touch left it; nil if it must be read from the
  /// table.
  ///
  /// - Parameter failureCount: The number of statements that failed so far. If it has increased,
  ///   SQLite may have undone the touch.
  func latestImage(of row: Int, failureCount: UInt64) -> [SQLValue]? {
    guard let latest = rows[row].latest, latest.certainty == failureCount &+ rollbackCount else {
      return nil
    }
    return latest.image
  }

  /// Records the origin of the last change of `field` in the touched row.
  mutating func setProvenance(_ provenance: Provenance, ofField field: Int, at row: Int) {
    note(.set(row: row, field: field, provenance), of: row)
  }

  private mutating func touch(
    table: Int, identity: RowIdentity, by provenance: Provenance, isWanted: Bool,
    before: () throws -> FirstImage
  ) rethrows -> (row: Int, isFirst: Bool) {
    if let row = place(ofTable: table, identity) {
      if isWanted { rows[row].isWanted = true }
      rows[row].latest = nil
      if !rows[row].isTouched {
        rows[row].provenance = provenance
        rows[row].isTouched = true
        marks.append(.touched(row: row))
      }
      return (row, false)
    }
    let image = try before()
    rows.append(
      TouchedRow(
        table: table, identity: identity, before: image.values,
        needsSnapshot: image.needsSnapshot, provenance: provenance, isWanted: isWanted))
    if rows.count > Self.fewRows {
      for _ in (places.isEmpty ? 0 : rows.count - 1)..<rows.count {
        places.append { rows[$0].identity.hash(in: rows[$0].table) }
      }
    }
    return (rows.count - 1, true)
  }

  /// Returns the row's index in ``rows``; nil before its first touch.
  private func place(ofTable table: Int, _ identity: RowIdentity) -> Int? {
    func isWanted(_ place: Int) -> Bool {
      rows[place].table == table && rows[place].identity == identity
    }
    guard places.isEmpty else {
      return places.first(withHash: identity.hash(in: table), where: isWanted)
    }
    return rows.indices.first(where: isWanted)
  }

  private mutating func note(_ mark: Mark, of row: Int) {
    marks.append(mark)
    rows[row].hasMarks = true
  }

  /// A place to roll back to.
  struct Savepoint {
    fileprivate let marks: Int
    fileprivate let rows: Int
  }

  var savepoint: Savepoint { Savepoint(marks: marks.count, rows: rows.count) }

  /// Removes the notes after `savepoint`. First images stay, because they are still the first.
  mutating func rollBack(to savepoint: Savepoint) {
    rollbackCount += 1
    for row in savepoint.rows..<rows.count { rows[row].isTouched = false }
    for case .touched(let row) in marks[savepoint.marks...] { rows[row].isTouched = false }
    marks.removeSubrange(savepoint.marks...)
  }

  /// Returns the net changes of the transaction: rows before, joined with rows after by the model's
  /// key. Rows that concern no observer are left out.
  ///
  /// - Parameters:
  ///   - before: Reads the row at an index in ``rows`` as of before the transaction; for rows that
  ///     need a snapshot.
  ///   - after: Reads the current state of the row at an index in ``rows``; nil when it is deleted.
  /// - Complexity: Linear in the touched rows.
  func netChanges(
    tables: [TrackedTable],
    before: (_ row: Int) throws -> [SQLValue]?,
    after: (_ row: Int) throws -> [SQLValue]?
  ) rethrows -> [RecordChange] {
    guard rows.contains(where: \.isWanted) else { return [] }
    let notes = foldedMarks()
    let areRecords =
      tables.allSatisfy { $0.rowsAreRecords }
      || rows.allSatisfy { tables[$0.table].rowsAreRecords }
    guard !areRecords else {
      return try changesRowByRow(notes, tables, before, after)
    }
    var records: [NetRecord] = []
    var places: [RecordPlace: Int] = [:]
    func record(_ row: TouchedRow, _ image: [SQLValue]) -> Int {
      let place = RecordPlace(
        table: row.table, key: Self.key(of: image, in: tables[row.table], row.identity))
      if let index = places[place] { return index }
      places[place] = records.count
      records.append(NetRecord(table: row.table, key: RecordKey(place.key)))
      return records.count - 1
    }
    // A row that concerns no observer may be one record with a row that does.
    let wantedTables = Set(rows.lazy.filter(\.isWanted).map(\.table))
    for (place, row) in rows.enumerated() {
      guard row.isWanted || !tables[row.table].rowsAreRecords && wantedTables.contains(row.table)
      else { continue }
      let note = notes[place] ?? RowNote()
      if let image = row.needsSnapshot ? try before(place) : row.before {
        records[record(row, image)].old = NetRecord.Side(image: image, row: row, note: note)
      }
      if let image = try after(place) {
        records[record(row, image)].new = NetRecord.Side(image: image, row: row, note: note)
      }
    }
    return records.compactMap { $0.change(in: tables[$0.table]) }
  }

  /// Returns the net changes of a table in which each row is one record, so no join is needed.
  private func changesRowByRow(
    _ notes: [Int: RowNote], _ tables: [TrackedTable],
    _ before: (Int) throws -> [SQLValue]?, _ after: (Int) throws -> [SQLValue]?
  ) rethrows -> [RecordChange] {
    var changes: [RecordChange] = []
    changes.reserveCapacity(rows.count)
    for place in rows.indices where rows[place].isWanted {
      let old = rows[place].needsSnapshot ? try before(place) : rows[place].before
      let new = try after(place)
      guard old != nil || new != nil else { continue }
      let table = tables[rows[place].table]
      guard case .rowID(let number) = rows[place].identity else {
        preconditionFailure("A record is a row if the rowid is its key.")
      }
      let key = RecordKey.integer(number)
      guard let note = rows[place].hasMarks ? notes[place] : nil else {
        // Nearly all rows are touched once. Then one origin made the whole change.
        let provenance = rows[place].provenance
        let (fields, changed) = Self.fields(from: old, to: new, in: table) { _ in provenance }
        guard old == nil || new == nil || !fields.isEmpty else { continue }
        changes.append(
          RecordChange(
            model: table.schema.name, key: key, old: old, new: new, fields: fields,
            origin: provenance.origin, cause: provenance.cause, isRecreated: false,
            changed: changed))
        continue
      }
      let row = rows[place]
      var record = NetRecord(table: row.table, key: key)
      record.old = old.map { NetRecord.Side(image: $0, row: row, note: note) }
      record.new = new.map { NetRecord.Side(image: $0, row: row, note: note) }
      if let change = record.change(in: table) { changes.append(change) }
    }
    return changes
  }

  /// Returns the fields in which two images of a record differ. For an insertion and a deletion,
  /// there are none, and the mask contains all.
  private static func fields(
    from old: [SQLValue]?, to new: [SQLValue]?, in table: TrackedTable,
    setBy setter: (Int) -> Provenance
  ) -> (fields: [ChangedField], changed: FieldMask) {
    guard let old, let new else { return ([], .all) }
    var fields: [ChangedField] = []
    var changed = FieldMask.none
    for index in table.fields where old[index] != new[index] {
      let setter = setter(index)
      changed.insert(index)
      fields.append(
        ChangedField(
          name: table.schema.fields[index].name, old: old[index], new: new[index],
          origin: setter.origin, cause: setter.cause))
    }
    return (fields, changed)
  }

  /// The notes of one row that have not been rolled back.
  private struct RowNote {
    var inserter: Provenance?
    var deleter: Provenance?
    var fields: [Int: Provenance] = [:]
  }

  private func foldedMarks() -> [Int: RowNote] {
    var notes: [Int: RowNote] = [:]
    for mark in marks {
      switch mark {
      case .touched: continue
      case .inserted(let row, let provenance):
        // A new row: the origins of the former row's fields do not apply to it.
        notes[row] = RowNote(inserter: provenance)
      case .deleted(let row, let provenance):
        notes[row, default: RowNote()].deleter = provenance
      case .set(let row, let field, let provenance):
        let note = notes[row] ?? RowNote()
        let standing = note.fields[field] ?? note.inserter ?? rows[row].provenance
        // A later change in the same cascade keeps the first cause.
        notes[row, default: note].fields[field] =
          standing.origin == provenance.origin ? standing : provenance
      }
    }
    return notes
  }

  private struct RecordPlace: Hashable {
    let table: Int
    let key: [SQLValue]
  }

  private struct NetRecord {
    struct Side {
      let image: [SQLValue]
      let row: TouchedRow
      let note: RowNote
    }

    let table: Int
    let key: RecordKey
    var old: Side?
    var new: Side?

    func change(in table: TrackedTable) -> RecordChange? {
      switch (old, new) {
      case (nil, nil): return nil
      case (nil, let new?):
        return change(in: table, new.note.inserter ?? rekeyer(new, table) ?? new.row.provenance)
      case (let old?, nil):
        return change(in: table, old.note.deleter ?? rekeyer(old, table) ?? old.row.provenance)
      case (let old?, let new?):
        let (fields, changed) = ChangeCapture.fields(
          from: old.image, to: new.image, in: table
        ) { index in
          new.note.fields[index] ?? new.note.inserter ?? new.row.provenance
        }
        guard !fields.isEmpty else { return nil }
        return change(
          in: table, old.row.provenance, fields: fields, changed,
          isRecreated: new.note.inserter != nil || old.row.identity != new.row.identity)
      }
    }

    private func change(
      in table: TrackedTable, _ provenance: Provenance, fields: [ChangedField] = [],
      _ changed: FieldMask = .all, isRecreated: Bool = false
    ) -> RecordChange {
      RecordChange(
        model: table.schema.name, key: key, old: old?.image, new: new?.image, fields: fields,
        origin: provenance.origin, cause: provenance.cause, isRecreated: isRecreated,
        changed: changed)
    }

    /// Returns the origin of a changed key in a row that keeps its rowid.
    private func rekeyer(_ side: Side, _ table: TrackedTable) -> Provenance? {
      table.key.lazy.compactMap { side.note.fields[$0] }.first
    }
  }

  /// Returns the record's key values. SQLite allows NULL in the primary key of a rowid table, and
  /// NULL equals nothing. Such a row is identified by its rowid.
  private static func key(
    of image: [SQLValue], in table: TrackedTable, _ identity: RowIdentity
  ) -> [SQLValue] {
    let key = table.key.map { image[$0] }
    if key.contains(.null), case .rowID(let number) = identity { return key + [.integer(number)] }
    return key
  }
}
