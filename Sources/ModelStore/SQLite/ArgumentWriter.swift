internal import CSQLite

/// Writes the arguments of one statement, numbered from 0.
///
/// ``ColumnValue`` and ``Model`` borrow it while they encode, and it cannot outlive the statement.
/// It stores a failure (out of memory, or a value over SQLite's length limit), and the statement
/// throws it.
public struct ArgumentWriter: ~Copyable {
  private let statement: OpaquePointer
  /// The first result code that is an error.
  private(set) var failure: Int32 = SQLITE_OK
  /// The parameter that could not be bound, counted from 0.
  private(set) var failedIndex: Int?

  init(statement: OpaquePointer) {
    self.statement = statement
  }

  /// Another writer to the same statement, for an object that cannot borrow. The caller takes over
  /// its failure, and makes sure that the object does not use it after the statement.
  func shared() -> ArgumentWriter { ArgumentWriter(statement: statement) }

  /// Keeps the failure of `other` unless there was one before.
  mutating func takeFailure(of other: borrowing ArgumentWriter) {
    guard failure == SQLITE_OK else { return }
    failure = other.failure
    failedIndex = other.failedIndex
  }

  /// Binds NULL to the parameter at `index`, counted from 0.
  public mutating func setNull(at index: Int) {
    note(sqlite3_bind_null(statement, Int32(index + 1)), at: index)
  }

  /// Binds an integer to the parameter at `index`, counted from 0.
  public mutating func set(_ value: Int64, at index: Int) {
    note(sqlite3_bind_int64(statement, Int32(index + 1), value), at: index)
  }

  /// Binds a number. NaN makes the statement fail: SQLite would store NULL.
  public mutating func set(_ value: Double, at index: Int) {
    note(
      value.isNaN
        ? ResultCode.unstorable.rawValue
        : sqlite3_bind_double(statement, Int32(index + 1), value), at: index)
  }

  /// Binds text by length, which preserves embedded NUL characters.
  public mutating func set(_ value: String, at index: Int) {
    var value = value
    note(
      value.withUTF8 { bytes in
        guard let base = bytes.baseAddress else {
          return sqlite3_bind_text(statement, Int32(index + 1), "", 0, csqlite_transient())
        }
        return base.withMemoryRebound(to: CChar.self, capacity: bytes.count) { characters in
          sqlite3_bind_text64(
            statement, Int32(index + 1), characters, UInt64(bytes.count), csqlite_transient(),
            UInt8(SQLITE_UTF8))
        }
      }, at: index)
  }

  /// Binds a blob to the parameter at `index`, counted from 0; SQLite takes a copy.
  public mutating func set(_ value: [UInt8], at index: Int) {
    note(
      value.withUnsafeBytes { bytes in
        // A NULL pointer would bind NULL instead of an empty blob.
        guard let base = bytes.baseAddress, !bytes.isEmpty else {
          return sqlite3_bind_zeroblob(statement, Int32(index + 1), 0)
        }
        return sqlite3_bind_blob64(
          statement, Int32(index + 1), base, UInt64(bytes.count), csqlite_transient())
      }, at: index)
  }

  /// Binds a value of any storage class to the parameter at `index`, counted from 0.
  public mutating func set(_ value: SQLValue, at index: Int) {
    switch value {
    case .null: setNull(at: index)
    case .integer(let value): set(value, at: index)
    case .real(let value): set(value, at: index)
    case .text(let value): set(value, at: index)
    case .blob(let value): set(value, at: index)
    }
  }

  private mutating func note(_ code: Int32, at index: Int) {
    guard code != SQLITE_OK, failure == SQLITE_OK else { return }
    failure = code
    failedIndex = index
  }
}
