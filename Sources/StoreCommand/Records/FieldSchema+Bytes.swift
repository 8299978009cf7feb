import ModelStore

extension FieldSchema {
  /// Whether its values are bytes: by its type, or, for a column of another program's design, by
  /// the column's declaration. SQLite holds such a column to nothing, so other values may stand in
  /// it.
  var takesBytes: Bool {
    type == .blob || type == .any && declaredType?.uppercased().contains("BLOB") == true
  }

  /// The value of a typed word or a cell; a field that takes bytes reads bytes, whatever its type.
  func parse(_ text: String) throws(StoreError) -> SQLValue {
    guard takesBytes else { return try FieldText.parse(text, for: self) }
    var field = self
    field.type = .blob
    return try FieldText.parse(text, for: field)
  }

  /// Whether a cell of CSV or TSV with `value` is read back as that value, or refused aloud; not
  /// silently as another one.
  func survivesText(_ value: SQLValue) -> Bool {
    switch value {
    case .null: true
    case .blob: takesBytes
    case .text: !takesBytes
    case .integer, .real: !takesBytes && (type != .any || turnsTextIntoNumbers)
    }
  }

  /// Whether SQLite makes numbers of texts that look like numbers in this column.
  /// https://www.sqlite.org/datatype3.html#determination_of_column_affinity
  private var turnsTextIntoNumbers: Bool {
    guard let declared = declaredType?.uppercased(), !declared.isEmpty else { return false }
    // A STRICT table's ANY keeps values as they are.
    return declared != "ANY"
      && !["CHAR", "CLOB", "TEXT", "BLOB"].contains(where: declared.contains)
  }
}
