extension CompiledRules {
  /// Reads the file's unique indexes if a rule needs them, because REPLACE evicts records through
  /// them.
  ///
  /// - Throws: See ``init(_:in:leaving:catalog:)``; ``SQLiteError`` if the file cannot be read.
  init(
    _ rules: [Rule], in models: [ModelSchema], leaving unresolved: [Rule] = [],
    on connection: Connection
  ) throws {
    let catalog = rules.contains(where: \.asksEvicted) ? try Catalog(reading: connection) : nil
    try self.init(rules, in: models, leaving: unresolved, catalog: catalog)
  }
}

extension RuleObjects {
  /// Has SQLite compile the rule's condition.
  ///
  /// - Throws: ``StoreError`` with code `unsupportedSchema` and SQLite's reason.
  func check(on connection: Connection) throws {
    do {
      guard let expression = rule.expression else { return }
      try expression.probe(in: rule.model, on: connection)
      if let name = try expression.registeredFunction(on: connection) {
        throw refusal("other writers do not have the function \(name).")
      }
    } catch let error as SQLiteError where error.code.primary == .error {
      throw refusal("SQLite says: \(error.message). Check the names and the expression.")
    }
  }

  private func refusal(_ reason: String) -> StoreError {
    StoreError(
      .unsupportedSchema, "The rule \(rule.rule.name) cannot be kept: \(reason)",
      model: rule.model.name)
  }
}
