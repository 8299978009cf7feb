/// Plans how the tables of a file are brought in line with models. It reads the file and changes
/// nothing.
///
/// The changes are compiled first, without a connection: ``ModelChanges``. The planner then finds
/// the records that violate new constraints, counts the records to copy, and proves the edited
/// texts: ``TableRevision``.
///
/// - Complexity: About five small statements for each table. Only tables with differences are read.
struct MigrationPlanner {
  /// A plan, and the same plan in the form that is carried out.
  struct Draft {
    var plan = MigrationPlan()
    /// What happens in place.
    var objects = SchemaPlan()
    var rebuilds: [TableRevision] = []
  }

  /// What a file has, and where edited texts are tried.
  private typealias Content = (
    catalog: Catalog, texts: [SchemaText], scratch: ScratchTables, models: [ModelSchema],
    filed: [ModelSchema], rules: [Rule]
  )

  let connection: Connection
  /// The functions of the store's connections, which CHECKs may call.
  var functions: Set<SQLFunction> = []
  /// The most keys that a blocked step lists.
  var maxKeyCount = 5

  /// - Throws: ``StoreError`` with code `unsupportedSchema` if the models contradict each other;
  ///   ``SQLiteError`` if a rule cannot be evaluated.
  func draft(for models: [ModelSchema]) throws -> Draft {
    try SchemaValidation(models).check()
    return try connection.inOneState {
      let catalog = try Catalog(reading: connection)
      let differences = Dictionary(
        grouping: SchemaDifference.differences(of: models, in: catalog), by: \.model)
      let filed = try CatalogEntries.models.understood(on: connection)
      let converted = try SupersededForms(connection: connection).convertedModels()
      let retyped = models.filter { model in
        !converted.contains(model.name) && filed.contains { model.hasOtherMeaning(than: $0) }
      }.map(\.name)
      guard !differences.isEmpty || !retyped.isEmpty else { return Draft() }
      let content = try (
        catalog: catalog, texts: texts(), scratch: ScratchTables(functions: functions),
        models: models, filed: filed,
        rules: CatalogEntries.rules.understood(on: connection)
      )
      var draft = Draft()
      for model in models {
        if let differences = differences[model.name] {
          try add(model, differences, content, to: &draft)
        }
        if retyped.contains(model.name) { try addMeanings(of: model, content, to: &draft) }
      }
      // The order in which they are applied.
      draft.plan.steps = draft.plan.steps.enumerated().sorted {
        ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset)
      }.map(\.element)
      return draft
    }
  }

  /// Returns the rows of `sqlite_schema`, in the order of creation.
  func texts() throws -> [SchemaText] {
    try connection.rows(
      "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY rowid"
    ) { row in
      SchemaText(
        type: try row.text(at: 0), name: try row.text(at: 1), table: try row.text(at: 2),
        sql: try row.text(at: 3))
    }
  }

  private func add(
    _ model: ModelSchema, _ differences: [SchemaDifference], _ content: Content,
    to draft: inout Draft
  ) throws {
    let (catalog, texts, scratch, models, filed, rules) = content
    let known = ModelChanges(
      schema: model, catalog: catalog, texts: texts, models: models, filed: filed, rules: rules)
    guard let changes = known else {
      let change = ModelChanges.creating(model)
      if case .objects(let plan) = change.means { draft.objects.created += plan.created }
      draft.plan.steps.append(step(for: change, of: model))
      return
    }
    let table = changes.table
    var left: [(difference: SchemaDifference, change: PlannedChange)] = []
    for (difference, change) in zip(differences, changes.changes(for: differences)) {
      guard table.kind == .table, let obstacle = try obstacle(to: change, in: changes) else {
        left.append((difference, change))
        continue
      }
      draft.plan.steps.append(
        MigrationPlan.Step(
          model: model.name, table: table.name, changes: [change.phrase],
          action: .blocked(obstacle)))
    }
    // A table that is copied anyway gets its new columns then.
    let isRebuilt = left.contains { if case .edits = $0.change.means { true } else { false } }
    let copied = left.filter { isRebuilt && $0.change.edits(of: model) != nil }
    let others = left.filter { !isRebuilt || $0.change.edits(of: model) == nil }
    if !copied.isEmpty {
      let remaining = differences.filter { difference in
        !copied.contains { $0.difference == difference }
      }
      let revision = try TableRevision(
        of: model, table, in: catalog,
        by: copied.flatMap { $0.change.edits(of: model) ?? [] }, leaving: remaining,
        reading: scratch.table)
      draft.plan.steps.append(
        try step(for: copied.map(\.change), of: model, by: revision, catalog, texts))
      if let revision { draft.rebuilds.append(revision) }
    }
    for change in others.map(\.change) + changes.removalsOfIndexes {
      draft.plan.steps.append(step(for: change, of: model))
      draft.objects.add(change, of: model)
    }
  }

  /// Blocks fields whose values would have another meaning, if a record has a value there.
  private func addMeanings(
    of model: ModelSchema, _ content: Content, to draft: inout Draft
  ) throws {
    let (catalog, texts, _, models, filed, _) = content
    let known = ModelChanges(
      schema: model, catalog: catalog, texts: texts, models: models, filed: filed)
    guard let changes = known else { return }
    for change in changes.changesOfMeaning {
      guard let obstacle = try obstacle(to: change, in: changes) else { continue }
      draft.plan.steps.append(
        MigrationPlan.Step(
          model: model.name, table: model.table, changes: [change.phrase],
          action: .blocked(obstacle)))
    }
  }

  // Steps

  /// The step for a change in place, or for one that is impossible.
  private func step(for change: PlannedChange, of model: ModelSchema) -> MigrationPlan.Step {
    var plan = SchemaPlan()
    plan.add(change, of: model)
    let action: MigrationPlan.Action =
      if case .impossible(let reason) = change.means {
        .blocked(MigrationPlan.Obstacle(reason: reason))
      } else {
        .inPlace(sql: plan.statements)
      }
    return MigrationPlan.Step(
      model: model.name, table: model.table, changes: [change.phrase], action: action,
      losses: change.losses)
  }

  private func step(
    for changes: [PlannedChange], of model: ModelSchema, by revision: TableRevision?,
    _ catalog: Catalog, _ texts: [SchemaText]
  ) throws -> MigrationPlan.Step {
    var step = MigrationPlan.Step(
      model: model.name, table: model.table, changes: changes.map(\.phrase),
      action: .blocked(
        MigrationPlan.Obstacle(
          reason:
            "The text of the table \(model.table) cannot be edited safely. Write a migration.")),
      losses: changes.flatMap(\.losses))
    guard let revision else { return step }
    let name = revision.table.name.asciiFolded
    let own = texts.filter { text in
      text.type != "table" && !text.sql.isEmpty && text.table.asciiFolded == name
    }
    let count = try connection.firstRow(
      "SELECT count(*) FROM main.\(identifier: revision.table.name)"
    ) { row in Int(try row.integer(at: 0)) }
    step.action = .rebuild(
      MigrationPlan.Rebuild(
        rowCount: count ?? 0, sql: revision.sql,
        indexes: own.filter { $0.type == "index" }.map(\.name),
        triggers: own.filter { $0.type == "trigger" }.map(\.name),
        views: texts.filter { $0.type == "view" && $0.mentions(name) }.map(\.name),
        referringTables: catalog.tables.filter { other in
          other.foreignKeys.contains { $0.table.asciiFolded == name }
            && other.name.asciiFolded != name
        }.map(\.name),
        keepsSequence: TableSQL.hasAutoincrement(revision.sql)))
    return step
  }

  // Records that violate new constraints

  private func obstacle(
    to change: PlannedChange, in changes: ModelChanges
  ) throws -> MigrationPlan.Obstacle? {
    guard !change.violations.isEmpty else { return nil }
    let records = changes.futureTable
    for violation in change.violations {
      let source = "\(records) WHERE \(violation.condition)"
      let count = try connection.firstRow(SQLText(sql: "SELECT count(*) FROM \(source)")) { row in
        Int(try row.integer(at: 0))
      }
      guard let count, count > 0 else { continue }
      let keys = try keys(of: changes.schema, changes.table, source)
      return MigrationPlan.Obstacle(reason: violation.reason, keys: keys, count: count)
    }
    return nil
  }

  /// Returns the first keys in key order; empty if the table lacks a column of the key.
  private func keys(
    of model: ModelSchema, _ table: TableFacts, _ source: String
  ) throws -> [[SQLValue]] {
    let columns = model.key.compactMap { model.field(named: $0)?.column }
    guard model.hasHiddenRowID || columns.allSatisfy({ table.column(named: $0) != nil }) else {
      return []
    }
    let list = columns.map { "\(PlannedChange.recordName).\(SQLText.quoted($0))" }
      .joined(separator: ", ")
    return try connection.rows(
      SQLText(sql: "SELECT \(list) FROM \(source) ORDER BY \(list) LIMIT \(maxKeyCount)")
    ) { row in try row.values() }
  }
}

