import ModelStore

extension FieldSchema {
  /// Whether a cell of CSV or TSV with `value` is read back as that value, or refused aloud; not
  /// silently as another one.
  func survivesText(_ value: SQLValue) -> Bool {
    switch value {
    case .null: true
    case .blob: takesBytes
    case .text: !takesBytes
    case .integer: !takesBytes && (type != .any || turnsTextIntoNumbers)
    // No text becomes an infinity.
    case .real(let number):
      !takesBytes && (type != .any || turnsTextIntoNumbers && number.isFinite)
    }
  }

  /// Whether SQLite makes numbers of texts that look like numbers in this column. For ANY the
  /// declaration does not tell: a STRICT table keeps such values as they are, others do not.
  private var turnsTextIntoNumbers: Bool {
    affinity.isNumeric && declaredType?.uppercased() != "ANY"
  }
}
