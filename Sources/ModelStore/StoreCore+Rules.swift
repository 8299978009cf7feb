// Rules beside those in the tables' definitions.
extension StoreCore {
  /// The declared rules and those that the file has from elsewhere.
  ///
  /// - Returns: As `obsolete` the names of those in the file that can be kept no more, because a
  ///   model or field of theirs is gone.
  func allRules(
    _ declared: [Rule], in models: [ModelSchema], on connection: Connection
  ) throws -> (kept: [Rule], obsolete: [String]) {
    var kept = declared
    var obsolete: [String] = []
    for rule in try CatalogEntries.rules.read(on: connection)
    where !declared.contains(where: { $0.name.asciiFolded == rule.name.asciiFolded }) {
      if ResolvedRule.canResolve(rule, in: models) {
        kept.append(rule)
      } else {
        obsolete.append(rule.name)
      }
    }
    return (kept, obsolete)
  }

  /// Enters rules that a program declares.
  ///
  /// - Throws: ``StoreError`` with code `rejected` when records break one that is new or changed.
  func install(
    _ declared: [Rule], in models: [ModelSchema], on connection: Connection
  ) throws {
    let present = try CatalogEntries.rules.read(on: connection)
    let all = try allRules(declared, in: models, on: connection)
    let installation = try RuleInstallation(all.kept, in: models)
    let entered = declared.filter { !present.contains($0) }
    for rule in installation.rules where entered.contains(rule.rule.rule) {
      try rule.check(on: connection)
      let finding = try finding(of: rule, on: connection, keyCountMax: refusalKeyCountMax)
      if let finding, rule.rule.rule.severity == .error { throw Self.refusal(finding) }
    }
    try installation.apply(to: connection)
    try CatalogEntries.rules.remove(all.obsolete, on: connection)
    try CatalogEntries.rules.write(declared, on: connection)
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
      let others = try CatalogEntries.rules.read(on: connection).filter { $0.name != rule.name }
      let installation = try RuleInstallation(
        others.filter { ResolvedRule.canResolve($0, in: models) } + [rule], in: models,
        leaving: others.filter { !ResolvedRule.canResolve($0, in: models) })
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
      guard present.contains(where: { $0.name == name }) else {
        throw Self.missingRule(name, in: models)
      }
      let others = present.filter { $0.name != name }
      let installation = try RuleInstallation(
        others.filter { ResolvedRule.canResolve($0, in: models) }, in: models,
        leaving: others.filter { !ResolvedRule.canResolve($0, in: models) })
      try installation.apply(to: connection)
      try CatalogEntries.rules.remove([name], on: connection)
    }
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
