internal import CSQLite

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A row before its insertion, update or deletion, valid during the preupdate hook.
struct PreupdateRow: ~Copyable {
  enum Operation {
    case insert, update, delete

    init(code: Int32) {
      self =
        switch code {
        case SQLITE_INSERT: .insert
        case SQLITE_DELETE: .delete
        default: .update
        }
    }
  }

  private let database: OpaquePointer
  let operation: Operation
  private let schema: UnsafePointer<CChar>
  /// The table's name. The pointer is valid until the schema changes.
  let table: UnsafePointer<CChar>
  /// The rowid before the change. Meaningless for WITHOUT ROWID tables and inserts.
  let oldRowID: Int64
  /// The rowid after the change. Meaningless for WITHOUT ROWID tables and deletes.
  let newRowID: Int64

  init(
    database: OpaquePointer, operation: Operation, schema: UnsafePointer<CChar>,
    table: UnsafePointer<CChar>, oldRowID: Int64, newRowID: Int64
  ) {
    self.database = database
    self.operation = operation
    self.schema = schema
    self.table = table
    self.oldRowID = oldRowID
    self.newRowID = newRowID
  }

  /// Whether the table is in the file itself, not in another or the temporary database.
  var isInMainFile: Bool { String(cString: schema) == "main" }

  /// 0 for a statement's own change, 1 or more inside triggers and foreign-key actions.
  var depth: Int { Int(sqlite3_preupdate_depth(database)) }

  /// The value before the change.
  func old(at column: StoredColumn) throws(ColumnError) -> SQLValue {
    if column.isRowID { return .integer(oldRowID) }
    var value: OpaquePointer?
    let index = column.index(inUpdatedRow: false)
    return try column.formerlyStored(
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

  /// Whether an update stores different bytes in the column. It decodes nothing.
  func changes(at column: StoredColumn) -> Bool {
    if column.isRowID { return oldRowID != newRowID }
    var old: OpaquePointer?
    var new: OpaquePointer?
    guard
      sqlite3_preupdate_old(database, column.index(inUpdatedRow: false), &old) == SQLITE_OK,
      sqlite3_preupdate_new(database, column.index(inUpdatedRow: true), &new) == SQLITE_OK,
      let old, let new
    else { return true }
    let type = sqlite3_value_type(old)
    // The hook reports whole reals as integers, in the new row only.
    if column.isReal, type == SQLITE_FLOAT, sqlite3_value_type(new) == SQLITE_INTEGER {
      return sqlite3_value_double(old) != sqlite3_value_double(new)
    }
    guard type == sqlite3_value_type(new) else { return true }
    switch type {
    case SQLITE_NULL: return false
    case SQLITE_INTEGER: return sqlite3_value_int64(old) != sqlite3_value_int64(new)
    case SQLITE_FLOAT: return sqlite3_value_double(old) != sqlite3_value_double(new)
    default:
      // Read before the counts: SQLite may convert the value.
      let (left, right) = (sqlite3_value_blob(old), sqlite3_value_blob(new))
      let count = left == nil ? 0 : Int(sqlite3_value_bytes(old))
      guard count == (right == nil ? 0 : Int(sqlite3_value_bytes(new))) else { return true }
      guard let left, let right, count > 0 else { return false }
      return memcmp(left, right, count) != 0
    }
  }

  private func read(
    _ code: Int32, _ value: OpaquePointer?, _ index: Int
  ) throws(ColumnError) -> SQLValue {
    guard code == SQLITE_OK, let value else {
      throw ColumnError(column: index, problem: .unrepresentable("SQLite gave no value (\(code))"))
    }
    return try SQLValue(of: value, at: index)
  }
}
