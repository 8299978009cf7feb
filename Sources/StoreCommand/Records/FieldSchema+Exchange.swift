import ModelStore

extension FieldSchema {
  /// Whether the column keeps `written` as `stored`.
  func stores(_ written: SQLValue, as stored: SQLValue) -> Bool {
    // ANY is ambiguous: a STRICT table keeps such values unchanged, other tables convert texts that
    // look like numbers.
    if declaredType?.uppercased() == "ANY" { return written == stored }
    return affinity.isSame(written, stored)
  }
}
