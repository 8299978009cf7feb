/// A Swift value that can be stored in one column.
///
/// Reading and writing never change a value. A value that does not fit throws. To store your own
/// type, wrap a type that conforms already. An enum with such a raw value conforms by naming the
/// protocol.
public protocol ColumnValue: Sendable {
  /// The declared type of the column.
  static var fieldType: FieldType { get }
  /// Whether the column accepts NULL. Only `Optional` returns true.
  static var isOptional: Bool { get }

  /// Reads the cell at `column`.
  init(row: borrowing RowView, column: Int) throws(ColumnError)

  /// Binds the value as argument `index`, counted from 0.
  func encode(to arguments: inout ArgumentWriter, at index: Int) throws(ColumnError)

  /// Returns the value as an SQLite value.
  func sqlValue() throws(ColumnError) -> SQLValue
}

extension ColumnValue {
  public static var isOptional: Bool { false }

  @inlinable
  public func encode(
    to arguments: inout ArgumentWriter, at index: Int
  ) throws(ColumnError) {
    do throws(ColumnError) {
      arguments.set(try sqlValue(), at: index)
    } catch {
      throw error.placed(at: index)
    }
  }

  /// Reads `value` as if it were the only cell of a row.
  public init(sqlValue value: SQLValue) throws(ColumnError) {
    try self.init(row: RowView(image: [value]), column: 0)
  }
}

extension RowView {
  /// Returns the value at `column` as `Value`.
  ///
  /// - Throws: ``ColumnError`` when the cell does not hold such a value.
  @inlinable
  public func decode<Value: ColumnValue>(
    _ type: Value.Type = Value.self, at column: Int
  ) throws(ColumnError) -> Value {
    try Value(row: self, column: column)
  }
}

extension Int64: ColumnValue {
  public static var fieldType: FieldType { .integer }

  @inlinable
  public init(row: borrowing RowView, column: Int) throws(ColumnError) {
    self = try row.integer(at: column)
  }

  @inlinable
  public func encode(to arguments: inout ArgumentWriter, at index: Int) throws(ColumnError) {
    arguments.set(self, at: index)
  }

  @inlinable
  public func sqlValue() throws(ColumnError) -> SQLValue { .integer(self) }
}

/// The other integers are stored as Int64. A value that does not fit throws, in either direction.
extension ColumnValue where Self: FixedWidthInteger {
  public static var fieldType: FieldType { .integer }

  @inlinable
  public init(row: borrowing RowView, column: Int) throws(ColumnError) {
    let stored = try row.integer(at: column)
    guard let value = Self(exactly: stored) else {
      throw ColumnError(
        column: column, problem: .unrepresentable("\(stored) does not fit \(Self.self)"))
    }
    self = value
  }

  @inlinable
  public func encode(to arguments: inout ArgumentWriter, at index: Int) throws(ColumnError) {
    do throws(ColumnError) {
      arguments.set(try storedInteger(), at: index)
    } catch {
      throw error.placed(at: index)
    }
  }

  @inlinable
  public func sqlValue() throws(ColumnError) -> SQLValue { .integer(try storedInteger()) }

  @usableFromInline
  func storedInteger() throws(ColumnError) -> Int64 {
    guard let value = Int64(exactly: self) else {
      throw ColumnError(problem: .unrepresentable("\(self) is larger than SQLite's integers"))
    }
    return value
  }
}

extension Int: ColumnValue {}
extension Int8: ColumnValue {}
extension Int16: ColumnValue {}
extension Int32: ColumnValue {}
extension UInt: ColumnValue {}
extension UInt8: ColumnValue {}
extension UInt16: ColumnValue {}
extension UInt32: ColumnValue {}
extension UInt64: ColumnValue {}

extension Bool: ColumnValue {
  public static var fieldType: FieldType { .boolean }

  @inlinable
  public init(row: borrowing RowView, column: Int) throws(ColumnError) {
    switch try row.integer(at: column) {
    case 0: self = false
    case 1: self = true
    case let other:
      throw ColumnError(column: column, problem: .unrepresentable("\(other) is neither 0 nor 1"))
    }
  }

  @inlinable
  public func encode(to arguments: inout ArgumentWriter, at index: Int) throws(ColumnError) {
    arguments.set(self ? 1 as Int64 : 0, at: index)
  }

