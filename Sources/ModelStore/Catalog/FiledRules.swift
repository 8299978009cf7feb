/// Rules that a file has and no declaration brings, by what becomes of them when the triggers and
/// indexes of rules are brought in line.
struct FiledRules {
  /// Those whose triggers and indexes are made from their entries.
  private(set) var kept: [Rule] = []
  /// Those that the models cannot tell of, or that SQLite no longer takes in these words, as after
  /// the renaming of a column. Their triggers and indexes work: SQLite renamed in them what it
  /// renamed in the table. They stay as they are.
  private(set) var left: [Rule] = []
  /// Those that bind nobody any more: what they were about is gone.
  private(set) var gone: [Rule] = []
  /// What whoever keeps the file should know of ``left`` and ``gone``.
  private(set) var notices: [StoreError] = []

  /// - Throws: ``SQLiteError`` when the file cannot be read.
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
          "The rule \(rule.name) is no longer in the file: what it is about is gone. \(problem.message)",
          model: rule.model))
      return
    }
    left.append(rule)
    // That these models have no such name may be as it should: the rule is another program's.
    guard problem.code == .unsupportedSchema else { return }
    notices.append(
      StoreError(
        .unsupportedSchema,
        "The rule \(rule.name) stays as its triggers have it, but its entry cannot be read any more. \(problem.message) Drop it and add it in words of the model as it is now.",
        model: rule.model))
  }

  /// Whether the rule's triggers and index are there, and SQLite compiles the writes that run them.
  ///
  /// It does not say which trigger stops it. Where one does, every write fails until it is gone.
  private static func works(
    _ rule: Rule, _ found: InstalledObjects, on connection: Connection
  ) throws -> Bool {
    // One that only warns has none, and harms nobody.
    guard rule.severity == .error else { return true }
    let names = Set(RuleObjects.objectNames(ofRule: rule.name).map { ExactText($0) })
    let own = found.objects.filter { names.contains(ExactText($0.name)) }
    return try !own.isEmpty
      && own.allSatisfy { try $0.kind != .trigger || connection.compilesWrites(to: $0.table) }
  }
}

extension RuleObjects {
  /// Whether the file has them all, word for word; never true of a rule that needs none.
  func areInstalled(among found: InstalledObjects) -> Bool {
    !objects.isEmpty && objects.allSatisfy(found.holds)
  }
}

extension ResolvedRule {
  /// Asks the file whether it still has what the models say that it has.
  ///
  /// - Throws: ``StoreError`` with code `unknownField`.
  fileprivate func checkColumns(on connection: Connection) throws {
    func check(_ model: ModelSchema, _ fields: [FieldSchema]) throws {
      let columns = SQLText.quotedList(fields.map(\.column))
      let sql = "SELECT \(columns) FROM main.\(SQLText.quoted(model.table))"
      guard try !connection.compiles(sql) else { return }
      throw StoreError(
        .unknownField, "The table \(model.table) is not as the rule \(rule.name) has it.",
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
