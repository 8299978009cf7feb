/// The storage class that a column prefers, from its declared type:
/// <https://sqlite.org/datatype3.html#determination_of_column_affinity>. It is not a type: a column
/// with an affinity still holds any storage class, unless its table is STRICT.
package enum ColumnAffinity: Hashable, Sendable {
  case integer, text, blob, real, numeric

  package init(declaredType: String) {
    // Bytes, because an import finds the affinity for each number.
    let type = Array(declaredType.asciiFolded.utf8)
    func mentions(_ parts: String...) -> Bool {
      parts.contains { part in type.indices.contains { type[$0...].starts(with: part.utf8) } }
    }
    // The order of the tests is SQLite's: CHARINT is an integer.
    self =
      if mentions("int") {
        .integer
      } else if mentions("char", "clob", "text") {
        .text
      } else if type.isEmpty || mentions("blob") {
        .blob
      } else if mentions("real", "floa", "doub") {
        .real
      } else {
        .numeric
      }
  }

  /// The type of a field over such a column if only the affinity is known. A NUMERIC column holds
  /// any value, so it promises no type.
  package var fieldType: FieldType {
    switch self {
    case .integer: .integer
    case .text: .text
    case .real: .real
    case .blob, .numeric: .any
    }
  }

  /// Returns whether every value of `type` is read from such a column as it was written.
  func keeps(_ type: FieldType) -> Bool {
    switch type {
    case .any, .blob: true
    case .integer, .boolean: self != .text && self != .real
    // A whole number may be stored as an integer; it is read back as the same number.
    case .real, .date: self != .text
    // A UUID never looks like a number, so every column keeps the text.
    case .uuid: true
    // A numeric column converts a bare number; reading that as JSON text throws.
    case .json: self != .integer && self != .real
    case .text, .url, .decimal: self == .text || self == .blob
    }
  }

  /// Returns whether every value of the field is read from such a column as it was written.
  func keeps(_ field: FieldSchema) -> Bool {
    // Dates as text never look like numbers.
    field.form.map { $0.isText || self != .text } ?? keeps(field.type)
  }
}

extension ColumnAffinity {
  /// Returns the value that such a column stores for `value`, as far as comparisons can see it. OLD
  /// and NEW are compared as they are, without the conversion that applies to a column.
  package func converting(_ value: SQLValue) -> SQLValue {
    switch (self, value) {
    case (.text, .integer(let number)): .text(String(number))
    case (.integer, .text(let text)), (.real, .text(let text)), (.numeric, .text(let text)):
      Self.number(text) ?? value
    default: value
    }
  }

  /// Returns the number if the whole of `text` is a decimal number, with blanks allowed around it.
  /// 5.0 equals 5.
  private static func number(_ text: String) -> SQLValue? {
    let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D]
    let bare = text.utf8.drop { blanks.contains($0) }.reversed().drop { blanks.contains($0) }
      .reversed()
    let digits = String(decoding: bare, as: UTF8.self)
    // Swift also reads hexadecimal numbers, infinity and nan.
    guard digits.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
    if let whole = Int64(digits) { return .integer(whole) }
    return Double(digits).map { .real($0) }
  }
}

extension FieldSchema {
  /// The conversion that the field's column applies to stored values.
  package var affinity: ColumnAffinity {
    if let declaredType { return ColumnAffinity(declaredType: declaredType) }
    // A STRICT table's ANY keeps values as they are: https://sqlite.org/stricttables.html
    return type == .any ? .blob : ColumnAffinity(declaredType: columnType)
  }

  /// Whether the column may store values unchanged. A column declared ANY does so in a STRICT
  /// table, but is NUMERIC in any other. The field does not contain which it is.
  var isMaybeBare: Bool {
    affinity == .blob || declaredType?.asciiFolded == "any"
  }
}