  @inlinable
  public func sqlValue() throws(ColumnError) -> SQLValue { .integer(self ? 1 : 0) }
}

/// Every bit is preserved, except that negative zero becomes zero, which is equal to it. A REAL
/// column stores whole numbers as integers (<https://sqlite.org/datatype3.html>).
extension Double: ColumnValue {
  public static var fieldType: FieldType { .real }

  @inlinable
  public init(row: borrowing RowView, column: Int) throws(ColumnError) {
    self = try row.real(at: column)
  }

  @inlinable
  public func encode(to arguments: inout ArgumentWriter, at index: Int) throws(ColumnError) {
    do throws(ColumnError) {
      arguments.set(try storedReal(), at: index)
    } catch {
      throw error.placed(at: index)
    }
  }

  @inlinable
  public func sqlValue() throws(ColumnError) -> SQLValue { .real(try storedReal()) }

  @usableFromInline
  func storedReal() throws(ColumnError) -> Double {
    // SQLite would turn NaN into NULL: https://sqlite.org/floatingpoint.html
    if isNaN { throw ColumnError(problem: .unrepresentable("NaN cannot be stored")) }
    return self
  }
}

extension Float: ColumnValue {
  public static var fieldType: FieldType { .real }

  public init(row: borrowing RowView, column: Int) throws(ColumnError) {
    let stored = try row.real(at: column)
    guard let value = Float(exactly: stored) else {
      throw ColumnError(column: column, problem: .unrepresentable("\(stored) does not fit Float"))
    }
    self = value
  }

  public func sqlValue() throws(ColumnError) -> SQLValue { try Double(self).sqlValue() }
}

extension String: ColumnValue {
  public static var fieldType: FieldType { .text }

  @inlinable
  public init(row: borrowing RowView, column: Int) throws(ColumnError) {
    self = try row.text(at: column)
  }

  @inlinable
  public func encode(to arguments: inout ArgumentWriter, at index: Int) throws(ColumnError) {
    arguments.set(self, at: index)
  }

  @inlinable
  public func sqlValue() throws(ColumnError) -> SQLValue { .text(self) }
}

extension [UInt8]: ColumnValue {
  public static var fieldType: FieldType { .blob }

  public init(row: borrowing RowView, column: Int) throws(ColumnError) {
    self = try row.blob(at: column)
  }

  public func sqlValue() throws(ColumnError) -> SQLValue { .blob(self) }
}

extension SQLValue: ColumnValue {
  public static var fieldType: FieldType { .any }
  public static var isOptional: Bool { true }

  public init(row: borrowing RowView, column: Int) throws(ColumnError) {
    self = try row.value(at: column)
  }

  public func sqlValue() throws(ColumnError) -> SQLValue { self }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
  public static var fieldType: FieldType { Wrapped.fieldType }
  public static var isOptional: Bool { true }

  @inlinable
  public init(row: borrowing RowView, column: Int) throws(ColumnError) {
    self = row.isNull(at: column) ? nil : try Wrapped(row: row, column: column)
  }

  @inlinable
  public func encode(to arguments: inout ArgumentWriter, at index: Int) throws(ColumnError) {
    if let self {
      try self.encode(to: &arguments, at: index)
    } else {
      arguments.setNull(at: index)
    }
  }

  @inlinable
  public func sqlValue() throws(ColumnError) -> SQLValue {
    if let self { return try self.sqlValue() }
    return .null
  }
}

/// An enum, or another type, stored as its raw value. A stored value that is not a case throws.
extension ColumnValue where Self: RawRepresentable, RawValue: ColumnValue {
  public static var fieldType: FieldType { RawValue.fieldType }

  public init(row: borrowing RowView, column: Int) throws(ColumnError) {
    let raw = try RawValue(row: row, column: column)
    guard let value = Self(rawValue: raw) else {
      throw ColumnError(
        column: column, problem: .unrepresentable("the stored value is not a case of \(Self.self)"))
    }
    self = value
  }

  public func encode(to arguments: inout ArgumentWriter, at index: Int) throws(ColumnError) {
    try rawValue.encode(to: &arguments, at: index)
  }

  public func sqlValue() throws(ColumnError) -> SQLValue { try rawValue.sqlValue() }
}
