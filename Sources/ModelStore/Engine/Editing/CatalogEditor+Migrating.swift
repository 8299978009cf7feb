// Changing tables that differ from the declared models.
extension CatalogEditor {
  /// Returns the plan that brings the tables in line with `models`. It only reads.
  ///
  /// - Precondition: `models` include those of slots.
  func migrationDraft(
    for models: [ModelSchema], on connection: Connection
  ) throws -> MigrationPlanner.Draft {
    try connection.inOneState {
      var draft = try MigrationPlanner(
        connection: connection, functions: configuration.functions
      ).draft(for: models)
      let names = Set(draft.plan.steps.map(\.model))
      draft.plan.journalGaps = try journal.gaps(
        of: models.filter { names.contains($0.name) }, on: connection)
      try block(retyping: journal.recorded(of: models, on: connection), in: &draft)
      let older = try SupersededForms(connection: connection)
        .older(of: models.filter { names.contains($0.name) })
      for model in older { draft.block(model.name, SupersededForms.reason) }
      for model in models where model.isAdopted {
        draft.block(
          model.name, "Another program designed the table, so opening never changes it.")
      }
      return draft
    }
  }

  /// The journal has values of the earlier type, and nothing converts them.
  private func block(retyping recorded: Set<String>, in draft: inout MigrationPlanner.Draft) {
    for revision in draft.rebuilds where recorded.contains(revision.model) && revision.retypes {
      for index in draft.plan.steps.indices {
        guard draft.plan.steps[index].model == revision.model,
          case .rebuild = draft.plan.steps[index].action
        else { continue }
        draft.plan.steps[index].action = .blocked(
          MigrationPlan.Obstacle(
            reason: """
              The change journal records \(revision.model), with values of the earlier type. \
              Disable it for this model first.
              """))
      }
    }
  }

  /// Returns whether opening may copy tables, so that foreign keys must be off before the
  /// transaction begins. It reads no records.
  func copies(
    _ declarations: Declarations, _ changes: StoreConfiguration.SchemaChanges,
    on connection: Connection
  ) throws -> Bool {
    guard changes == .migrate else { return false }
    return try SchemaUpdate(declarations.models, in: Catalog(reading: connection))
      .differences.contains { !$0.isAdditive }
  }

  /// Runs `body` as a transaction, in which references between records stay intact: either SQLite
  /// enforces them, or they are compared before the commit.
  func withReferences<Result>(
    kept isEnforced: Bool, on connection: Connection, _ body: () throws -> Result
  ) throws -> Result {
    guard !isEnforced else { return try connection.inTransaction(body) }
    return try connection.withForeignKeysOff {
      try connection.inTransaction {
        let earlier = try BrokenReferences(in: connection)
        let result = try body()
        let broken = try BrokenReferences(in: connection).subtracting(earlier)
        guard broken.isEmpty else {
          throw StoreError(
            .rejected,
            """
            Changing the tables would leave \(broken.count) broken references \
            (\(broken.reasons.joined(separator: ", "))). Nothing was changed.
            """)
        }
        return result
      }
    }
  }

  /// Brings the tables in line with the declared models, as far as `changes` allows.
  ///
  /// - Precondition: A write transaction is open.
  func updateTables(
    of declarations: Declarations, allowing changes: StoreConfiguration.SchemaChanges,
    on connection: Connection
  ) throws {
    let models = declarations.models
    let update = try SchemaUpdate(models, in: Catalog(reading: connection))
    try checkAge(of: models, update, on: connection)
    let tables = Set(update.differences.map(\.table)).sorted()
    guard changes == .migrate else {
      try update.check(allowing: changes)
      try keepingDependents(on: tables, of: nil, on: connection) {
        try Reconciler(connection).apply(update.plan)
      }
      return
    }
    let forms = SupersededForms(connection: connection)
    let draft = try migrationDraft(for: models, on: connection)
    guard !draft.plan.isEmpty else { return try forms.forget(models) }
    guard draft.plan.isSafe else { throw Self.refusal(draft.plan) }
    guard try draft.rebuilds.isEmpty || !connection.enforcesForeignKeys else {
      throw StoreError(
        .busy,
        "Another program changed the tables while this store was opened; nothing was changed. Try again."
      )
    }
    try forms.record(models, ending: update.differences)
    try keepingDependents(on: tables, of: draft.plan, on: connection) {
      try apply(draft, reportingTo: declarations.progress, on: connection)
    }
    let left = try SchemaUpdate(models, in: Catalog(reading: connection)).differences
    guard left.isEmpty else {
      throw Self.mismatch(
        "The steps leave these differences: \(left.map(\.sentence).joined(separator: " "))",
        draft.plan)
    }
  }

