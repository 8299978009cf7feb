// Fields with another type whose column keeps its own: `Double` becomes `Date`, for example.
extension ModelChanges {
  /// The fields whose values an earlier version wrote with another meaning. The table stays as it
  /// is, so nothing converts the values.
  package var changesOfMeaning: [PlannedChange] {
    schema.fields.compactMap { field in
      guard let old = filed?.fieldOfOtherMeaning(field), table.column(named: field.column) != nil
      else { return nil }
      let types = "\(old.type.rawValue) to \(field.type.rawValue)"
      let reason = """
        Records have \(old.type.rawValue) values, and nothing converts them to \
        \(field.type.rawValue). Convert them in a migration.
        """
      return PlannedChange(
        phrase: "\(path(field.name)) \(types)", means: .impossible(reason),
        violations: [.init(reason: reason, condition: "\(Self.column(field.column)) IS NOT NULL")])
    }
  }
}

extension ModelSchema {
  /// Whether `earlier`, the same model, gave the values of a column another meaning.
  package func hasOtherMeaning(than earlier: ModelSchema) -> Bool {
    name == earlier.name && !isAdopted && !earlier.isAdopted && kind == .table
      && fields.contains { earlier.fieldOfOtherMeaning($0) != nil }
  }

  /// Returns the field with the column of `later`, if its type is stored in the same way and has
  /// values that `later` does not understand.
  fileprivate func fieldOfOtherMeaning(_ later: FieldSchema) -> FieldSchema? {
    fields.first { field in
      field.column.asciiFolded == later.column.asciiFolded && field.type != later.type
        && field.columnType == later.columnType && !later.type.includes(field.type)
    }
  }
}

extension FieldType {
  /// Whether every value of `other` is a value of this type, with the same meaning, or breaks its
  /// rule: a Boolean is 0 or 1.
  fileprivate func includes(_ other: FieldType) -> Bool {
    switch (self, other) {
    case (.boolean, .integer), (.integer, .boolean), (.text, .uuid), (.text, .url),
      (.text, .decimal), (.text, .json):
      true
    default: self == other
    }
  }
}
