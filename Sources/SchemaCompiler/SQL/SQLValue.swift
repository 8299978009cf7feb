/// A value of one of SQLite's five storage classes: null, integer, real, text or blob.
///
/// Two values are equal when storage class and content are equal. So `.integer(1)` is not
/// `.real(1)`, unlike with SQL's `=`, and texts are equal when their bytes are. A stored `.real` is
/// never NaN: SQLite would store NaN as NULL, so the store refuses it.
///
/// See <https://sqlite.org/datatype3.html>.
@frozen public enum SQLValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  /// The storage class without the content.
  @inlinable package var storageClass: StorageClass {
    switch self {
    case .null: .null
    case .integer: .integer
    case .real: .real
    case .text: .text
    case .blob: .blob
    }
  }

  @inlinable public var isNull: Bool {
    if case .null = self { return true }
    return false
  }

  @inlinable public static func == (left: SQLValue, right: SQLValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.integer(let left), .integer(let right)): left == right
    case (.real(let left), .real(let right)): left == right
    // Swift calls canonically equivalent texts equal; SQLite compares bytes, and so do changes.
    case (.text(let left), .text(let right)): left.isExactly(right)
    case (.blob(let left), .blob(let right)): left == right
    default: false
    }
  }

  /// Equal values hash equally: texts of the same bytes are equal to Swift too.
  @inlinable public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0 as UInt8)
    case .integer(let value): hasher.combine(value)
    case .real(let value): hasher.combine(value)
    case .text(let value): hasher.combine(value)
    case .blob(let value): hasher.combine(value)
    }
  }
}

/// The kind of value in a cell, whatever the declared type of the column.
@frozen @usableFromInline package enum StorageClass: String, Hashable, Sendable {
  case null, integer, real, text, blob
}

extension SQLValue: CustomStringConvertible {
  /// The value as an SQL literal.
  public var description: String {
    switch self {
    case .null: "NULL"
    case .integer(let value): String(value)
    // In SQL, infinity is written as a literal too large for a Double.
    case .real(let value): value.isInfinite ? (value < 0 ? "-9e999" : "9e999") : String(value)
    // SQLite reads a statement up to its first NUL.
    case .text(let value) where value.utf8.contains(0): "CAST(\(hexadecimal(value.utf8)) AS TEXT)"
    case .text(let value): quoted(value)
    case .blob(let bytes): hexadecimal(bytes)
    }
  }
}

/// By scalars, because a quote followed by a combining mark is another character to Swift, but a
/// quote to SQLite.
private func quoted(_ text: String) -> String {
  var literal = "'"
  for scalar in text.unicodeScalars {
    if scalar == "'" { literal += "'" }
    literal.unicodeScalars.append(scalar)
  }
  return literal + "'"
}

private func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
  "x'" + bytes.map(hexadecimalPair).joined() + "'"
}

private func hexadecimalPair(_ byte: UInt8) -> String {
  let digits = String(byte, radix: 16)
  return byte < 16 ? "0" + digits : digits
}
