internal import CSQLite

/// A borrowed view of one row. Read its values by position, counted from 0. It is valid only for
/// the current step; copy a value to keep it.
///
/// The row is either the current row of a running statement or a row image from a change set. A
/// model decodes itself from both in the same way.
public struct RowView: ~Copyable {
  // Numbers and texts are read through `sqlite3_column_value`, which finds the cell once for its
  // type and its content. Such a value is unprotected, which matters only if threads share a
  // connection. The store's connections use NOMUTEX and belong to one queue:
  // https://sqlite.org/c3ref/value.html
  private let statement: OpaquePointer?
  private let image: [SQLValue]
  /// What is kept from row to row; nil if nothing is.
  let companion: RowCompanion?

  init(statement: OpaquePointer, companion: RowCompanion? = nil) {
    self.statement = statement
    self.companion = companion
    image = []
  }

  init(image: [SQLValue]) {
    statement = nil
    companion = nil
    self.image = image
  }

  private init(statement: OpaquePointer?, image: [SQLValue], companion: RowCompanion?) {
    self.statement = statement
    self.image = image
    self.companion = companion
  }

  /// Another view of the same row, for an object that cannot borrow. The caller makes sure that the
  /// object does not use it after the step.
  func shared() -> RowView {
    // A companion that outlives the run would keep the object that keeps it.
    RowView(
      statement: statement, image: image, companion: companion?.isOfRun == true ? companion : nil)
  }

  /// Whether both are the current row of one statement.
  func isOfSameStatement(as other: borrowing RowView) -> Bool {
    statement != nil && statement == other.statement
  }

  /// The number of columns in the row.
  public var columnCount: Int {
    statement.map { Int(sqlite3_column_count($0)) } ?? image.count
  }

  /// Returns the storage class of the value in a column, counted from 0.
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

  /// Returns whether a column, counted from 0, is NULL.
  public func isNull(at column: Int) -> Bool {
    guard let cell = cell(at: column) else { return image[column].isNull }
    return sqlite3_value_type(cell) == SQLITE_NULL
  }

  /// Returns the integer at `column`.
  ///
  /// - Throws: ``ColumnError`` if the value has another storage class. Nothing is converted.
  public func integer(at column: Int) throws(ColumnError) -> Int64 {
    if let cell = cell(at: column), sqlite3_value_type(cell) == SQLITE_INTEGER {
      return sqlite3_value_int64(cell)
    }
    return try integerOfImage(at: column)
  }

  /// The integer at `column` of an image. Apart from the frequent case, which then needs fewer
  /// registers.
  @inline(never)
  private func integerOfImage(at column: Int) throws(ColumnError) -> Int64 {
    if statement == nil, case .integer(let value) = image[column] { return value }
    throw mismatch(.integer, at: column)
  }

  /// The cell at `column` of a statement's row; nil for an image.
  @inline(__always)
  private func cell(at column: Int) -> OpaquePointer? {
    if let cell = companion?.cell(at: column) { return cell }
    guard let statement else { return nil }
    return sqlite3_column_value(statement, Int32(column))
  }

  /// Returns the number at `column`: a real, or an integer that a Double represents exactly.
  ///
  /// - Throws: ``ColumnError`` for text, blobs, NULL, and integers beyond ±2^53 that would be
  ///   rounded.
  public func real(at column: Int) throws(ColumnError) -> Double {
    if let cell = cell(at: column), sqlite3_value_type(cell) == SQLITE_FLOAT {
      return sqlite3_value_double(cell)
    }
    return try realOfIntegerOrImage(at: column)
  }

  @inline(never)
  private func realOfIntegerOrImage(at column: Int) throws(ColumnError) -> Double {
    if let cell = cell(at: column) {
      if sqlite3_value_type(cell) == SQLITE_INTEGER,
        let value = Double(exactly: sqlite3_value_int64(cell))
      {
        return value
      }
    } else if case .real(let value) = image[column] {
      return value
    } else if case .integer(let integer) = image[column], let value = Double(exactly: integer) {
      return value
    }
    throw mismatch(.real, at: column)
  }

