internal import CSQLite

/// A borrowed view of one row, read by position from 0. Nothing of it outlives the step that made
/// it; keep a value by copying it out.
///
/// The row is either the current row of a running statement or a row image from a change set; both
/// read alike, so a model decodes itself from either.
public struct RowView: ~Copyable {
  // Numbers are read through `sqlite3_column_value`, which finds the cell once for its type and its
  // content. Such a value is unprotected, which only matters when threads share a connection; the
  // store's are opened with NOMUTEX and owned by one queue: https://sqlite.org/c3ref/value.html
  private let statement: OpaquePointer?
  private let image: [SQLValue]

  init(statement: OpaquePointer) {
    self.statement = statement
    image = []
  }

  init(image: [SQLValue]) {
    statement = nil
    self.image = image
  }

  private init(statement: OpaquePointer?, image: [SQLValue]) {
    self.statement = statement
    self.image = image
  }

  /// Another view of the same row, for an object that cannot borrow. The caller makes sure that the
  /// object does not use it after the step.
  func shared() -> RowView { RowView(statement: statement, image: image) }

  /// How many columns the row has.
  public var columnCount: Int {
    statement.map { Int(sqlite3_column_count($0)) } ?? image.count
  }

  /// How SQLite stores the value of a column, counted from 0.
  package func storageClass(at column: Int) -> StorageClass {
    guard let statement else { return image[column].storageClass }
    return switch sqlite3_column_type(statement, Int32(column)) {
    case SQLITE_INTEGER: .integer
    case SQLITE_FLOAT: .real
    case SQLITE_TEXT: .text
    case SQLITE_BLOB: .blob
    default: .null
    }
  }

  /// Whether a column, counted from 0, is NULL.
  public func isNull(at column: Int) -> Bool {
    guard let statement else { return image[column].isNull }
    return sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL
  }

  /// The integer at `column`.
  ///
  /// - Throws: ``ColumnError`` when the cell holds another storage class; nothing is converted.
  public func integer(at column: Int) throws(ColumnError) -> Int64 {
    if let statement {
      let cell = sqlite3_column_value(statement, Int32(column))
      if sqlite3_value_type(cell) == SQLITE_INTEGER { return sqlite3_value_int64(cell) }
    } else if case .integer(let value) = image[column] {
      return value
    }
    throw mismatch(.integer, at: column)
  }

  /// The number at `column`: a real, or an integer that a Double holds exactly.
  ///
  /// - Throws: ``ColumnError`` for text, blobs, NULL and integers beyond ±2^53 that would be
  ///   rounded.
  public func real(at column: Int) throws(ColumnError) -> Double {
    if let statement {
      let cell = sqlite3_column_value(statement, Int32(column))
      let type = sqlite3_value_type(cell)
      if type == SQLITE_FLOAT { return sqlite3_value_double(cell) }
      if type == SQLITE_INTEGER, let value = Double(exactly: sqlite3_value_int64(cell)) {
        return value
      }
    } else if case .real(let value) = image[column] {
      return value
    } else if case .integer(let integer) = image[column], let value = Double(exactly: integer) {
      return value
    }
    throw mismatch(.real, at: column)
  }

  /// The text at `column`, an embedded NUL included.
  ///
  /// - Throws: ``ColumnError`` for another storage class, and for bytes that are not UTF-8.
  public func text(at column: Int) throws(ColumnError) -> String {
    guard let statement else {
      if case .text(let value) = image[column] { return value }
      throw mismatch(.text, at: column)
    }
    guard sqlite3_column_type(statement, Int32(column)) == SQLITE_TEXT else {
      throw mismatch(.text, at: column)
    }
    // SQLite ends even an empty text with a NUL, so only want of memory leaves none.
    guard let bytes = sqlite3_column_text(statement, Int32(column)) else {
      throw ColumnError(column: column, problem: .outOfMemory)
    }
    // sqlite3_column_bytes comes after the conversion to UTF-8:
    // https://sqlite.org/c3ref/column_blob.html
    let count = Int(sqlite3_column_bytes(statement, Int32(column)))
    let buffer = UnsafeBufferPointer(start: bytes, count: count)
    guard let value = String(exactUTF8: buffer) else {
      throw ColumnError(column: column, problem: .invalidUTF8)
    }
    return value
  }

