// Following new names of tables, columns, models and fields.
extension CatalogEditor {
  /// Runs a migration's script and keeps what belongs to the models whose tables it changes.
  ///
  /// Models follow their tables: the catalog, bindings, rules, lists and the change journal get the
  /// new names. The journal continues exactly, unless the script may have changed records or
  /// fields.
  ///
  /// - Parameters:
  ///   - declared: The program's models. Where they use a table of the file, they decide about the
  ///     names of the model and its fields.
  ///   - droppedTriggers: What happens to triggers that the script drops together with a table.
  /// - Precondition: A write transaction is open. Foreign keys are off.
  func keepingModels(
    declaring declared: [ModelSchema], droppedTriggers: DroppedTriggers,
    on connection: Connection, _ run: () throws -> TableMoves
  ) throws {
    let earlier = try CatalogEntries.models.read(on: connection)
    let drifted = droppedTriggers == .restored ? try driftedOwners(on: connection) : []
    let tables = try Self.tables(on: connection)
    var standing = try JournalStanding(reading: connection, models: earlier)
    try Reconciler(connection).suspendJournal()
    try SupersededForms(connection: connection).beginAgain()
    let moves = try run()
    let present = try Self.tables(on: connection)
    var names = ModelRenaming.Names()
    var gone: [ModelSchema] = []
    for model in earlier where tables.contains(model.tableName) {
      let name = moves.name(of: model.table, in: present)
      // Another program may bring the table of an adopted model back.
      if name == nil, !model.isAdopted { gone.append(model) }
      // A statement may spell the same name in other letters.
      if let name, ExactText(name.asciiFolded) != model.tableName {
        names.tables[model.tableName] = name
      }
    }
    try CatalogEntries.models.remove(gone.map(\.name), on: connection)
    let kept = earlier.filter { !gone.contains($0) }
    for model in kept {
      let columns = moves.columns(of: model.tableName).compactMapValues(\.self)
      if !columns.isEmpty { names.columns[model.tableName] = columns }
    }
    names.add(declared, to: kept)
    let renaming = ModelRenaming(of: kept, names)
    var updated = try follow(renaming, names, on: connection)
    if droppedTriggers == .restored {
      updated.formUnion(try restoreTriggers(besides: drifted, on: connection))
    }
    standing = try standing?.renamed(by: renaming, on: connection)
    let spreads = try moves.hasWritten && Self.hasTriggers(on: connection)
    let written = renaming.pairs.filter { pair in
      let table = names.tables[pair.old.tableName].map { ExactText($0.asciiFolded) }
      return spreads || moves.mayHaveWritten(table ?? pair.old.tableName)
        || updated.contains(pair.new.name)
    }
    try journal.resume(standing, missing: Set(written.map(\.new.name)), on: connection)
  }

