/// The triggers of a file's change journal: those that its layouts ask for, beside those that it
/// has. A plain value.
///
/// A model whose table another program took away, or left without some of the model's columns, is
/// left alone and has drift: triggers that name what is not there refuse every write.
struct CompiledJournal: Sendable {
  private let layouts: JournalLayouts
  private let schemas: [String: ModelSchema]
  private let catalog: Catalog
  private let installed: InstalledObjects

  /// The models whose triggers are there in the right words and places.
  let intactModels: Set<String>

  /// - Parameter models: Those to be judged; all models of the file to make a plan.
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

  // What is there

  /// The models of which something is to be recorded, but not by the right triggers in the right
  /// places.
  var damagedModels: Set<String> { Set(layouts.current.keys).subtracting(intactModels) }

  /// The intact models of which everything is recorded, with all values.
  var exactModels: Set<String> {
    intactModels.filter { name in
      guard layouts.layout(of: name)?.detail == .full, let schema = schemas[name] else {
        return false
      }
      return !(catalog.table(named: schema.table)?.evictsUnforeseen ?? true)
    }
  }

  /// The texts of triggers of the models called `names` that another library or program wrote.
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

  /// Whether the file has the object in the same words.
  func holds(_ object: SchemaObject) -> Bool { installed.holds(object) }

  static func unfit(_ schema: ModelSchema) -> StoreError {
    StoreError(
      .schemaMismatch,
      "The table \(schema.table) of the model \(schema.name) is not in the file, or lacks columns of the model.",
      model: schema.name)
  }

  // What differs

  /// How the triggers in the file differ, by model.
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

  // What has to happen

  /// What makes the file's triggers those that record `details`: creates what is missing, creates
  /// all triggers of a model again where one of them differs, drops what belongs to no model.
  ///
  /// Wherever triggers come or go, changes may have been missed, so a row in the journal says so.
  ///
  /// - Parameters:
  ///   - details: For each model whose changes are to be recorded, how much of them.
  ///   - hasMissedNothing: Whether triggers that are created again were as they should be until
  ///     now, so that there is no gap; see ``JournalStanding``.
  /// - Throws: ``StoreError`` with code `unknownModel`, or `unsupportedSchema` for a model whose
  ///   changes cannot be recorded; `schemaMismatch` for one whose table is gone.
  func plan(
    recording details: [String: JournalDetail],
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
    // What was noted before belongs to no statement any more.
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
        plan.closingEntries.append(Self.note(.started, number))
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
        .unknownModel, "\(name) is not a model of this store, so its changes are not entered.",
        model: name)
    }
    if let reason = JournalLayout.refusal(of: schema) {
      throw StoreError(
        .unsupportedSchema, "The change journal cannot hold changes of \(name): \(reason).",
        model: name)
    }
    return (schema, detail)
  }

  /// Whether what is wanted of a model is in place, or it is left alone.
  private func isSettled(_ model: Recording) -> Bool {
    layouts.layout(of: model.schema.name)?.detail == model.detail
      && (intactModels.contains(model.schema.name) || !catalog.hasColumns(of: model.schema))
  }

  private static func note(_ kind: JournalMark.Kind, _ layout: Int64) -> SQLText {
    """
    INSERT INTO _ms_journal (layout, entry, c0)
    VALUES (\(JournalLayout.journalNumber), \(kind.rawValue), \(layout))
    """
  }
}

extension CompiledJournal {
  /// As ``damagedModels``, without the models that only a newer library knows: whether their
  /// triggers are right cannot be judged here.
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
  /// Whether the model's table is there with every column.
  func hasColumns(of schema: ModelSchema) -> Bool {
    guard let table = table(named: schema.table), table.kind == .table else { return false }
    return schema.fields.allSatisfy { table.column(named: $0.column) != nil }
  }

  /// The triggers of `schema`, were its changes recorded as `layout`; nil when it has no table.
  fileprivate func journalTriggers(
    of schema: ModelSchema, as layout: JournalLayout, number: Int64
  ) -> [SchemaObject]? {
    guard let facts = table(named: schema.table) else { return nil }
    return JournalTriggers(number: number, layout: layout, schema: schema, facts: facts).triggers
  }

  /// Whether the journal's triggers, `count` of them, were created after all others that may write.
  /// SQLite runs those first that were created last, and what another trigger does to a record must
  /// not be recorded before the change that it answers.
  fileprivate func hasJournalTriggersLast(_ count: Int, of schema: ModelSchema) -> Bool {
    let names = (table(named: schema.table)?.triggers ?? []).map(\.name)
      .filter { !RuleObjects.isName($0) }
    return names.suffix(count).allSatisfy { $0.hasPrefix(SchemaObject.Owner.journalPrefix) }
  }
}
