/// The rules of a file that are not declared, sorted by what happens to them when rules are
/// reconciled.
struct FiledRules {
  /// Rules whose triggers and indexes are created from their entries.
  private(set) var kept: [Rule] = []
  /// Rules that the models do not cover, or whose text SQLite no longer accepts, for example after
  /// a column was renamed. Their triggers and indexes work, because SQLite renamed the column in
  /// them too. They are left unchanged.
  private(set) var left: [Rule] = []
  /// Rules that no longer apply, because their table or columns were removed.
  private(set) var gone: [Rule] = []
  /// Notices for the owner of the file about ``left`` and ``gone``.
  private(set) var notices: [StoreError] = []

  /// - Throws: ``SQLiteError`` if the file cannot be read.
  init(_ rules: [Rule], in models: [ModelSchema], on connection: Connection) throws {
    guard !rules.isEmpty else { return }
    let found = try InstalledObjects.ofRules(in: connection)
    for rule in rules {
      do {
        let objects = RuleObjects(try ResolvedRule(rule, in: models))
        if !objects.areInstalled(among: found) {
          try objects.rule.checkColumns(on: connection)
          try objects.check(on: connection)
        }
        kept.append(rule)
      } catch let problem as StoreError {
        try sortOut(rule, because: problem, found, on: connection)
      }
    }
  }

  private mutating func sortOut(
    _ rule: Rule, because problem: StoreError, _ found: InstalledObjects,
    on connection: Connection
  ) throws {
    guard try Self.works(rule, found, on: connection) else {
      gone.append(rule)
      notices.append(
        StoreError(
          .unsupportedSchema,
          "The rule \(rule.name) was removed, because its table or columns no longer exist. \(problem.message)",
          model: rule.model))
      return
    }
    left.append(rule)
    // It is normal that these models lack the name if the rule belongs to another program.
    guard problem.code == .unsupportedSchema else { return }
    notices.append(
      StoreError(
        .unsupportedSchema,
        "The triggers of the rule \(rule.name) still work, but its entry no longer matches the model. \(problem.message) Drop the rule and add it again with the current names.",
        model: rule.model))
  }

  /// Whether the rule's triggers and index exist, and SQLite compiles the writes that fire them.
  ///
  /// It does not say which trigger fails to compile. If one does, every write fails until it is
  /// dropped.
  private static func works(
    _ rule: Rule, _ found: InstalledObjects, on connection: Connection
  ) throws -> Bool {
    // A rule that only warns has no objects, and cannot block writes.
    guard rule.severity == .error else { return true }
    let names = Set(RuleObjects.objectNames(ofRule: rule.name).map { ExactText($0) })
    let own = found.objects.filter { names.contains(ExactText($0.name)) }
    return try !own.isEmpty
      && own.allSatisfy { try $0.kind != .trigger || connection.compilesWrites(to: $0.table) }
  }
}

extension RuleObjects {
  /// Whether the file has all objects with the same text; false for a rule without objects.
  func areInstalled(among found: InstalledObjects) -> Bool {
    !objects.isEmpty && objects.allSatisfy(found.holds)
  }
}

extension ResolvedRule {
  /// Checks that the file still has the columns that the models declare.
  ///
  /// - Throws: ``StoreError`` with code `unknownField`.
  fileprivate func checkColumns(on connection: Connection) throws {
    func check(_ model: ModelSchema, _ fields: [FieldSchema]) throws {
      let columns = SQLText.quotedList(fields.map(\.column))
      let sql = "SELECT \(columns) FROM main.\(SQLText.quoted(model.table))"
      guard try !connection.compiles(sql) else { return }
      throw StoreError(
        .unknownField, "The table \(model.table) lacks columns of the rule \(rule.name).",
        model: model.name)
    }
    let key = model.keyIndices.map { model.fields[$0] }
    try check(model, key + fields + group)
    if let referenced { try check(referenced, referenced.keyIndices.map { referenced.fields[$0] }) }
  }
}

extension Connection {
  /// Whether SQLite compiles inserts, updates and deletes of a table, with all its triggers.
  fileprivate func compilesWrites(to table: String) throws -> Bool {
    let columns = try rows(
      "SELECT name FROM pragma_table_xinfo(\(table), 'main') WHERE hidden = 0"
    ) { row in try row.text(at: 0) }
    let name = SQLText.quoted(table)
    let values = columns.map { "\(SQLText.quoted($0)) = NULL" }.joined(separator: ", ")
    return try [
      "INSERT INTO main.\(name) DEFAULT VALUES", "UPDATE main.\(name) SET \(values)",
      "DELETE FROM main.\(name)",
    ].allSatisfy { try compiles($0) }
  }
}