  private static func tables(on connection: Connection) throws -> Set<ExactText> {
    Set(
      try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table'") { row in
        ExactText(try row.text(at: 0).asciiFolded)
      })
  }

  /// Whether a statement may change rows of other tables than it names.
  private static func hasTriggers(on connection: Connection) throws -> Bool {
    try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'") { row in
      try row.text(at: 0)
    }.contains { !RuleObjects.isName($0) }
  }

  /// Returns how the models of the file are called by those of `declared` that use the same tables.
  func renaming(
    to declared: [ModelSchema], on connection: Connection
  ) throws -> (renaming: ModelRenaming, names: ModelRenaming.Names) {
    let filed = try CatalogEntries.models.read(on: connection)
    var names = ModelRenaming.Names()
    names.add(declared, to: filed)
    return (ModelRenaming(of: filed, names), names)
  }

  /// Gives new names to everything in the file that uses the old ones.
  ///
  /// CHECKs are called by their models and fields, so their tables are copied. This needs foreign
  /// keys to be off; otherwise CHECKs keep their names.
  ///
  /// - Parameter names: The names from which `renaming` was made.
  /// - Returns: The names of the models whose records bindings have updated.
  /// - Precondition: A write transaction is open. The tables and columns of `names` have their new
  ///   names already.
  func follow(
    _ renaming: ModelRenaming, _ names: ModelRenaming.Names, on connection: Connection
  ) throws -> Set<String> {
    guard !renaming.isEmpty else { return [] }
    for pair in renaming.changed { try moveSlots(of: pair, names, on: connection) }
    _ = try CatalogEntries.models.rename(on: connection) { model in
      renaming.pairs.first { $0.old.name.isExactly(model.name) }?.new ?? model
    }
    for pair in renaming.changed {
      try renameIndexes(of: pair, on: connection)
      try renameChecks(of: pair, on: connection)
    }
    try SupersededForms(connection: connection).rename(by: renaming)
    _ = try CatalogEntries.validators.rename(on: connection, renaming.renamed)
    try JournalLayouts.rename(by: renaming, on: connection)
    try renameRules(by: renaming, on: connection)
    return try renameBindings(by: renaming, on: connection)
  }

  // Tables

  /// Renames the tables of lists that are called by their owner.
  private func moveSlots(
    of pair: ModelRenaming.Pair, _ names: ModelRenaming.Names, on connection: Connection
  ) throws {
    for (old, new) in zip(pair.old.lists, pair.new.lists) where old.columns == nil {
      let table = names.tables[ExactText(old.slotTable.asciiFolded)] ?? old.slotTable
      let present = try Self.tables(on: connection)
      guard !table.isExactly(new.slotTable), present.contains(ExactText(table.asciiFolded)) else {
        continue
      }
      if !table.asciiFolded.isExactly(new.slotTable.asciiFolded),
        present.contains(ExactText(new.slotTable.asciiFolded))
      {
        // Opening has created it a moment ago.
        let row = try connection.firstRow(
          "SELECT 1 FROM main.\(identifier: new.slotTable) LIMIT 1"
        ) { _ in true }
        guard row == nil else {
          throw StoreError(
            .migrationConflict,
            "The table \(table) of the list \(pair.new.name).\(new.name) cannot be renamed to \(new.slotTable), because that table has rows already. Move them in a migration first.",
            model: pair.new.name)
        }
        try connection.run("DROP TABLE main.\(identifier: new.slotTable)")
      }
      try connection.run(
        "ALTER TABLE main.\(identifier: table) RENAME TO \(identifier: new.slotTable)")
    }
  }

  private func renameIndexes(of pair: ModelRenaming.Pair, on connection: Connection) throws {
    let facts = try Catalog(reading: connection, only: [pair.new.table])
    guard let table = facts.table(named: pair.new.table) else { return }
    let found = Set(table.indexes.map { ExactText($0.name.asciiFolded) })
    for (old, new) in pair.indexes where found.contains(ExactText(old.asciiFolded)) {
      try connection.run("DROP INDEX main.\(identifier: old)")
      guard !found.contains(ExactText(new.name.asciiFolded)) else { continue }
      try connection.execute(new.sql)
    }
  }

  private func renameChecks(of pair: ModelRenaming.Pair, on connection: Connection) throws {
    guard !pair.checks.isEmpty, try !connection.enforcesForeignKeys else { return }
    let catalog = try Catalog(reading: connection)
    guard let table = catalog.table(named: pair.new.table) else { return }
    let edits = table.checks.compactMap { check -> TableEdit? in
      guard let name = check.name, let new = pair.checks[name] else { return nil }
      return .renameCheck(name, to: new)
    }
    guard !edits.isEmpty else { return }
    let revision = try TableRevision(
      of: pair.new, table, in: catalog, by: edits,
      leaving: SchemaDifference.differences(of: [pair.new], in: catalog),
      reading: ScratchTables(functions: configuration.functions).table)
    // If the text cannot be edited safely, opening reports the names as differences.
    guard let revision else { return }
    try TableRebuild(revision: revision, connection: connection).run()
  }

  // Rules and bindings

  private func renameRules(by renaming: ModelRenaming, on connection: Connection) throws {
    let changed = Set(renaming.changed.map(\.new.name))
    _ = try CatalogEntries.rules.rename(on: connection, renaming.renamed)
    let rules = try CatalogEntries.rules.read(on: connection)
    guard rules.contains(where: { !changed.isDisjoint(with: $0.modelNames) }) else { return }
    let models = try CatalogEntries.models.read(on: connection)
    let filed = try FiledRules(rules, in: models, on: connection)
    try apply(
      CompiledRules(filed.kept, in: models, leaving: filed.left + filed.gone, on: connection),
      on: connection)
  }

  /// - Returns: The names of the models whose records were updated.
  private func renameBindings(
    by renaming: ModelRenaming, on connection: Connection
  ) throws -> Set<String> {
    let reconciler = Reconciler(connection)
    let renamed = try CatalogEntries.bindings.rename(on: connection, renaming.renamed)
    for (old, new) in renamed where !old.name.isExactly(new.name) {
      try reconciler.dropBinding(old.name)
    }
    let changed = Set(renaming.changed.map(\.new.name))
    let bindings = try CatalogEntries.bindings.read(on: connection)
    guard bindings.contains(where: { !changed.isDisjoint(with: $0.modelNames) }) else { return [] }
    let models = try CatalogEntries.models.read(on: connection)
    let synchronised = try reconciler.reconcile(
      CompiledBindings(
        bindings.filter { ResolvedBinding.canResolve($0, in: models) }, in: models, on: connection)
    )
    return bindings.updatedModels(synchronised)
  }
}

extension [BindingSchema] {
  /// The names of the models whose records were updated.
  func updatedModels(_ synchronised: [Reconciler.Synchronised]) -> Set<String> {
    let updated = Set(synchronised.filter { $0.recordCount > 0 }.map(\.binding))
    return Set(filter { updated.contains($0.name) }.flatMap(\.boundFields).map(\.model))
  }
}

extension ModelRenaming.Names {
  /// Adds the names that `declared` has for models of the file with the same tables, and for their
  /// fields with the same columns.
  ///
  /// - Precondition: ``tables`` and ``columns`` have the new names of the tables.
  fileprivate mutating func add(_ declared: [ModelSchema], to filed: [ModelSchema]) {
    let byTable = Dictionary(declared.map { ($0.tableName, $0) }) { first, _ in first }
    for model in filed {
      let table = tables[model.tableName].map { ExactText($0.asciiFolded) } ?? model.tableName
      guard let declaration = byTable[table] else { continue }
      models[model.name] = declaration.name
      for field in model.fields {
        let folded = ExactText(field.column.asciiFolded)
        let column = (columns[model.tableName]?[folded] ?? field.column).asciiFolded
        let new = declaration.fields.first { $0.column.asciiFolded.isExactly(column) }
        if let new { fields[model.name, default: [:]][field.name] = new.name }
      }
    }
  }
}
