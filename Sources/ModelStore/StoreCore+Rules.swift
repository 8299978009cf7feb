// Rules beside those in the tables' definitions.
extension StoreCore {
  /// The rules that the file has beside those that are declared.
  ///
  /// - Returns: As `displaced` the names of those of which a declared one differs in nothing but
  ///   case or spelling: it takes their place.
  func filedRules(
    beside declared: [Rule], in models: [ModelSchema], on connection: Connection
  ) throws -> (rules: FiledRules, displaced: [String]) {
    let others = try CatalogEntries.rules.read(on: connection).filter { rule in
      !declared.contains { $0.name.isExactly(rule.name) }
    }
    let names = Set(declared.map(\.name.asciiFolded))
    return (
      try FiledRules(
        others.filter { !names.contains($0.name.asciiFolded) }, in: models, on: connection),
      others.map(\.name).filter { names.contains($0.asciiFolded) }
    )
  }

  /// Enters rules that a program declares.
  ///
  /// - Returns: What to report of rules that it does not declare, once it is kept.
  /// - Throws: ``StoreError`` with code `rejected` when records break one that is new or changed.
  func install(
    _ declared: [Rule], in models: [ModelSchema], on connection: Connection
  ) throws -> [StoreError] {
    let present = try CatalogEntries.rules.read(on: connection)
    let (filed, displaced) = try filedRules(beside: declared, in: models, on: connection)
    let installation = try RuleInstallation(
      declared + filed.kept, in: models, leaving: filed.left)
    for rule in installation.rules where declared.contains(rule.rule.rule) {
      try rule.check(on: connection)
      guard !present.contains(rule.rule.rule) else { continue }
      let finding = try finding(of: rule, on: connection, keyCountMax: refusalKeyCountMax)
      if let finding, rule.rule.rule.severity == .error { throw Self.refusal(finding) }
    }
    try installation.apply(to: connection)
    try CatalogEntries.rules.remove(displaced + filed.gone.map(\.name), on: connection)
    try CatalogEntries.rules.write(declared, on: connection)
    return filed.notices
  }

  private var refusalKeyCountMax: Int { max(1, configuration.refusals.violationCountMax) }

  /// The stored records that break `rule`; nil when there are none.
  func finding(
    of rule: RuleObjects, on connection: Connection, keyCountMax: Int
  ) throws -> RuleFinding? {
    guard let offence = rule.offence else { return nil }
    let reads = ReadTransaction(
      access: TransactionAccess(
        connection: connection, models: models, capture: nil, isWritable: false))
    return try reads.finding(
      rule.rule.rule.violation, offence, in: rule.rule.model, keyCountMax: keyCountMax)
  }

  /// Why a rule is not added.
  private static func refusal(_ finding: RuleFinding) -> StoreError {
    let violation = finding.violation
    let records = finding.count == 1 ? "1 record breaks" : "\(finding.count) records break"
    return StoreError(
      .rejected,
      "The rule \(violation.rule) was not added: \(records) it already. Change those first; nothing was changed.",
      model: violation.model, field: violation.fields.count == 1 ? violation.fields[0] : nil,
      violations: finding.keys.map { key in
        var offender = violation
        offender.key = key
        return offender
      }, violationCount: finding.count)
  }

  /// The stored records that break `rule`, whether the file has it or not.
  func finding(of rule: Rule, keyCountMax: Int) throws -> RuleFinding? {
    let objects = RuleObjects(try ResolvedRule(rule, in: models.schema.models))
    return try readers.sync { connection in
      do {
        try objects.check(on: connection)
        return try finding(of: objects, on: connection, keyCountMax: keyCountMax)
      } catch {
        throw models.storeError(error, about: objects.rule.model)
      }
    }
  }

  /// The models as the file has them now: another process may have added one, or a field.
  private func filedModels(on connection: Connection) throws -> [ModelSchema] {
    let filed = try CatalogEntries.models.read(on: connection)
    let known = try knownModels(on: connection, declaring: [])
    return known.map { model in
      filed.first { $0.name == model.name && $0.hasTable(of: model) } ?? model
    }
  }

  func add(_ rule: Rule, keepingOffenders: Bool) throws -> RuleFinding? {
    try changingCatalog { connection in
      let models = try filedModels(on: connection)
      let installation = try installation(
        of: [rule], besideAllBut: rule.name, in: models, on: connection)
      var finding: RuleFinding?
      for objects in installation.rules where objects.rule.rule == rule {
        try objects.check(on: connection)
        finding = try self.finding(of: objects, on: connection, keyCountMax: refusalKeyCountMax)
      }
      // A unique index holds for all records or is none.
      if let finding, rule.severity == .error, !keepingOffenders || rule.kind == .unique {
        throw Self.refusal(finding)
      }
      try installation.apply(to: connection)
      try CatalogEntries.rules.write([rule], on: connection)
      return finding
    }
  }

  func dropRule(_ name: String) throws {
    try changingCatalog { connection in
      let models = try filedModels(on: connection)
      let present = try CatalogEntries.rules.read(on: connection)
      guard present.contains(where: { $0.name.isExactly(name) }) else {
        throw Self.missingRule(name, in: models)
      }
      try installation(of: [], besideAllBut: name, in: models, on: connection)
        .apply(to: connection)
      try CatalogEntries.rules.remove([name], on: connection)
    }
  }

  /// `rules` and those of the file; what cannot be told of is left as it is.
  private func installation(
    of rules: [Rule], besideAllBut name: String, in models: [ModelSchema],
    on connection: Connection
  ) throws -> RuleInstallation {
    let others = try CatalogEntries.rules.read(on: connection).filter { !$0.name.isExactly(name) }
    let filed = try FiledRules(others, in: models, on: connection)
    return try RuleInstallation(
      filed.kept + rules, in: models, leaving: filed.left + filed.gone)
  }

  private static func missingRule(_ name: String, in models: [ModelSchema]) -> StoreError {
    for model in models {
      let isDeclared = model.allRules.contains { $0.rule.name == name }
      guard isDeclared else { continue }
      return StoreError(
        .unsupportedSchema,
        "The rule \(name) stands in the definition of the table \(model.table); it takes a migration to change that.",
        model: model.name)
    }
    return StoreError(.unknownRule, "There is no rule \(name) in this store.")
  }
}