  /// Returns the text at `column`, including embedded NUL characters.
  ///
  /// - Throws: ``ColumnError`` for another storage class, and for bytes that are not UTF-8.
  public func text(at column: Int) throws(ColumnError) -> String {
    guard let statement, let cell = cell(at: column) else {
      if case .text(let value) = image[column] { return value }
      throw mismatch(.text, at: column)
    }
    guard sqlite3_value_type(cell) == SQLITE_TEXT else { throw mismatch(.text, at: column) }
    return try text(of: cell, at: column, of: statement)
  }

  /// - Parameter cell: The value at `column`, which is text.
  @inline(__always)
  private func text(
    of cell: OpaquePointer?, at column: Int, of statement: OpaquePointer
  ) throws(ColumnError) -> String {
    // SQLite terminates even an empty text with a NUL, so a null pointer means out of memory. Then
    // only a function of the column ends the statement's state of failure.
    guard let bytes = sqlite3_value_text(cell) ?? sqlite3_column_text(statement, Int32(column))
    else { throw ColumnError(column: column, problem: .outOfMemory) }
    // Call sqlite3_value_bytes after the conversion to UTF-8:
    // https://sqlite.org/c3ref/value_blob.html
    let count = Int(sqlite3_value_bytes(cell))
    let buffer = UnsafeBufferPointer(start: bytes, count: count)
    guard let value = String(exactUTF8: buffer) else {
      throw ColumnError(column: column, problem: .invalidUTF8)
    }
    return value
  }

  /// Returns the bytes at `column`.
  ///
  /// - Throws: ``ColumnError`` if the value has another storage class.
  public func blob(at column: Int) throws(ColumnError) -> [UInt8] {
    guard let statement else {
      if case .blob(let value) = image[column] { return value }
      throw mismatch(.blob, at: column)
    }
    guard sqlite3_column_type(statement, Int32(column)) == SQLITE_BLOB else {
      throw mismatch(.blob, at: column)
    }
    // Read the content first: SQLite may have to expand it, for example a zeroblob.
    let bytes = sqlite3_column_blob(statement, Int32(column))
    let count = Int(sqlite3_column_bytes(statement, Int32(column)))
    guard bytes != nil || count == 0 else {
      throw ColumnError(column: column, problem: .outOfMemory)
    }
    return [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
  }

  /// Returns the bytes of the text at `column`, whether or not it is UTF-8; nil if the value is not
  /// text.
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

  /// Returns the value at `column` in its storage class.
  ///
  /// - Throws: ``ColumnError`` for text that is not UTF-8.
  public func value(at column: Int) throws(ColumnError) -> SQLValue {
    guard let statement else { return image[column] }
    let cell = sqlite3_column_value(statement, Int32(column))
    return switch sqlite3_value_type(cell) {
    case SQLITE_INTEGER: .integer(sqlite3_value_int64(cell))
    case SQLITE_FLOAT: .real(sqlite3_value_double(cell))
    case SQLITE_TEXT: .text(try text(of: cell, at: column, of: statement))
    case SQLITE_BLOB: .blob(try blob(at: column))
    default: .null
    }
  }

  /// Returns all values, in column order.
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

/// Why a value in a column could not be read as, or written from, a Swift value. Values are never
/// converted.
public struct ColumnError: Error, Hashable, Sendable {
  /// The reason.
  @usableFromInline package enum Problem: Hashable, Sendable {
    /// The value has another storage class than the type requires.
    case storageClass(wanted: StorageClass, found: StorageClass)
    /// The text is not UTF-8.
    case invalidUTF8
    /// The value has the right storage class, but the type cannot represent it. The text says why.
    case unrepresentable(String)

    /// SQLite ran out of memory for the value.
    static var outOfMemory: Problem { .unrepresentable("SQLite had no memory for the value") }
  }

  /// The column's position in the row, from 0; -1 for a value without a column.
  public var column: Int
  /// The reason.
  package var problem: Problem

  /// Creates an error about a value in a column, or about a value without a column.
  @usableFromInline package init(column: Int = -1, problem: Problem) {
    self.column = column
    self.problem = problem
  }

  /// Returns the same error with a column. An existing column is kept.
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
  /// Creates an error for a value that its column or its type cannot represent. The store adds the
  /// column.
  ///
  /// - Parameter reason: The reason, for example "the text is not a color".
  public init(_ reason: String) { self.init(problem: .unrepresentable(reason)) }
}
