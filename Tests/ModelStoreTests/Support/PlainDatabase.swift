import CSQLite
import ModelStore
import Testing

/// The file as any other program sees it: a connection of SQLite's own, with none of the store's
/// settings. What tests compare the store with.
final class PlainDatabase {
  let handle: OpaquePointer

  struct Failure: Error, CustomStringConvertible {
    let code: Int32
    let description: String
  }

  init(_ path: String) throws {
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(
      path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let opened else {
      throw Failure(code: code, description: "cannot open \(path)")
    }
    handle = opened
    sqlite3_busy_timeout(handle, 10_000)
  }

  deinit { sqlite3_close_v2(handle) }

  func execute(_ script: String) throws {
    let code = sqlite3_exec(handle, script, nil, nil, nil)
    guard code == SQLITE_OK else {
      throw Failure(
        code: code, description: String(cString: sqlite3_errmsg(handle)) + ": " + script)
    }
  }

  /// Text that is not UTF-8 reads as a blob.
  func rows(_ sql: String) throws -> [[SQLValue]] {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw Failure(code: 1, description: String(cString: sqlite3_errmsg(handle)) + ": " + sql)
    }
    var rows: [[SQLValue]] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      rows.append((0..<sqlite3_column_count(statement)).map { Self.value(statement, $0) })
    }
    return rows
  }

  private static func value(_ statement: OpaquePointer, _ column: Int32) -> SQLValue {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
    case SQLITE_TEXT:
      let bytes = self.bytes(sqlite3_column_text(statement, column), statement, column)
      return String(validating: bytes, as: UTF8.self).map(SQLValue.text) ?? .blob(bytes)
    case SQLITE_BLOB:
      return .blob(bytes(sqlite3_column_blob(statement, column), statement, column))
    default: return .null
    }
  }

  private static func bytes(
    _ start: UnsafeRawPointer?, _ statement: OpaquePointer, _ column: Int32
  ) -> [UInt8] {
    [UInt8](
      UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
  }
}
