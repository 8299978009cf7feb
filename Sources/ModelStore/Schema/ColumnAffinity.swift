/// The storage class that a column prefers, from its declared type:
/// <https://sqlite.org/datatype3.html#determination_of_column_affinity>. Not a type: a column with
/// an affinity still holds any storage class, unless its table is STRICT.
package enum ColumnAffinity: Hashable, Sendable {
  case integer, text, blob, real, numeric

  init(declaredType: String) {
    let type = declaredType.asciiFolded
    func mentions(_ parts: String...) -> Bool { parts.contains { type.contains($0) } }
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

  /// What a field over such a column means when nothing but the column is known. NUMERIC columns
  /// (DECIMAL, DATETIME, BOOLEAN) hold what was put there, so they promise no type.
  var fieldType: FieldType {
    switch self {
    case .integer: .integer
    case .text: .text
    case .real: .real
    case .blob, .numeric: .any
    }
  }

  /// Whether every value of `type` comes back from such a column as it went in.
  func keeps(_ type: FieldType) -> Bool {
    switch type {
    case .any, .blob: true
    case .integer, .boolean: self != .text && self != .real
    // A whole number may be kept as an integer; it is read back as the same number.
    case .real, .date: self != .text && self != .integer
    case .text, .uuid, .url, .decimal, .json: self == .text || self == .blob
    }
  }
}

extension FieldSchema {
  /// How the field's column converts what is stored in it.
  package var affinity: ColumnAffinity {
    if let declaredType { return ColumnAffinity(declaredType: declaredType) }
    // A STRICT table's ANY keeps values as they are: https://sqlite.org/stricttables.html
    return type == .any ? .blob : ColumnAffinity(declaredType: type.columnType)
  }

  /// Whether the column may keep values as they are. A declared ANY does in a STRICT table, and is
  /// NUMERIC in another one; the field does not tell which.
  var isMaybeBare: Bool {
    affinity == .blob || declaredType?.asciiFolded == "any"
  }
}
