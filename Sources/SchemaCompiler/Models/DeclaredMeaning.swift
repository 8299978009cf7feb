/// The conventional meaning of a column's declared type, beyond SQLite's affinity rules:
/// <https://sqlite.org/datatype3.html#affinity_name_examples>.
package enum DeclaredMeaning: Hashable, Sendable {
  /// `BOOL`, `BOOLEAN`, `BIT`.
  case boolean
  /// `DATE`, `DATETIME`, `TIMESTAMP` and their variants.
  case date
  /// `NUMERIC`, `DECIMAL(10,2)`, `MONEY`: integers and reals mixed.
  case number
  case uuid
  case json
  /// `BINARY`, `VARBINARY(16)`, `BYTEA`: SQLite gives them NUMERIC affinity.
  case bytes
  /// A name without a conventional meaning, such as `TIME` or `YEAR`.
  case unknown
  /// No declared type.
  case none

  /// - Returns: nil if SQLite's rules are sufficient: INTEGER, TEXT, REAL and BLOB affinity by
  ///   name, and `ANY`. `STRING` is included, although its NUMERIC affinity turns texts into
  ///   numbers.
  package init?(declaredType: String) {
    let name = declaredType.prefix { $0 != "(" }.split(separator: " ").joined(separator: " ")
      .asciiFolded
    if name.isEmpty {
      self = .none
      return
    }
    guard ColumnAffinity(declaredType: declaredType) == .numeric else { return nil }
    let numbers = [
      "numeric", "number", "decimal", "dec", "money", "smallmoney", "currency", "fixed", "serial",
    ]
    switch name {
    case "any", "string": return nil
    case "bool", "boolean", "bit", "logical": self = .boolean
    case "date": self = .date
    case _ where name.contains("datetime") || name.contains("timestamp"): self = .date
    case "uuid", "guid", "uniqueidentifier": self = .uuid
    case "json", "jsonb": self = .json
    case "binary", "varbinary", "binary varying", "bytea", "image", "raw": self = .bytes
    case _ where numbers.contains(name.split(separator: " ").first.map(String.init) ?? ""):
      self = .number
    default: self = .unknown
    }
  }

  /// Whether the storage classes of the values do not suffice to decide.
  package var needsContents: Bool {
    switch self {
    case .boolean, .date, .uuid, .json: true
    case .number, .bytes, .unknown, .none: false
    }
  }
}
