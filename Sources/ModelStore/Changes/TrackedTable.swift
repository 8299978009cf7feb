/// A table whose changes are captured in the current transaction: which values are read, and from
/// where.
///
/// A class, because the hook reads it for each row. A copy of a value type would retain and release
/// about thirty references.
final class TrackedTable: Sendable {
  let schema: ModelSchema
  /// The positions of the key's fields, in key order.
  let key: [Int]
  /// Whether a row with one identity is always the same record, because its rowid is its key. A key
  /// in another collation than BINARY also matches a row that replaced it.
  let rowsAreRecords: Bool
  /// The fields to read, ascending; the key's fields are always included.
  let fields: [Int]
  /// For each field, where the preupdate hook finds its column; nil for a column that it cannot
  /// read.
  let storedColumns: [StoredColumn?]
  /// Fields whose NULL in the hook may stand for a default: rows older than an ALTER TABLE ADD
  /// COLUMN do not store it. See <https://sqlite.org/lang_altertable.html#altertabaddcol>.
  let fieldsWithDefault: [Int]
  /// The SQL that reads `fields` of one row, by rowid or by key.
  let rowText: String

  /// Whether a row is identified by its rowid during the transaction, rather than by its key.
  var isKnownByRowID: Bool { !schema.isWithoutRowID }

  /// Whether the hook cannot read some needed value, so that old images come from a snapshot.
  let needsSnapshot: Bool

  /// - Parameters:
  ///   - columns: The table's columns in the file's order, hidden ones included.
  ///   - wanted: The fields that observers or validators need; nil for all.
  init(schema: ModelSchema, columns: [ColumnFacts], wanted: Set<Int>?) {
    self.schema = schema
    let key = schema.keyIndices
    self.key = key
    rowsAreRecords = schema.rowIDFieldIndex != nil
    let needed = wanted.map { $0.union(key) }
    fields = schema.fields.indices.filter { needed?.contains($0) ?? true }
    let places = StoredColumn.all(
      of: columns.map(\.stored), isWithoutRowID: schema.isWithoutRowID)
    var stored: [String: StoredColumn] = [:]
    var defaulted: Set<String> = []
    for (column, place) in zip(columns, places) {
      stored[column.name] = place
      if column.hasDefault { defaulted.insert(column.name) }
    }
    let rowIDField = schema.rowIDFieldIndex
    let storedColumns = schema.fields.enumerated().map { index, field -> StoredColumn? in
      // The hook reports a rowid with the row. It is cheaper than a value.
      if index == rowIDField { return .rowID }
      return stored[field.column] ?? (field.isRowID && schema.hasHiddenRowID ? .rowID : nil)
    }
    self.storedColumns = storedColumns
    needsSnapshot = fields.contains { storedColumns[$0] == nil }
    fieldsWithDefault = fields.filter { defaulted.contains(schema.fields[$0].column) }
    let names = SQLText.quotedList(fields.map { schema.fields[$0].column })
    let place =
      schema.isWithoutRowID
      ? key.map { SQLText.quoted(schema.fields[$0].column) + " IS ?" }
        .joined(separator: " AND ")
      : "\(TableFacts.rowIDName(besides: columns.map(\.name)) ?? "rowid") = ?"
    rowText = "SELECT \(names) FROM main.\(SQLText.quoted(schema.table)) WHERE \(place)"
  }

  /// The facts about one column that capture needs.
  struct ColumnFacts: Hashable, Sendable {
    var name: String
    var hasDefault: Bool
    var stored: StoredColumn.Facts
  }

  /// Returns an array as wide as the model with values at `fields`. The rest are NULL and are never
  /// read.
  ///
  /// - Parameter value: Returns the value at a position in `fields`. Called in their order.
  func image<Failure: Error>(
    _ value: (_ place: Int) throws(Failure) -> SQLValue
  ) throws(Failure) -> [SQLValue] {
    var image: [SQLValue] = []
    image.reserveCapacity(schema.fields.count)
    var place = 0
    for field in schema.fields.indices {
      if place < fields.count, fields[place] == field {
        image.append(try value(place))
        place += 1
      } else {
        image.append(.null)
      }
    }
    return image
  }
}
