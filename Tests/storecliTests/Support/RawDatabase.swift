import CSQLite
import Foundation
import Testing

/// A plain SQLite connection, as another program would have it.
final class RawDatabase {
  private var handle: OpaquePointer?

  init(_ path: String) throws {
    try #require(sqlite3_open(path, &handle) == SQLITE_OK)
    sqlite3_busy_timeout(handle, 60_000)
  }

  deinit {
    sqlite3_close(handle)
  }

  /// Registers a collation, as the program does that made such a file.
  func registerCollation(_ name: String) throws {
    let code = sqlite3_create_collation(handle, name, SQLITE_UTF8, nil) {
      _, count, left, other, right in
      guard let left, let right else { return count - other }
      let order = memcmp(left, right, Int(min(count, other)))
      return order == 0 ? count - other : order
    }
    try #require(code == SQLITE_OK)
  }

  func execute(_ sql: String) throws {
    try #require(
      sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK,
      "\(String(cString: sqlite3_errmsg(handle)))")
  }

  /// Whether a rule of the file refuses the statement.
  func refuses(_ sql: String) -> Bool {
    sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_CONSTRAINT
  }

  /// Whether no other connection writes at this moment; waits for nothing.
  func canBegin() throws -> Bool {
    sqlite3_busy_timeout(handle, 0)
    defer { sqlite3_busy_timeout(handle, 60_000) }
    let code = sqlite3_exec(handle, "BEGIN IMMEDIATE; ROLLBACK", nil, nil, nil)
    try #require(code == SQLITE_OK || code == SQLITE_BUSY)
    return code == SQLITE_OK
  }

  /// The first column of the first row, as text.
  func value(_ sql: String) throws -> String {
    var statement: OpaquePointer?
    try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
    defer { sqlite3_finalize(statement) }
    try #require(sqlite3_step(statement) == SQLITE_ROW)
    return sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "NULL"
  }
}
