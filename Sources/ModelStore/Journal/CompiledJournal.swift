/// The triggers of a file's change journal: the triggers that its layouts require, and the triggers
/// that the file has. A plain value.
///
/// If another program dropped a model's table or some of its columns, the model is left unchanged
/// and is reported as drift. Triggers that name missing columns would make every write fail.
struct CompiledJournal: Sendable {
  private let layouts: JournalLayouts
  private let schemas: [String: ModelSchema]
  private let catalog: Catalog
  private let installed: InstalledObjects

  /// The models whose triggers have the right text and the right order.
  let intactModels: Set<String>

  /// - Parameter models: The models to compare; all models of the file to make a plan.
  init(_ layouts: JournalLayouts, of models: [ModelSchema], in catalog: Catalog) {
    self.layouts = layouts
    self.catalog = catalog
    let schemas = Dictionary(models.map { ($0.name, $0) }) { first, _ in first }
    self.schemas = schemas
    let installed = InstalledObjects(
      catalog.tables.flatMap { table in
        table.triggers.filter { $0.name.hasPrefix(SchemaObject.Owner.journalPrefix) }
          .map { SchemaObject(kind: .trigger, name: $0.name, sql: $0.sql, table: table.name) }
      }
      .sorted { $0.name < $1.name })
    self.installed = installed
    intactModels = Set(
      layouts.current.compactMap { name, number in
        guard let schema = schemas[name], let layout = layouts.all[number],
          layout == JournalLayout(schema, detail: layout.detail), catalog.hasColumns(of: schema),
          let wanted = catalog.journalTriggers(of: schema, as: layout, number: number),
          wanted.allSatisfy(installed.holds),
          catalog.hasJournalTriggersLast(wanted.count, of: schema)
        else { return nil }
        return name
      })
  }

  // The triggers in the file

  /// The recorded models whose triggers are missing, changed or in the wrong order.
  var damagedModels: Set<String> { Set(layouts.current.keys).subtracting(intactModels) }

  /// The intact models whose changes are recorded completely, with all values.
  var exactModels: Set<String> {
    intactModels.filter { name in
      guard layouts.layout(of: name)?.detail == .full, let schema = schemas[name] else {
        return false
      }
      return !(catalog.table(named: schema.table)?.evictsUnforeseen ?? true)
    }
  }

  /// The texts of triggers of the models called `names` that another library or program created.
  func foreignTriggers(of names: Set<String>) -> Set<String> {
    let own = names.flatMap { name -> [SchemaObject] in
      guard let schema = schemas[name], let number = layouts.current[name],
        let layout = layouts.all[number]
      else { return [] }
      return catalog.journalTriggers(of: schema, as: layout, number: number) ?? []
    }
    return Set(triggers(of: names.filter { schemas[$0] != nil }).map(\.sql))
      .subtracting(own.map(\.sql))
  }

  /// The triggers of the models called `names` in the file, by name.
  func triggers(of names: Set<String>) -> [SchemaObject] {
    installed.objects.filter { names.contains($0.owner?.name ?? "") }
  }

  /// Whether the file has the object with the same text.
  func holds(_ object: SchemaObject) -> Bool { installed.holds(object) }

  static func unfit(_ schema: ModelSchema) -> StoreError {
    StoreError(
      .schemaMismatch,
      "The table \(schema.table) of the model \(schema.name) is not in the file, or lacks columns of the model.",
      model: schema.name)
  }

  // Differences

  /// The drift of the triggers in the file, by model.
  var drift: [SchemaDrift] {
    damagedModels.sorted().map { SchemaDrift(.journal(model: $0), differences(of: $0)) }
  }

  private func differences(of model: String) -> [SchemaDrift.Difference] {
    guard let schema = schemas[model], let detail = layouts.layout(of: model)?.detail else {
      return []
    }
    guard let table = catalog.table(named: schema.table) else {
      return [.init(.table, schema.table, .missing)]
    }
    let columns = schema.fields.filter { table.column(named: $0.column) == nil }
    guard columns.isEmpty else { return columns.map { .init(.column, $0.column, .missing) } }
    let layout = JournalLayout(schema, detail: detail)
    var layouts = layouts
    let wanted =
      catalog.journalTriggers(of: schema, as: layout, number: layouts.enter(layout)) ?? []
    let owner = SchemaObject.Owner.journal(model: model)
    let plan = SchemaPlan(from: wanted, to: installed) { $0.owner == owner }
    return plan.differences[owner] ?? wanted.map { .init($0, .misplaced) }
  }

  // Plans

