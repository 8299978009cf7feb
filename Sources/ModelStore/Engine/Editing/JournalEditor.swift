/// Changes which models the file's change journal records, and brings its triggers in line.
struct JournalEditor {
  let schema: CurrentSchema

  /// Sets up recording for declared models as the configuration asks, and for other models as the
  /// file says. Uses its own transaction, unless one is open.
  ///
  /// - Parameters:
  ///   - unbegun: The models that have had no records yet; see ``unbegun(_:on:)``.
  ///   - standing: The journal's state when the transaction began; nil if it is unknown.
  func install(
    _ declarations: Declarations, unbegun: Set<String> = [],
    keeping standing: JournalStanding? = nil,
    on connection: Connection
  ) throws {
    guard try plan(for: declarations, on: connection)?.isEmpty == false else { return }
    func apply() throws {
      // Another process may have done it already, or asked for more.
      let plan = try plan(
        for: declarations, unbegun: unbegun, keeping: standing, on: connection)
      guard let plan else { return }
      try Reconciler(connection).apply(plan)
    }
    try connection.isInTransaction ? apply() : connection.inTransaction(apply)
  }

  /// Returns the steps of ``install(_:on:)``; nil if nothing is to be recorded.
  func plan(
    for declarations: Declarations, unbegun: Set<String> = [],
    keeping standing: JournalStanding? = nil,
    on connection: Connection
  ) throws -> SchemaPlan? {
    let detail = declarations.changeJournal
    guard let layouts = try JournalLayouts(reading: connection),
      detail != nil || !layouts.current.isEmpty
    else { return nil }
    let models = try schema.filed(on: connection, declaring: declarations.models)
    var details = Self.details(layouts, in: models)
    if let detail {
      for model in declarations.models where model.kind == .table && !model.hasHiddenRowID {
        details[model.name] = detail
      }
    }
    let journal = CompiledJournal(layouts, of: models, in: try Catalog(reading: connection))
    return try journal.plan(recording: details, unbegun: unbegun) { layout, number in
      try standing?.hasMissedNothing(of: layout, number, now: journal, on: connection) ?? false
    }
  }

  /// Returns the names of those of `models` that are recorded.
  func recorded(of models: [ModelSchema], on connection: Connection) throws -> Set<String> {
    guard let layouts = try JournalLayouts(reading: connection) else { return [] }
    return Set(models.map(\.name)).intersection(layouts.current.keys)
  }

  /// Returns the names of those of `models` that are recorded with other fields, or whose triggers
  /// have drifted. Their journal has a gap when their tables are as declared.
  func gaps(of models: [ModelSchema], on connection: Connection) throws -> [String] {
    guard let layouts = try JournalLayouts(reading: connection),
      models.contains(where: { layouts.layout(of: $0.name) != nil })
    else { return [] }
    let filed = try schema.filed(on: connection)
    let damaged = CompiledJournal(layouts, of: filed, in: try Catalog(reading: connection))
      .damagedModels
    return models.filter { model in
      guard let layout = layouts.layout(of: model.name) else { return false }
      return layout != JournalLayout(model, detail: layout.detail) || damaged.contains(model.name)
    }.map(\.name).sorted()
  }