  /// Changes tables by `body`, and throws if a view or trigger of the application cannot be
  /// compiled after it.
  private func keepingDependents(
    on tables: [String], of plan: MigrationPlan?, on connection: Connection,
    _ body: () throws -> Void
  ) throws {
    guard !tables.isEmpty else { return try body() }
    let dependents = try DependentObjects(on: tables, reading: connection)
    try body()
    let problems = try dependents.problems()
    guard !problems.isEmpty else { return }
    var error = StoreError(
      .schemaMismatch,
      """
      Changing the tables would break what the application made; nothing was changed. \
      \(problems.joined(separator: " ")) Drop it first, and create it again for the new columns.
      """)
    error.migrationPlan = plan
    throw error
  }

  /// - Throws: ``StoreError`` with code `schemaMismatch` if records violate a constraint for a
  ///   reason that the plan does not know.
  private func apply(
    _ draft: MigrationPlanner.Draft,
    reportingTo progress: StoreConfiguration.SchemaProgress?, on connection: Connection
  ) throws {
    do {
      for revision in draft.rebuilds {
        try TableRebuild(revision: revision, connection: connection).run { done, all in
          try progress?.report(revision.model, done, all)
        }
      }
      try Reconciler(connection).apply(draft.objects)
    } catch let error as SQLiteError where error.code.primary == .constraint {
      let reason = error.message.replacing(TableRebuild.temporaryName(of: ""), with: "")
      throw Self.mismatch("Records violate the new constraints: \(reason).", draft.plan)
    }
  }

  /// Throws if the tables differ because a newer version of the program changed them.
  func checkAge(
    of models: [ModelSchema], _ update: SchemaUpdate, on connection: Connection
  ) throws {
    guard !update.differences.isEmpty else { return }
    let differing = Set(update.differences.map(\.model))
    let older = try SupersededForms(connection: connection)
      .older(of: models.filter { differing.contains($0.name) })
    guard older.isEmpty else { throw SupersededForms.newerFile(older) }
  }

  private static func refusal(_ plan: MigrationPlan) -> StoreError {
    mismatch(plan.isBlocked ? "A step is blocked." : "A step would lose data.", plan)
  }

  private static func mismatch(_ reason: String, _ plan: MigrationPlan) -> StoreError {
    let models = Set(plan.steps.map(\.model))
    var error = StoreError(
      .schemaMismatch,
      """
      The file differs from the declared models; nothing was changed. \(reason) Write a migration, \
      or change the models or records.
      \(plan)
      """, model: models.count == 1 ? models.first : nil)
    error.migrationPlan = plan
    return error
  }

  /// Throws if a binding has updated values to which other records refer, while foreign keys are
  /// off: those records have not followed.
  func checkCascades(
    of synchronised: [Reconciler.Synchronised], _ bindings: [BindingSchema],
    in models: [ModelSchema], on connection: Connection
  ) throws {
    let changed = Set(synchronised.filter { $0.recordCount > 0 }.map(\.binding))
    guard !changed.isEmpty, try !connection.enforcesForeignKeys else { return }
    let catalog = try Catalog(reading: connection)
    let keys = catalog.tables.flatMap(\.foreignKeys)
    for binding in bindings where changed.contains(binding.name) {
      let isReferenced = binding.boundFields.contains { bound in
        let model = models.first { $0.name == bound.model }
        return keys.contains { key in
          key.table.asciiFolded == model?.table.asciiFolded
            && (key.referencedColumns ?? catalog.keyColumns(of: key.table)).contains {
              $0.asciiFolded == model?.field(named: bound.field)?.column.asciiFolded
            }
        }
      }
      guard !isReferenced else {
        throw StoreError(
          .schemaMismatch,
          """
          The binding \(binding.name) changes values that other records refer to, and a table has \
          to be copied, during which no record follows. Open the file once without the binding; \
          nothing was changed.
          """)
      }
    }
  }
}

extension Catalog {
  /// The columns to which a foreign key without columns refers.
  fileprivate func keyColumns(of name: String) -> [String] {
    table(named: name)?.primaryKey.map(\.name) ?? []
  }
}

extension MigrationPlanner.Draft {
  /// Blocks the steps of a model that are not blocked yet.
  fileprivate mutating func block(_ model: String, _ reason: String) {
    for index in plan.steps.indices where plan.steps[index].model == model {
      if case .blocked = plan.steps[index].action { continue }
      plan.steps[index].action = .blocked(MigrationPlan.Obstacle(reason: reason))
    }
  }
}

extension TableRevision {
  /// Whether a column gets another type.
  fileprivate var retypes: Bool {
    edits.contains { if case .setType = $0 { true } else { false } }
  }
}
