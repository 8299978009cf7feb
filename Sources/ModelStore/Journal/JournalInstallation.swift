/// Brings a file's journal triggers in line with what is to be entered: creates what is missing,
/// makes anew what differs, drops what belongs to no model.
///
/// Wherever triggers come or go, changes may have been missed, so a row in the journal says so. Not
/// where those that are made anew were as they should be until then; see ``JournalStanding``.
///
/// A model whose table another program took away, or left without some of the model's columns, is
/// let alone and counts as damaged: triggers that name what is not there refuse everybody's writes.
struct JournalInstallation {
  /// What is to be entered, by the model's name.
  private let wanted: [String: (schema: ModelSchema, detail: JournalDetail)]
  private let catalog: Catalog

  /// - Parameters:
  ///   - details: For each model whose changes are to be entered, how much of them.
  ///   - models: All models of the file.
  /// - Throws: ``StoreError`` with code `unknownModel`, or `unsupportedSchema` for a model whose
  ///   changes cannot be entered.
  init(
    _ details: [String: JournalDetail], in models: [ModelSchema], catalog: Catalog
  ) throws(StoreError) {
    var wanted: [String: (schema: ModelSchema, detail: JournalDetail)] = [:]
    let schemas = Dictionary(models.map { ($0.name, $0) }) { first, _ in first }
    for (name, detail) in details {
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
      wanted[name] = (schema, detail)
    }
    self.wanted = wanted
    self.catalog = catalog
  }

  /// The triggers of `schema`, were its changes entered as `layout`; nil when it has no table.
  static func triggers(
    of schema: ModelSchema, as layout: JournalLayout, number: Int64, in catalog: Catalog
  ) -> [SchemaObject]? {
    guard let facts = catalog.table(named: schema.table) else { return nil }
    return JournalTriggers(number: number, layout: layout, schema: schema, facts: facts).triggers
  }

  /// The models whose triggers are there in the right words and places.
  static func intactModels(
    _ layouts: JournalLayouts, models: [ModelSchema], in catalog: Catalog
  ) -> Set<String> {
    let found = triggers(in: catalog)
    return Set(
      models.filter { schema in
        guard let number = layouts.current[schema.name], let layout = layouts.all[number],
          Self.isFit(schema, in: catalog), layout == JournalLayout(schema, detail: layout.detail),
          let triggers = triggers(of: schema, as: layout, number: number, in: catalog)
        else { return false }
        return triggers.allSatisfy { found[$0.name]?.isExactly($0.sql) ?? false }
          && areLast(triggers.count, in: catalog.table(named: schema.table))
      }.map(\.name))
  }

  /// Whether the model's table is there with every column.
  static func isFit(_ schema: ModelSchema, in catalog: Catalog) -> Bool {
    guard let table = catalog.table(named: schema.table), table.kind == .table else { return false }
    return schema.fields.allSatisfy { table.column(named: $0.column) != nil }
  }

  /// Whether what is wanted of a model is installed, or it is let alone.
  private func isSettled(
    _ schema: ModelSchema, _ detail: JournalDetail, _ layouts: JournalLayouts,
    _ intact: Set<String>
  ) -> Bool {
    layouts.layout(of: schema.name)?.detail == detail
      && (intact.contains(schema.name) || !Self.isFit(schema, in: catalog))
  }

  /// The models of which something is to be entered, but not by the right triggers in the right
  /// places.
  static func damagedModels(
    _ layouts: JournalLayouts, models: [ModelSchema], in catalog: Catalog
  ) -> Set<String> {
    Set(layouts.current.keys).subtracting(intactModels(layouts, models: models, in: catalog))
  }

  /// Leaves out the models that only a newer library knows: whether their triggers are right cannot
  /// be judged here.
  static func withoutNewer(
    _ damaged: Set<String>, on connection: Connection
  ) throws -> Set<String> {
    guard !damaged.isEmpty else { return [] }
    return damaged.subtracting(
      try CatalogEntries.models.problems(on: connection).compactMap(\.model))
  }

  /// The texts of the journal's triggers of `models` that another library or program wrote.
  static func foreignTriggers(
    _ layouts: JournalLayouts, models: [ModelSchema], in catalog: Catalog
  ) -> Set<String> {
    let found = triggers(in: catalog)
    let names = Set(models.map(\.name))
    let own = models.flatMap { schema -> [SchemaObject] in
      guard let number = layouts.current[schema.name], let layout = layouts.all[number] else {
        return []
      }
      return triggers(of: schema, as: layout, number: number, in: catalog) ?? []
    }
    let ofModels = found.filter { name, _ in
      JournalTriggers.model(ofTrigger: name).map(names.contains) ?? false
    }
    return Set(ofModels.values).subtracting(own.map(\.sql))
  }