  /// The bytes at `column`.
  ///
  /// - Throws: ``ColumnError`` when the cell holds another storage class.
  public func blob(at column: Int) throws(ColumnError) -> [UInt8] {
    guard let statement else {
      if case .blob(let value) = image[column] { return value }
      throw mismatch(.blob, at: column)
    }
    guard sqlite3_column_type(statement, Int32(column)) == SQLITE_BLOB else {
      throw mismatch(.blob, at: column)
    }
    // The content comes first: it may have to be filled in, as a zeroblob is.
    let bytes = sqlite3_column_blob(statement, Int32(column))
    let count = Int(sqlite3_column_bytes(statement, Int32(column)))
    guard bytes != nil || count == 0 else {
      throw ColumnError(column: column, problem: .outOfMemory)
    }
    return [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
  }

  /// The bytes of the text at `column`, be it UTF-8 or not; nil when the cell holds something else
  /// than text.
  func textBytes(at column: Int) -> [UInt8]? {
    guard let statement else {
      if case .text(let value) = image[column] { return Array(value.utf8) }
      return nil
    }
    guard sqlite3_column_type(statement, Int32(column)) == SQLITE_TEXT else { return nil }
    let bytes = sqlite3_column_blob(statement, Int32(column))
    let count = Int(sqlite3_column_bytes(statement, Int32(column)))
    return [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
  }

  /// The value at `column` in whatever storage class it has.
  ///
  /// - Throws: ``ColumnError`` for text that is not UTF-8.
  public func value(at column: Int) throws(ColumnError) -> SQLValue {
    guard let statement else { return image[column] }
    let cell = sqlite3_column_value(statement, Int32(column))
    return switch sqlite3_value_type(cell) {
    case SQLITE_INTEGER: .integer(sqlite3_value_int64(cell))
    case SQLITE_FLOAT: .real(sqlite3_value_double(cell))
    case SQLITE_TEXT: .text(try text(at: column))
    case SQLITE_BLOB: .blob(try blob(at: column))
    default: .null
    }
  }

  /// All values, in column order.
  public func values() throws(ColumnError) -> [SQLValue] {
    var values: [SQLValue] = []
    let count = columnCount
    values.reserveCapacity(count)
    for column in 0..<count { values.append(try value(at: column)) }
    return values
  }

  private func mismatch(_ wanted: StorageClass, at column: Int) -> ColumnError {
    ColumnError(
      column: column, problem: .storageClass(wanted: wanted, found: storageClass(at: column)))
  }
}

/// Why a cell could not be read as, or written from, a Swift value. The value is never converted.
public struct ColumnError: Error, Hashable, Sendable {
  /// What stands in the way.
  @usableFromInline package enum Problem: Hashable, Sendable {
    /// The cell holds another storage class than the type is stored as.
    case storageClass(wanted: StorageClass, found: StorageClass)
    /// The text is not UTF-8.
    case invalidUTF8
    /// The value is of the right storage class but outside what the type can hold; says why.
    case unrepresentable(String)

    /// SQLite had no memory for the value.
    static var outOfMemory: Problem { .unrepresentable("SQLite had no memory for the value") }
  }

  /// The column's position in the row, from 0; -1 where the value stands alone.
  public var column: Int
  /// What stands in the way.
  package var problem: Problem

  /// An error about a cell, or about a value that stands alone.
  @usableFromInline package init(column: Int = -1, problem: Problem) {
    self.column = column
    self.problem = problem
  }

  /// The same error about the value in a column; one that names a column already stays.
  @usableFromInline
  func placed(at column: Int) -> ColumnError {
    self.column < 0 ? ColumnError(column: column, problem: problem) : self
  }
}

extension ColumnError: CustomStringConvertible {
  public var description: String {
    switch problem {
    case .storageClass(let wanted, let found):
      "expected \(wanted.rawValue), found \(found.rawValue)"
    case .invalidUTF8: "the text is not valid UTF-8"
    case .unrepresentable(let reason): reason
    }
  }
}

extension ColumnError {
  /// The error of a value that its column or its type cannot hold; the store adds which one.
  ///
  /// - Parameter reason: What is wrong: "the text is not a color".
  public init(_ reason: String) { self.init(problem: .unrepresentable(reason)) }
}
