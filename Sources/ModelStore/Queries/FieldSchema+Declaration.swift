extension FieldSchema {
  /// The field that adoption would create for the column of an empty table, from the declared type
  /// alone.
  ///
  /// - Returns: nil if there is no declared type, if SQLite's affinity rules decide everything, and
  ///   for a computed column, whose values never decide.
  package var asDeclared: FieldSchema? {
    guard generated == nil, let declaredType,
      let meaning = DeclaredMeaning(declaredType: declaredType), meaning != .none
    else { return nil }
    let reading = ColumnValues(meaning).reading(in: affinity)
    var field = self
    field.type = reading.type
    field.form = reading.form
    return field
  }
}