  /// Those of the intact `models` of which everything is entered, with all values.
  static func exactModels(
    _ layouts: JournalLayouts, intact models: [ModelSchema], in catalog: Catalog
  ) -> Set<String> {
    Set(
      models.filter { model in
        layouts.layout(of: model.name)?.detail == .full
          && !(catalog.table(named: model.table)?.evictsUnforeseen ?? true)
      }.map(\.name))
  }

  /// Whether the journal's triggers, `count` of them, were made after all others that may write.
  /// SQLite runs those first that were made last, and what another trigger does to a record must
  /// not be entered before the change that it answers.
  private static func areLast(_ count: Int, in table: TableFacts?) -> Bool {
    let names = (table?.triggers ?? []).map(\.name)
      .filter { !RuleObjects.isName($0) }
    return names.suffix(count).allSatisfy { $0.hasPrefix(JournalTriggers.namePrefix) }
  }

  /// The journal's triggers in the file: name → text.
  static func triggers(in catalog: Catalog) -> [String: String] {
    let all = catalog.tables.flatMap(\.triggers)
      .filter { $0.name.hasPrefix(JournalTriggers.namePrefix) }
    return Dictionary(all.map { ($0.name, $0.sql) }) { first, _ in first }
  }

  /// Whether the file is as it should be.
  func isInstalled(_ layouts: JournalLayouts) -> Bool {
    let intact = Self.intactModels(
      layouts, models: wanted.values.map(\.schema), in: catalog)
    let found = Set(
      Self.triggers(in: catalog).keys.compactMap { JournalTriggers.model(ofTrigger: $0) })
    return wanted.values.allSatisfy {
      isSettled($0.schema, $0.detail, layouts, intact)
    } && layouts.current.keys.allSatisfy { wanted[$0] != nil } && found.isSubset(of: wanted.keys)
  }

  /// Makes the file's triggers those that are wanted.
  ///
  /// - Parameter standing: How the journal stood when the transaction began, where that is known.
  /// - Precondition: A write transaction is open, and the store's own migrations were applied.
  func apply(
    _ layouts: inout JournalLayouts, keeping standing: JournalStanding? = nil,
    on connection: Connection
  ) throws {
    precondition(connection.isInTransaction, "The journal is installed inside a transaction.")
    let found = Self.triggers(in: catalog)
    let intact = Self.intactModels(layouts, models: wanted.values.map(\.schema), in: catalog)
    let kept = wanted.filter { isSettled($0.value.schema, $0.value.detail, layouts, intact) }
    for name in found.keys.sorted() {
      guard JournalTriggers.model(ofTrigger: name).map({ kept[$0] == nil }) ?? true else {
        continue
      }
      try connection.execute("DROP TRIGGER \(SQLText.quoted(name))")
    }
    // What was noted before is no one's any more.
    try connection.run("DELETE FROM _ms_journal_evicted")
    for name in layouts.current.keys.sorted() where wanted[name] == nil {
      try Self.note(.stopped, layouts.current[name], on: connection)
      try layouts.leave(name, on: connection)
    }
    for (name, model) in wanted.sorted(by: { $0.key < $1.key }) where kept[name] == nil {
      let layout = JournalLayout(model.schema, detail: model.detail)
      let number = try layouts.enter(layout, on: connection)
      guard Self.isFit(model.schema, in: catalog),
        let triggers = Self.triggers(of: model.schema, as: layout, number: number, in: catalog)
      else { throw Self.unfit(model.schema) }
      for trigger in triggers { try connection.execute(trigger.sql) }
      if try standing?.hasMissedNothing(of: layout, number, now: found, on: connection) != true {
        try Self.note(.started, number, on: connection)
      }
    }
  }

  static func unfit(_ schema: ModelSchema) -> StoreError {
    StoreError(
      .schemaMismatch,
      "The table \(schema.table) of the model \(schema.name) is not in the file, or lacks columns of the model.",
      model: schema.name)
  }

  private static func note(
    _ kind: JournalMark.Kind, _ layout: Int64?, on connection: Connection
  ) throws {
    guard let layout else { return }
    try connection.run(
      """
      INSERT INTO _ms_journal (layout, entry, c0)
      VALUES (\(JournalLayout.journalNumber), \(kind.rawValue), \(layout))
      """)
  }

  /// Drops every trigger of the journal, so that tables can be changed as SQLite allows only
  /// without them. ``apply(_:on:)`` makes them anew and says in the journal that it has a gap.
  ///
  /// - Precondition: A write transaction is open.
  static func suspend(on connection: Connection) throws {
    let installed = try InstalledObjects(
      namedWith: [JournalTriggers.namePrefix], in: connection)
    // Its tables have the same prefix.
    try SchemaObject.drop(installed.objects.filter { $0.kind == .trigger }, from: connection)
  }
}
