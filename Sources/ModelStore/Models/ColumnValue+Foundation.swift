#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Data: ColumnValue {
  public static var fieldType: FieldType { .blob }

  public init(row: borrowing RowView, column: Int) throws(ColumnError) {
    self = Data(try row.blob(at: column))
  }

  public func sqlValue() throws(ColumnError) -> SQLValue { .blob([UInt8](self)) }
}

/// Stored as REAL, in seconds since 2001-01-01 00:00:00 UTC, because only this form keeps every
/// bit. To show it in SQL, use `datetime(x + 978307200, 'unixepoch')`.
extension Date: ColumnValue {
  public static var fieldType: FieldType { .date }

  public init(row: borrowing RowView, column: Int) throws(ColumnError) {
    self.init(timeIntervalSinceReferenceDate: try row.real(at: column))
  }

  public func sqlValue() throws(ColumnError) -> SQLValue {
    try timeIntervalSinceReferenceDate.sqlValue()
  }
}

/// Stored as TEXT, in the 36 upper-case characters of `uuidString`. Another spelling of the same
/// UUID throws, because as a key it would name another record.
extension UUID: ColumnValue {
  public static var fieldType: FieldType { .uuid }

  public init(row: borrowing RowView, column: Int) throws(ColumnError) {
    let text = try row.text(at: column)
    guard let value = UUID(uuidString: text), value.uuidString == text else {
      throw ColumnError(
        column: column, problem: .unrepresentable("the text is not a UUID in upper-case form"))
    }
    self = value
  }

  public func sqlValue() throws(ColumnError) -> SQLValue { .text(uuidString) }
}

/// Stored as TEXT, the absolute string. A URL relative to a base is refused, because its text alone
/// would lose the base.
extension URL: ColumnValue {
  public static var fieldType: FieldType { .url }

  public init(row: borrowing RowView, column: Int) throws(ColumnError) {
    let text = try row.text(at: column)
    guard let value = URL(string: text), value.absoluteString == text else {
      throw ColumnError(column: column, problem: .unrepresentable("the text is not a URL"))
    }
    self = value
  }

  public func sqlValue() throws(ColumnError) -> SQLValue {
    guard baseURL == nil else {
      throw ColumnError(
        problem: .unrepresentable("the URL is relative to a base; store its absoluteURL"))
    }
    return .text(absoluteString)
  }
}

/// Stored as TEXT in plain digits, so that 0.1 stays 0.1. It sorts and compares as text in SQL.
extension Decimal: ColumnValue {
  public static var fieldType: FieldType { .decimal }

  public init(row: borrowing RowView, column: Int) throws(ColumnError) {
    let text = try row.text(at: column)
    guard let value = Decimal(string: text), value.description == text else {
      throw ColumnError(
        column: column, problem: .unrepresentable("the text is not a decimal number"))
    }
    self = value
  }

  public func sqlValue() throws(ColumnError) -> SQLValue {
    if isNaN { throw ColumnError(problem: .unrepresentable("NaN cannot be stored")) }
    return .text(description)
  }
}

/// A `Codable` value stored as JSON text with sorted keys, so that equal values are equal texts.
///
/// ```swift
/// var tags: JSON<[String]>
/// ```
@dynamicMemberLookup
public struct JSON<Value: Codable & Sendable>: ColumnValue {
  public var value: Value

  public init(_ value: Value) {
    self.value = value
  }

  public static var fieldType: FieldType { .json }

  public init(row: borrowing RowView, column: Int) throws(ColumnError) {
    let text = try row.text(at: column)
    do {
      value = try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    } catch {
      throw ColumnError(
        column: column,
        problem: .unrepresentable("the text is not JSON for \(Value.self): \(error)"))
    }
  }

  public func sqlValue() throws(ColumnError) -> SQLValue {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return .text(String(decoding: try encoder.encode(value), as: UTF8.self))
    } catch {
      throw ColumnError(problem: .unrepresentable("the value cannot be written as JSON: \(error)"))
    }
  }

  public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member {
    value[keyPath: path]
  }
}

extension JSON: Equatable where Value: Equatable {}
extension JSON: Hashable where Value: Hashable {}

extension UUID: ModelKey {}
