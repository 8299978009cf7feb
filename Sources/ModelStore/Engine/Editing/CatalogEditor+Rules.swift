// Rules in addition to the ones in the tables' definitions.
extension CatalogEditor {
  /// The rules that the file has in addition to the declared ones.
  ///
  /// - Returns: As `displaced` the names of those of which a declared one differs in nothing but
  ///   case or spelling: it takes their place.
  func filedRules(
    beside declared: [Rule], in models: [ModelSchema], on connection: Connection
  ) throws -> (rules: FiledRules, displaced: [String]) {
    let others = try CatalogEntries.rules.understood(on: connection).filter { rule in
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
  /// - Throws: ``StoreError`` with code `rejected` when records break one that is new or changed,
  ///   or a unique one whose index was lost.
  func install(
    _ declared: [Rule], in models: [ModelSchema], on connection: Connection
  ) throws -> [StoreError] {
    let (filed, displaced) = try filedRules(beside: declared, in: models, on: connection)
    var notices = filed.notices
    var broken: [Rule] = []
    let present = try CatalogEntries.rules.read(on: connection)
    let found = try InstalledObjects.ofRules(in: connection)
    let wanted = try CompiledRules(
      declared + filed.kept, in: models, leaving: filed.left, on: connection)
    for rule in wanted.rules {
      let isDeclared = declared.contains(rule.rule.rule)
      if isDeclared { try rule.check(on: connection) }
      let isNew = isDeclared && !present.contains(rule.rule.rule)
      // A unique index holds for all records or is none.
      let isLost = rule.rule.rule.kind == .unique && !rule.areInstalled(among: found)
      guard rule.rule.rule.severity == .error, isNew || isLost,
        let finding = try finding(of: rule, on: connection, maxKeyCount: refusalKeyCountMax)
      else { continue }
      let refusal = Self.refusal(finding, isNew ? "added" : "put in place")
      guard !isDeclared else { throw refusal }
      // Another program's rule: this program can work, and its operator receives a report.
      broken.append(rule.rule.rule)
      notices.append(refusal)
    }
    try Reconciler(connection).reconcile(
      CompiledRules(
        declared + filed.kept.filter { !broken.contains($0) }, in: models,
        leaving: filed.left + broken, on: connection))
    try CatalogEntries.rules.remove(displaced + filed.gone.map(\.name), on: connection)
    try CatalogEntries.rules.write(declared, on: connection)
    return notices
  }

  private var refusalKeyCountMax: Int { max(1, configuration.refusals.maxViolationCount) }

  /// The stored records that break `rule`; nil when there are none.
  func finding(
    of rule: RuleObjects, on connection: Connection, maxKeyCount: Int
  ) throws -> RuleFinding? {
    guard let offence = rule.offence else { return nil }
    let reads = ReadTransaction(
      access: _TransactionAccess(
        connection: connection, models: models, capture: nil, isWritable: false))
    return try reads.finding(
      rule.rule.rule.violation, offence, in: rule.rule.model, maxKeyCount: maxKeyCount)
  }

  /// Why a rule is not `added`, or whatever was to be done with it.
  private static func refusal(_ finding: RuleFinding, _ added: String) -> StoreError {
    let violation = finding.violation
    let records = finding.count == 1 ? "1 record breaks" : "\(finding.count) records break"
    let remedy =
      violation.kind == .unique
      ? "A unique rule cannot keep them. Give them other values first"
      : "Change those first"
    return StoreError(
      .rejected,
      "The rule \(violation.rule) was not \(added): \(records) it already. \(remedy); nothing was changed.",
      model: violation.model, field: violation.fields.count == 1 ? violation.fields[0] : nil,
      violations: finding.keys.map { key in
        var offender = violation
        offender.key = key
        return offender
      }, violationCount: finding.count)
  }

  /// The stored records that break `rule`, whether the file has it or not.
  func finding(of rule: Rule, maxKeyCount: Int) throws -> RuleFinding? {
    try engine.look { connection in
      do {
        let rules = try compiled(adding: rule, on: connection)
        return try finding(of: rule, in: rules, on: connection, maxKeyCount: maxKeyCount)
      } catch {
        throw models.storeError(
          error, about: models.schema.models.first { $0.name == rule.model })
      }
    }
  }

  /// The stored records that break a rule of `rules`, which SQLite is asked about first.
  private func finding(
    of rule: Rule, in rules: CompiledRules, on connection: Connection, maxKeyCount: Int
  ) throws -> RuleFinding? {
    for objects in rules.rules where objects.rule.rule == rule {
      try objects.check(on: connection)
      return try finding(of: objects, on: connection, maxKeyCount: maxKeyCount)
    }
    return nil
  }

  /// The models as the file has them now: another process may have added one, or a field.
  private func filedModels(on connection: Connection) throws -> [ModelSchema] {
    let filed = try CatalogEntries.models.understood(on: connection)
    let known = try schema.known(on: connection, declaring: [])
    let namesakes = Dictionary(grouping: filed, by: \.name)
    return known.map { model in
      namesakes[model.name]?.first { $0.hasTable(of: model) } ?? model
    }
  }

  /// What keeps the file's rules and `rule`, in the place of the one of its name.
  ///
  /// - Throws: ``StoreError`` when it cannot be kept, or not under its name.
  private func compiled(
    adding rule: Rule, on connection: Connection
  ) throws -> CompiledRules {
    let validators = try CatalogEntries.validators.read(on: connection)
    guard !validators.contains(where: { $0.name.asciiFolded == rule.name.asciiFolded }) else {
      throw StoreError(
        .configurationConflict,
        "There is a rule in Swift called \(rule.name); names are unique in a store.",
        model: rule.model)
    }
    let others = try CatalogEntries.rules.read(on: connection)
      .filter { !$0.name.isExactly(rule.name) }
    return try compiled(others, requiring: rule, on: connection)
  }

  /// What keeps `rules` and the required one. Objects that the models do not explain stay.
  func compiled(
    _ rules: [Rule], requiring required: Rule? = nil, on connection: Connection
  ) throws -> CompiledRules {
    let models = try filedModels(on: connection)
    let filed = try FiledRules(rules, in: models, on: connection)
    return try CompiledRules(
      filed.kept + (required.map { [$0] } ?? []), in: models, leaving: filed.left + filed.gone,
      on: connection)
  }

  func add(_ rule: Rule, existingViolations: ExistingViolations) throws -> RuleFinding? {
    try changing { connection in
      let rules = try compiled(adding: rule, on: connection)
      let finding = try self.finding(
        of: rule, in: rules, on: connection, maxKeyCount: refusalKeyCountMax)
      // A unique index holds for all records or is none.
      if let finding, rule.severity == .error, existingViolations == .refuse || rule.kind == .unique
      {
        throw Self.refusal(finding, "added")
      }
      try Reconciler(connection).reconcile(rules)
      try CatalogEntries.rules.write([rule], on: connection)
      return finding
    }
  }

  func dropRule(_ name: String) throws {
    try changing { connection in
      let present = try CatalogEntries.rules.read(on: connection)
      guard present.contains(where: { $0.name.isExactly(name) }) else {
        throw Self.missingRule(name, in: try filedModels(on: connection))
      }
      try Reconciler(connection).reconcile(
        compiled(present.filter { !$0.name.isExactly(name) }, on: connection))
      try CatalogEntries.rules.remove([name], on: connection)
    }
  }

  /// How the objects of rules in the file differ, by name; then the rules that name a model or
  /// field that is not there any more.
  func ruleDrift() throws -> [SchemaDrift] {
    try engine.look { connection in
      try engine.read(connection) { reads in try ruleDrift(on: reads.access.connection) }
    }
  }

  private func ruleDrift(on connection: Connection) throws -> [SchemaDrift] {
    let models = try filedModels(on: connection)
    let rules = try CatalogEntries.rules.understood(on: connection)
    let filed = try FiledRules(rules, in: models, on: connection)
    let newer = Set(try CatalogEntries.models.problems(on: connection).compactMap(\.model))
    let lost = (filed.left + filed.gone).filter { !newer.contains($0.model) }
      .map { SchemaDrift(.rule($0.name), []) }
    return try compiled(rules, on: connection).drift(in: .ofRules(in: connection)) + lost
  }

  func rebuildRules() throws -> [SchemaDrift] {
    try changing { connection in
      let drift = try ruleDrift(on: connection).filter { !$0.differences.isEmpty }
      guard !drift.isEmpty else { return [] }
      let rules = try compiled(CatalogEntries.rules.read(on: connection), on: connection)
      try Self.checkTables(of: rules.rules.map(\.rule), on: connection)
      try apply(rules, on: connection)
      return drift
    }
  }

  /// Makes the triggers and indexes of rules anew where they are not as they should be.
  ///
  /// - Throws: ``StoreError`` with code `rejected` when records break a unique rule: its index
  ///   holds for all records or does not exist. Records that break another rule stay, as they do
  ///   when you add the rule and keep them.
  func apply(_ rules: CompiledRules, on connection: Connection) throws {
    let found = try InstalledObjects.ofRules(in: connection)
    for objects in rules.rules
    where objects.rule.rule.kind == .unique && objects.rule.rule.severity == .error
      && !objects.areInstalled(among: found)
    {
      let finding = try finding(of: objects, on: connection, maxKeyCount: refusalKeyCountMax)
      if let finding { throw Self.refusal(finding, "put in place") }
    }
    try Reconciler(connection).reconcile(rules)
  }

  /// A trigger that names what is not there would make every write of its table fail.
  private static func checkTables(
    of rules: [ResolvedRule], on connection: Connection
  ) throws {
    let models = rules.flatMap { [$0.model] + ($0.referenced.map { [$0] } ?? []) }
    let differences = SchemaDifference.differences(
      of: models, in: try Catalog(reading: connection))
    guard let first = differences.first else { return }
    throw StoreError(
      .schemaMismatch,
      "Rules cannot be put in place while a table differs from its model: \(first.sentence)",
      model: first.model)
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
