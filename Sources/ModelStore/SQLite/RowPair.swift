internal import CSQLite

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The current rows of two statements with the same columns. Valid until either steps.
struct RowPair {
  private let left: OpaquePointer
  private let right: OpaquePointer

  init(_ left: borrowing Statement, _ right: borrowing Statement) {
    self.left = left.handle
    self.right = right.handle
  }

  /// Compares the first `columnCount` columns in the order of BINARY: NULL, numbers, texts by their
  /// bytes, blobs. <https://sqlite.org/datatype3.html#sort_order>
  ///
  /// - Returns: A negative number if the left row comes first, a positive one if the right row
  ///   does, 0 if SQLite gives them no order.
  func order(ofFirst columnCount: Int) -> Int {
    for column in 0..<Int32(columnCount) {
      let order = Self.order(
        sqlite3_column_value(left, column), sqlite3_column_value(right, column))
      if order != 0 { return order }
    }
    return 0
  }

  /// Whether both rows have the same values in the same storage classes.
  func isEqual(in columns: Range<Int>) -> Bool {
    for column in columns {
      let (left, right) = (
        sqlite3_column_value(left, Int32(column)), sqlite3_column_value(right, Int32(column))
      )
      let type = sqlite3_value_type(left)
      guard type == sqlite3_value_type(right) else { return false }
      switch type {
      case SQLITE_NULL: continue
      case SQLITE_INTEGER:
        guard sqlite3_value_int64(left) == sqlite3_value_int64(right) else { return false }
      case SQLITE_FLOAT:
        // 0.0 and -0.0 are different content.
        guard
          sqlite3_value_double(left).bitPattern == sqlite3_value_double(right).bitPattern
        else { return false }
      default:
        guard Self.order(ofBytes: left, right) == 0 else { return false }
      }
    }
    return true
  }

  private static func order(_ left: OpaquePointer?, _ right: OpaquePointer?) -> Int {
    let (first, second) = (sqlite3_value_type(left), sqlite3_value_type(right))
    guard rank(first) == rank(second) else { return rank(first) - rank(second) }
    switch (first, second) {
    case (SQLITE_NULL, _): return 0
    case (SQLITE_INTEGER, SQLITE_INTEGER):
      return order(of: sqlite3_value_int64(left), sqlite3_value_int64(right))
    case (SQLITE_FLOAT, SQLITE_FLOAT):
      return order(of: sqlite3_value_double(left), sqlite3_value_double(right))
    case (SQLITE_INTEGER, SQLITE_FLOAT):
      return order(of: sqlite3_value_int64(left), sqlite3_value_double(right))
    case (SQLITE_FLOAT, SQLITE_INTEGER):
      return -order(of: sqlite3_value_int64(right), sqlite3_value_double(left))
    default: return order(ofBytes: left, right)
    }
  }

  private static func rank(_ type: Int32) -> Int {
    switch type {
    case SQLITE_NULL: 0
    case SQLITE_INTEGER, SQLITE_FLOAT: 1
    case SQLITE_TEXT: 2
    default: 3
    }
  }

  private static func order<Number: Comparable>(of left: Number, _ right: Number) -> Int {
    left < right ? -1 : left == right ? 0 : 1
  }

  /// Compares without rounding, as SQLite does.
  private static func order(of integer: Int64, _ real: Double) -> Int {
    if real < -0x1p63 { return 1 }
    if real >= 0x1p63 { return -1 }
    let whole = Int64(real)
    if integer != whole { return integer < whole ? -1 : 1 }
    return order(of: Double(integer), real)
  }

  private static func order(ofBytes left: OpaquePointer?, _ right: OpaquePointer?) -> Int {
    // The bytes of a text whether or not they are UTF-8; read before their count.
    let (first, second) = (sqlite3_value_blob(left), sqlite3_value_blob(right))
    let counts = (Int(sqlite3_value_bytes(left)), Int(sqlite3_value_bytes(right)))
    if let first, let second {
      let order = memcmp(first, second, min(counts.0, counts.1))
      if order != 0 { return Int(order) }
    }
    return counts.0 - counts.1
  }
}
