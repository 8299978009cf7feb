// What reads a column besides the store: objects of the application, and rules that were added.
extension ModelChanges {
  /// Returns the application's objects that may use the column, directly or through a view.
  func users(of column: String) -> [SchemaText] {
    // The store's own triggers are brought in line afterwards.
    let others = texts.filter { text in
      text.name.asciiFolded != table.name.asciiFolded && !text.name.hasPrefix("_ms_")
    }
    let sources = others.dependents(on: [table.name]).filter { $0.type == "view" }.map(\.name)
    let known = Set(([table.name] + sources).map(\.asciiFolded))
    return others.filter { text in
      let names = text.names
      return names.contains(column.asciiFolded) && !known.isDisjoint(with: names)
    }
  }

  /// Returns a sentence without its end about something whose result may change with the type or
  /// collation of the column: "The view sizes may use the column size of Todo".
  ///
  /// Indexes are created again for the new column, so they are not among it.
  ///
  /// - Parameter comparing: Whether only comparisons matter.
  func reader(of field: FieldSchema, comparing: Bool) -> String? {
    let user = users(of: field.column).first { text in
      ["view", "trigger"].contains(text.type) && (!comparing || SchemaText.compares(text.sql))
    }
    if let user {
      return "The \(user.type) \(user.name) may use the column \(field.column) of \(table.name)"
    }
    return rules.first { $0.reads(field, of: schema, comparing: comparing) }.map {
      "The rule \($0.name) may use \(schema.name).\(field.name)"
    }
  }
}

extension Rule {
  /// Whether records may satisfy the rule that did not before, or the reverse, if a field gets
  /// another type or collation. The index of a unique rule is created again.
  fileprivate func reads(_ field: FieldSchema, of schema: ModelSchema, comparing: Bool) -> Bool {
    if case .reference(let referenced) = demand, referenced == schema.name,
      schema.key.contains(field.name)
    {
      return true
    }
    guard model == schema.name else { return false }
    if let condition = demand.conditionSQL,
      SchemaText.names(in: condition).contains(field.column.asciiFolded)
    {
      return !comparing || SchemaText.compares(condition)
    }
    switch demand {
    case .required, .condition, .unique: return false
    case .immutable: return comparing && fields.contains(field.name)
    case .reference, .countAtMost, .sumAtMost, .noOverlap:
      return (fields + demand.groupNames).contains(field.name)
    }
  }
}
