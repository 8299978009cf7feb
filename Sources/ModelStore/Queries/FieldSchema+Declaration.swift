extension FieldSchema {
  /// The field that adoption makes of the column while the table is empty, when nothing but the
  /// declared type says what its values mean.
  ///
  /// - Returns: nil where there is no declared type, where SQLite's affinity rules say all of it,
  ///   and for a computed column, whose values never decide.
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
