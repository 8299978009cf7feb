internal import CSQLite

/// A row about to be inserted, updated or deleted, lent during the preupdate hook.
struct PreupdateRow: ~Copyable {
  enum Operation { case insert, update, delete }

  private let database: OpaquePointer
  let operation: Operation
  private let schema: UnsafePointer<CChar>
  /// The table's name; the pointer is stable while the schema is.
  let table: UnsafePointer<CChar>
  /// The rowid before the change. Meaningless for WITHOUT ROWID tables and inserts.
  let oldRowID: Int64
  /// The rowid after the change. Meaningless for WITHOUT ROWID tables and deletes.
  let newRowID: Int64

  init(
    database: OpaquePointer, operation: Int32, schema: UnsafePointer<CChar>,
    table: UnsafePointer<CChar>, oldRowID: Int64, newRowID: Int64
  ) {
    self.database = database
    self.operation =
      switch operation {
      case SQLITE_INSERT: .insert
      case SQLITE_DELETE: .delete
      default: .update
      }
    self.schema = schema
    self.table = table
    self.oldRowID = oldRowID
    self.newRowID = newRowID
  }

  /// Whether the table is one of the file itself, not of another or of the temporary database.
  var isInMainFile: Bool { String(cString: schema) == "main" }

  /// 0 for a statement's own change, 1 or more inside triggers and foreign-key actions.
  var depth: Int { Int(sqlite3_preupdate_depth(database)) }

  /// The value before the change.
  func old(at column: StoredColumn) throws(ColumnError) -> SQLValue {
    if column.isRowID { return .integer(oldRowID) }
    var value: OpaquePointer?
    let index = column.index(inUpdatedRow: false)
    return column.stored(
      try read(sqlite3_preupdate_old(database, index, &value), value, column.position))
  }

  /// The value after the change.
  func new(at column: StoredColumn) throws(ColumnError) -> SQLValue {
    if column.isRowID { return .integer(newRowID) }
    var value: OpaquePointer?
    let index = column.index(inUpdatedRow: operation == .update)
    return column.stored(
      try read(sqlite3_preupdate_new(database, index, &value), value, column.position))
  }

  private func read(
    _ code: Int32, _ value: OpaquePointer?, _ index: Int
  ) throws(ColumnError) -> SQLValue {
    guard code == SQLITE_OK, let value else {
      throw ColumnError(column: index, problem: .unrepresentable("SQLite gave no value (\(code))"))
    }
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
    case SQLITE_TEXT:
      guard let text = sqlite3_value_text(value) else {
        throw ColumnError(column: index, problem: .outOfMemory)
      }
      let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
      guard let string = String(exactUTF8: bytes) else {
        throw ColumnError(column: index, problem: .invalidUTF8)
      }
      return .text(string)
    case SQLITE_BLOB:
      let bytes = sqlite3_value_blob(value)
      let count = Int(sqlite3_value_bytes(value))
      guard bytes != nil || count == 0 else {
        throw ColumnError(column: index, problem: .outOfMemory)
      }
      return .blob([UInt8](UnsafeRawBufferPointer(start: bytes, count: count)))
    default: return .null
    }
  }
}