  /// Returns the plan that makes the file's triggers record `details`.
  ///
  /// It creates missing triggers and recreates all triggers of a model if one of them differs. It
  /// drops triggers that belong to no model. Wherever it creates or drops triggers, changes may be
  /// missing. A row in the journal records that.
  ///
  /// - Parameters:
  ///   - details: For each model to record, how much of its changes.
  ///   - unbegun: The models that have had no records yet, so that there is no gap.
  ///   - hasMissedNothing: Whether recreated triggers were intact until now, so that there is no
  ///     gap; see ``JournalStanding``.
  /// - Throws: ``StoreError`` with code `unknownModel`; `unsupportedSchema` if the changes of a
  ///   model cannot be recorded; `schemaMismatch` if its table is missing.
  func plan(
    recording details: [String: JournalDetail], unbegun: Set<String> = [],
    hasMissedNothing: (_ layout: JournalLayout, _ number: Int64) throws -> Bool = { _, _ in false }
  ) throws -> SchemaPlan {
    let wanted = try details.map { try recordable($0.key, $0.value) }
      .sorted { $0.schema.name < $1.schema.name }
    let settled = Set(wanted.filter(isSettled).map(\.schema.name))
    var plan = SchemaPlan(
      dropped: installed.objects.filter { !settled.contains($0.owner?.name ?? "") })
    let stopped = layouts.current.keys.filter { details[$0] == nil }.sorted()
    guard !plan.dropped.isEmpty || !stopped.isEmpty || settled.count < wanted.count else {
      return plan
    }
    // Older notes belong to statements that have ended.
    plan.entries.append("DELETE FROM _ms_journal_evicted")
    for name in stopped {
      plan.entries += layouts.current[name].map { [Self.note(.stopped, $0)] } ?? []
      plan.entries.append(JournalLayouts.leaving(name))
    }
    var layouts = layouts
    for model in wanted where !settled.contains(model.schema.name) {
      let layout = JournalLayout(model.schema, detail: model.detail)
      let number = layouts.enter(layout)
      guard catalog.hasColumns(of: model.schema),
        let triggers = catalog.journalTriggers(of: model.schema, as: layout, number: number)
      else { throw Self.unfit(model.schema) }
      plan.entries += try JournalLayouts.entering(layout, as: number)
      plan.created += triggers
      if try !hasMissedNothing(layout, number) {
        let isComplete = unbegun.contains(model.schema.name)
        plan.closingEntries.append(Self.note(.started, number, isComplete: isComplete))
      }
    }
    return plan
  }

  private typealias Recording = (schema: ModelSchema, detail: JournalDetail)

  private func recordable(
    _ name: String, _ detail: JournalDetail
  ) throws(StoreError) -> Recording {
    guard let schema = schemas[name] else {
      throw StoreError(
        .unknownModel, "\(name) is not a model of this store, so its changes are not recorded.",
        model: name)
    }
    if let reason = JournalLayout.refusal(of: schema) {
      throw StoreError(
        .unsupportedSchema, "The change journal cannot hold changes of \(name): \(reason).",
        model: name)
    }
    return (schema, detail)
  }

  /// Whether the model needs no change, or must be left unchanged.
  private func isSettled(_ model: Recording) -> Bool {
    layouts.layout(of: model.schema.name)?.detail == model.detail
      && (intactModels.contains(model.schema.name) || !catalog.hasColumns(of: model.schema))
  }

  private static func note(
    _ kind: JournalMark.Kind, _ layout: Int64, isComplete: Bool = false
  ) -> SQLText {
    """
    INSERT INTO _ms_journal (c1, layout, entry, c0)
    VALUES (
      \(isComplete ? SQLValue.integer(1) : .null), \(JournalLayout.journalNumber),
      \(kind.rawValue), \(layout)
    )
    """
  }
}

extension CompiledJournal {
  /// As ``damagedModels``, without the models that only a newer library knows. This library cannot
  /// check their triggers.
  func knownDamagedModels(on connection: Connection) throws -> Set<String> {
    let damaged = damagedModels
    guard !damaged.isEmpty else { return [] }
    return damaged.subtracting(
      try CatalogEntries.models.problems(on: connection).compactMap(\.model))
  }

  /// As ``drift``, without the models that only a newer library knows.
  func knownDrift(on connection: Connection) throws -> [SchemaDrift] {
    let known = try knownDamagedModels(on: connection)
    return drift.filter { known.contains($0.owner.name) }
  }
}

extension Catalog {
  /// Whether the model's table exists with every column.
  func hasColumns(of schema: ModelSchema) -> Bool {
    guard let table = table(named: schema.table), table.kind == .table else { return false }
    return schema.fields.allSatisfy { table.column(named: $0.column) != nil }
  }

  /// The triggers of `schema` if its changes are recorded as `layout`; nil if it has no table.
  fileprivate func journalTriggers(
    of schema: ModelSchema, as layout: JournalLayout, number: Int64
  ) -> [SchemaObject]? {
    guard let facts = table(named: schema.table) else { return nil }
    return JournalTriggers(number: number, layout: layout, schema: schema, facts: facts).triggers
  }

  /// Whether the journal's `count` triggers were created after all other triggers that may write.
  ///
  /// SQLite runs the newest triggers first. The journal must record a change before another trigger
  /// reacts to it and changes the record again.
  fileprivate func hasJournalTriggersLast(_ count: Int, of schema: ModelSchema) -> Bool {
    let names = (table(named: schema.table)?.triggers ?? []).map(\.name)
      .filter { !RuleObjects.isName($0) }
    return names.suffix(count).allSatisfy { $0.hasPrefix(SchemaObject.Owner.journalPrefix) }
  }
}
