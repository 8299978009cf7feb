import ModelStore

extension FieldSchema {
  /// Whether a cell of CSV or TSV with `value` is read back as that value or refused with an error,
  /// not silently as another one.
  func survivesText(_ value: SQLValue) -> Bool {
    switch (value, type) {
    case (.null, _): return true
    case (.blob, _): return takesBytes
    case _ where takesBytes: return false
    case (.text, .text), (.text, .any), (.integer, .integer), (.real, .real): return true
    // The column of a STRICT table holds nothing else.
    case _ where declaredType == nil && type != .any: return true
    default: break
    }
    let meaning: OutputColumn.Meaning = type == .boolean ? .truth : .stored
    guard let cell = CellText.exchange(FieldColumns.exchanged(value, self), as: meaning) else {
      return true
    }
    do {
      return stores(try parse(cell: cell), as: value)
    } catch {
      return true
    }
  }

  /// Whether the column keeps `written` as `stored`.
  func stores(_ written: SQLValue, as stored: SQLValue) -> Bool {
    // For ANY the declaration does not tell: a STRICT table keeps such values as they are, others
    // make numbers of texts that look like numbers.
    if declaredType?.uppercased() == "ANY" { return written == stored }
    return affinity.isSame(written, stored)
  }
}
