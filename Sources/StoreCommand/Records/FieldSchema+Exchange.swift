import ModelStore

extension FieldSchema {
  /// Whether the column keeps `written` as `stored`.
  func stores(_ written: SQLValue, as stored: SQLValue) -> Bool {
    // For ANY the declaration does not tell: a STRICT table keeps such values as they are, others
    // make numbers of texts that look like numbers.
    if declaredType?.uppercased() == "ANY" { return written == stored }
    return affinity.isSame(written, stored)
  }
}
