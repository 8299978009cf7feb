// Rules in addition to those in the tables' definitions.
extension CatalogEditor {
  /// Returns the rules that the file has in addition to the declared ones.
  ///
  /// - Returns: `displaced` holds the names of file rules that a declared rule replaces. The names
  ///   are equal except for case or Unicode spelling.
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

  /// Installs and records the rules that a program declares.
  ///
  /// - Returns: Notices about rules of the file that the program does not declare.
  /// - Throws: ``StoreError`` with code `rejected` if records break a new or changed rule, or a
  ///   unique rule whose index was lost.
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
      // A unique index covers all records, or it cannot exist.
      let isLost = rule.rule.rule.kind == .unique && !rule.areInstalled(among: found)
      guard rule.rule.rule.severity == .error, isNew || isLost,
        let finding = try finding(of: rule, on: connection, maxKeyCount: refusalKeyCountMax)
      else { continue }
      let refusal = Self.refusal(finding, isNew ? "added" : "installed")
      guard !isDeclared else { throw refusal }
      // Another program's rule: this program can work without it, and its report handler is
      // notified.
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

  /// Returns the stored records that break `rule`; nil if there are none.
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

  /// Returns the error for a rule that was not `added` (or "installed"), with the records that
  /// break it.
  private static func refusal(_ finding: RuleFinding, _ added: String) -> StoreError {
    let violation = finding.violation
    let records = finding.count == 1 ? "1 record breaks" : "\(finding.count) records break"
    let remedy =
      violation.kind == .unique
      ? "A unique rule cannot accept existing violations. Change their values first"
      : "Change these records first"
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

  /// Returns the stored records that break `rule`, whether or not the file has the rule.
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

  /// Returns the stored records that break a rule of `rules`, after SQLite has checked the rule.
  private func finding(
    of rule: Rule, in rules: CompiledRules, on connection: Connection, maxKeyCount: Int
  ) throws -> RuleFinding? {
    for objects in rules.rules where objects.rule.rule == rule {
      try objects.check(on: connection)
      return try finding(of: objects, on: connection, maxKeyCount: maxKeyCount)
    }
    return nil
  }

  /// Returns the models as the file describes them now. Another process may have added models or
  /// fields.
  private func filedModels(on connection: Connection) throws -> [ModelSchema] {
    let filed = try CatalogEntries.models.understood(on: connection)
    let known = try schema.known(on: connection, declaring: [])
    let namesakes = Dictionary(grouping: filed, by: \.name)
    return known.map { model in
      namesakes[model.name]?.first { $0.hasTable(of: model) } ?? model
    }
  }

  /// Returns the objects for the file's rules and `rule`, which replaces the rule of the same name.
  ///
  /// - Throws: ``StoreError`` if the rule cannot be maintained, or not under this name.
  private func compiled(
    adding rule: Rule, on connection: Connection
  ) throws -> CompiledRules {
    let validators = try CatalogEntries.validators.read(on: connection)
    guard !validators.contains(where: { $0.name.asciiFolded == rule.name.asciiFolded }) else {
      throw StoreError(
        .configurationConflict,
        "A validator is already called \(rule.name); names are unique in a store.",
        model: rule.model)
    }
    let others = try CatalogEntries.rules.read(on: connection)
      .filter { !$0.name.isExactly(rule.name) }
    return try compiled(others, requiring: rule, on: connection)
  }

  /// Returns the objects for `rules` and the required rule. Objects that no model explains stay.
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
      // A unique index covers all records, or it cannot exist.
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

  /// Returns how the objects of rules in the file differ from the catalog, by name. After them come
  /// the rules that name a model or field that no longer exists.
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

  /// Recreates the triggers and indexes of rules where they differ from the expected ones.
  ///
  /// Records that break another rule than a unique one stay, as when you add a rule and allow
  /// existing violations.
  ///
  /// - Throws: ``StoreError`` with code `rejected` if records break a unique rule. Its index covers
  ///   all records, or it cannot exist.
  func apply(_ rules: CompiledRules, on connection: Connection) throws {
    let found = try InstalledObjects.ofRules(in: connection)
    for objects in rules.rules
    where objects.rule.rule.kind == .unique && objects.rule.rule.severity == .error
      && !objects.areInstalled(among: found)
    {
      let finding = try finding(of: objects, on: connection, maxKeyCount: refusalKeyCountMax)
      if let finding { throw Self.refusal(finding, "installed") }
    }
    try Reconciler(connection).reconcile(rules)
  }

  /// Throws if a table lacks something that a rule's trigger names. Every write to it would fail.
  private static func checkTables(
    of rules: [ResolvedRule], on connection: Connection
  ) throws {
    let models = rules.flatMap { [$0.model] + ($0.referenced.map { [$0] } ?? []) }
    let differences = SchemaDifference.differences(
      of: models, in: try Catalog(reading: connection))
    guard let first = differences.first else { return }
    throw StoreError(
      .schemaMismatch,
      "Rules cannot be installed while a table differs from its model: \(first.sentence)",
      model: first.model)
  }

  private static func missingRule(_ name: String, in models: [ModelSchema]) -> StoreError {
    for model in models {
      let isDeclared = model.allRules.contains { $0.rule.name == name }
      guard isDeclared else { continue }
      return StoreError(
        .unsupportedSchema,
        "The rule \(name) is part of the definition of the table \(model.table). Change it in a migration.",
        model: model.name)
    }
    return StoreError(.unknownRule, "There is no rule \(name) in this store.")
  }
}
