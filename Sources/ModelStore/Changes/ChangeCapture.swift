/// Collects which rows a transaction touched and how each looked before its first touch.
///
/// A pure state machine: the preupdate hook reports rows, the pipeline asks for the net result. It
/// keeps no event list, because SQLite retracts nothing when a savepoint or a failed statement
/// rolls back; the first old image stays true through all of that, and the final row is read from
/// the table. So rollbacks, OR FAIL, trigger chains and no-op updates need no code here.
struct ChangeCapture {
  /// How a row is known while the transaction runs.
  enum RowIdentity: Hashable {
    case rowID(Int64)
    /// The key of a WITHOUT ROWID table, in key order.
    case key([SQLValue])
  }

  struct TouchedRow {
    let table: Int
    let identity: RowIdentity
    /// The row before the transaction, spread over the model's width; nil when there was none.
    let before: [SQLValue]?
    /// Whether `before` must be read from a snapshot instead, because the hook could not show it.
    let needsSnapshot: Bool
    let origin: Origin
  }

  /// Something about a touched row that a rollback to a savepoint takes back.
  private enum Mark {
    /// The row was deleted and is inserted again.
    case recreated(row: Int)
    /// Who set the field last.
    case origin(row: Int, field: Int, Origin)
  }

  private(set) var rows: [TouchedRow] = []
  private var marks: [Mark] = []
  private var places: [Place: Int] = [:]

  private struct Place: Hashable {
    let table: Int
    let identity: RowIdentity
  }

  var isEmpty: Bool { rows.isEmpty }

  /// Notes that a row is about to change. Only the first touch of a row counts.
  ///
  /// - Parameter before: The row as it is; called only for a first touch. nil says there is none.
  /// - Returns: The row's place in ``rows``.
  @discardableResult
  mutating func touch(
    table: Int, identity: RowIdentity, origin: Origin, before: () throws -> FirstImage
  ) rethrows -> Int {
    let place = Place(table: table, identity: identity)
    if let index = places[place] { return index }
    let image = try before()
    places[place] = rows.count
    rows.append(
      TouchedRow(
        table: table, identity: identity, before: image.values,
        needsSnapshot: image.needsSnapshot, origin: origin))
    return rows.count - 1
  }

  struct FirstImage {
    var values: [SQLValue]?
    var needsSnapshot = false
  }

  /// Notes who set `field` of the touched row last.
  mutating func setOrigin(_ origin: Origin, ofField field: Int, at row: Int) {
    marks.append(.origin(row: row, field: field, origin))
  }

  /// Notes that the touched row, which was there before, is inserted again.
  mutating func setRecreated(at row: Int) {
    marks.append(.recreated(row: row))
  }

  /// A place to roll back to.
  var savepoint: Int { marks.count }

  /// Takes back what was noted after `savepoint`. First images stay: they are still the first.
  mutating func rollBack(to savepoint: Int) {
    marks.removeSubrange(savepoint...)
  }

  /// What the transaction did, net: rows before joined with rows after by the model's key.
  ///
  /// - Parameters:
  ///   - before: Reads a touched row as of before the transaction; for rows that need a snapshot.
  ///   - after: Reads a touched row as it is now; nil when it is gone.
  /// - Complexity: Linear in the touched rows.
  func netChanges(
    tables: [TrackedTable],
    before: (TouchedRow) throws -> [SQLValue]?,
    after: (TouchedRow) throws -> [SQLValue]?
  ) rethrows -> [RecordChange] {
    var records: [NetRecord] = []
    var places: [RecordPlace: Int] = [:]
    func record(_ row: TouchedRow, _ image: [SQLValue]) -> Int {
      let place = RecordPlace(
        table: row.table, key: Self.key(of: image, in: tables[row.table].schema, row.identity))
      if let index = places[place] { return index }
      places[place] = records.count
      records.append(NetRecord(table: row.table, key: place.key, origin: row.origin))
      return records.count - 1
    }
    let notes = foldedMarks()
    for (place, row) in rows.enumerated() {
      if let image = row.needsSnapshot ? try before(row) : row.before {
        let index = record(row, image)
        records[index].old = image
        records[index].oldIdentity = row.identity
      }
      if let image = try after(row) {
        let index = record(row, image)
        records[index].new = image
        records[index].newIdentity = row.identity
        records[index].fieldOrigins = notes.origins[place] ?? [:]
        records[index].isRecreated = notes.recreated.contains(place)
      }
    }
    return records.compactMap { $0.change(in: tables[$0.table]) }
  }

  private func foldedMarks() -> (origins: [Int: [Int: Origin]], recreated: Set<Int>) {
    var origins: [Int: [Int: Origin]] = [:]
    var recreated: Set<Int> = []
    for mark in marks {
      switch mark {
      case .recreated(let row): recreated.insert(row)
      case .origin(let row, let field, let origin): origins[row, default: [:]][field] = origin
      }
    }
    return (origins, recreated)
  }

  private struct RecordPlace: Hashable {
    let table: Int
    let key: [SQLValue]
  }

  private struct NetRecord {
    let table: Int
    let key: [SQLValue]
    let origin: Origin
    var old: [SQLValue]?
    var new: [SQLValue]?
    var oldIdentity: RowIdentity?
    var newIdentity: RowIdentity?
    var fieldOrigins: [Int: Origin] = [:]
    var isRecreated = false

    func change(in table: TrackedTable) -> RecordChange? {
      guard old != nil || new != nil, old != new else { return nil }
      var fields: [ChangedField] = []
      if let old, let new {
        for index in table.fields where old[index] != new[index] {
          fields.append(
            ChangedField(
              name: table.schema.fields[index].name, old: old[index], new: new[index],
              origin: fieldOrigins[index] ?? origin))
        }
      }
      return RecordChange(
        model: table.schema.name, key: key, old: old, new: new, fields: fields, origin: origin,
        isRecreated: old != nil && new != nil && (isRecreated || oldIdentity != newIdentity))
    }
  }

  /// The record's key values. SQLite allows NULL in the primary key of a rowid table, where it
  /// equals nothing; such a row is told apart by its rowid.
  private static func key(
    of image: [SQLValue], in schema: ModelSchema, _ identity: RowIdentity
  ) -> [SQLValue] {
    let key = schema.keyIndices.map { image[$0] }
    if key.contains(.null), case .rowID(let number) = identity { return key + [.integer(number)] }
    return key
  }
}