extension PlannedChange {
  /// The edits of a rebuild that makes this change; nil if it happens in place.
  fileprivate func edits(of model: ModelSchema) -> [TableEdit]? {
    switch means {
    case .edits(let edits): edits
    case .addColumn(let name):
      model.field(named: name).map { [.addColumn(SchemaSQL(model).columnDefinition($0))] }
    case .objects, .impossible: nil
    }
  }
}

extension SchemaPlan {
  /// Adds a change in place.
  fileprivate mutating func add(_ change: PlannedChange, of model: ModelSchema) {
    switch change.means {
    case .objects(let plan):
      dropped += plan.dropped
      created += plan.created
    case .addColumn(let name):
      addedColumns += model.fields.filter { $0.name == name }.map(SchemaSQL(model).addColumn)
    case .edits, .impossible: break
    }
  }

  /// The SQL of its steps.
  fileprivate var statements: [String] {
    steps.compactMap { step in
      switch step {
      case .drop(let object): object.dropSQL
      case .create(let object): object.sql
      case .addColumn(let statement), .write(let statement): statement.sql
      case .checkExpressions, .checkNames, .synchronise, .verify: nil
      }
    }
  }
}

extension SchemaObject {
  /// The statement that drops it.
  var dropSQL: String { "DROP \(kind.rawValue.uppercased()) \(SQLText.quoted(name))" }
}

extension MigrationPlan.Step {
  /// The order of kinds: copied tables, changes in place, blocked steps.
  fileprivate var rank: Int {
    switch action {
    case .rebuild: 0
    case .inPlace: 1
    case .blocked: 2
    }
  }
}
