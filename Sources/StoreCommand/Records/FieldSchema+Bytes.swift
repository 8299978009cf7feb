import ModelStore
import RecordFormats

extension FieldSchema {
  /// Whether its values are bytes: by its type, or, for a column of another program's design, by
  /// the column's declaration. SQLite does not enforce such a declaration, so the column may hold
  /// other values.
  var takesBytes: Bool {
    // A column without a declared type has no affinity either, and takes anything.
    type == .blob || type == .any && declaredType?.isEmpty == false && affinity == .blob
  }

  /// The value of a typed word; a field that takes bytes reads bytes, whatever its type.
  func parse(_ text: String) throws(StoreError) -> SQLValue {
    guard takesBytes else { return try FieldText.parse(text, for: self) }
    var field = self
    field.type = .blob
    return try FieldText.parse(text, for: field)
  }

  /// The value of a cell of CSV or TSV as an export writes it: bytes as base64, and the infinities
  /// of reals, which a person does not type.
  func parse(cell: String) throws(StoreError) -> SQLValue {
    if takesBytes, let bytes = Base64.decoded(cell) { return .blob(bytes) }
    switch (type, cell) {
    case (.real, "inf"): return .real(.infinity)
    case (.real, "-inf"): return .real(-.infinity)
    default: return try parse(cell)
    }
  }
}