  /// Returns those of `models` that the file does not know yet, if their tables and the journal
  /// have never had anything to report.
  ///
  /// The journal of such a model has its changes from the first one on. A new consumer needs no
  /// gap: it builds its data from the changes alone. If there is a consumer already, it may have
  /// read records of these tables that were deleted since, so no model is returned.
  ///
  /// - Precondition: A write transaction is open, and `models` are not in the catalog yet.
  func unbegun(_ models: [ModelSchema], on connection: Connection) throws -> Set<String> {
    let isFresh = try connection.firstRow(
      """
      SELECT
        NOT EXISTS (
          SELECT 1
          FROM _ms_journal
          WHERE layout <> \(JournalLayout.journalNumber)
          OR entry <> \(JournalMark.Kind.started.rawValue) OR c1 IS NOT 1
        )
        AND NOT EXISTS (SELECT 1 FROM _ms_journal_consumers)
      """
    ) { row in try row.integer(at: 0) == 1 }
    guard isFresh == true else { return [] }
    let filed = try CatalogEntries.models.understood(on: connection)
    let names = Set(filed.map(\.name))
    let tables = Set(filed.map(\.table.asciiFolded))
    return Set(
      try models.filter { model in
        guard model.kind == .table, !model.isAdopted, !names.contains(model.name),
          !tables.contains(model.table.asciiFolded)
        else { return false }
        return try connection.firstRow(
          "SELECT 1 FROM main.\(identifier: model.table) LIMIT 1"
        ) { _ in true } == nil
      }.map(\.name))
  }

  /// Returns the state of the journal before another change to the file; nil if there is no
  /// journal.
  ///
  /// - Precondition: A write transaction is open.
  func standing(on connection: Connection) throws -> JournalStanding? {
    try JournalStanding(
      reading: connection, models: try schema.filed(on: connection))
  }

  /// Creates the journal's triggers again, which were dropped while a migration ran.
  ///
  /// - Parameters:
  ///   - standing: The state before, with the present names of models.
  ///   - written: The models whose records the migration may have changed. Their journal has a gap.
  /// - Precondition: A write transaction is open.
  func resume(
    _ standing: JournalStanding?, missing written: Set<String>, on connection: Connection
  ) throws {
    guard let layouts = try JournalLayouts(reading: connection), !layouts.current.isEmpty else {
      return
    }
    let models = try CatalogEntries.models.read(on: connection)
    let journal = CompiledJournal(layouts, of: models, in: try Catalog(reading: connection))
    let plan = try journal.plan(recording: Self.details(layouts, in: models)) { layout, number in
      !written.contains(layout.model) && standing?.wasIntact(layout, number) ?? false
    }
    try Reconciler(connection).apply(plan)
  }

  /// Brings the journal's triggers in line with tables that have changed.
  ///
  /// - Parameter standing: Their state when the transaction began; nil if it is unknown.
  /// - Precondition: A write transaction is open.
  func align(keeping standing: JournalStanding?, on connection: Connection) throws {
    try change(keeping: standing, on: connection) { _, _ in }
  }

  /// Changes what the journal records.
  ///
  /// - Parameters:
  ///   - standing: As for ``align(keeping:on:)``.
  ///   - mode: In a preview, the file may belong to an older library and have no journal. The
  ///     method then only checks whether the change would be refused.
  ///   - edit: Receives how much is recorded of each model, and all models.
  /// - Precondition: A write transaction is open, and the store's own migrations were applied.
  func change(
    keeping standing: JournalStanding? = nil, mode: WriteMode = .commit, on connection: Connection,
    _ edit: (inout [String: JournalDetail], [ModelSchema]) throws -> Void
  ) throws {
    let found = try JournalLayouts(reading: connection)
    guard let layouts = found ?? (mode == .preview ? JournalLayouts() : nil) else { return }
    let models = try schema.filed(on: connection)
    var details = Self.details(layouts, in: models)
    try edit(&details, models)
    let journal = CompiledJournal(layouts, of: models, in: try Catalog(reading: connection))
    let plan = try journal.plan(recording: details) { layout, number in
      try standing?.hasMissedNothing(of: layout, number, now: journal, on: connection) ?? false
    }
    guard found != nil else { return }
    try Reconciler(connection).apply(plan)
  }

  /// Returns how much is currently recorded of each of `models`.
  private static func details(
    _ layouts: JournalLayouts, in models: [ModelSchema]
  ) -> [String: JournalDetail] {
    var details: [String: JournalDetail] = [:]
    for model in models where JournalLayout.refusal(of: model) == nil {
      details[model.name] = layouts.layout(of: model.name)?.detail
    }
    return details
  }
}
