/// Which tables are created before pending migrations, and which migrations are recorded as applied
/// without running. A plain value: ``Migrator`` carries it out.
///
/// A table that the file lacks is created as its model declares it now. Migrations that change such
/// a table are for files that have it in an older form. A table that a migration creates is left to
/// the migrations, so a schema that comes from migrations alone is replayed from the first.
///
/// It reads the text of migrations in SQL. A migration in Swift counts as one that creates, renames
/// and drops nothing, and may insert rows into any table.
struct FreshFilePlan {
  /// The models whose tables are created first.
  private(set) var created: [ModelSchema] = []
  /// The versions of the migrations that do not run.
  private(set) var skipped: Set<Int64> = []

  /// - Parameters:
  ///   - pending: In the order of versions.
  ///   - models: The models whose tables may be created.
  ///   - objects: The names of the application's tables, views, indexes and triggers in the file.
  ///   - isFresh: Whether the file has no such object, and had no migration.
  /// - Throws: ``StoreError`` with code `migrationConflict` when the text of a migration does not
  ///   say what is right for a fresh file.
  init(
    _ pending: [Migration], models: [ModelSchema], objects: [String], isFresh: Bool
  ) throws(StoreError) {
    let found = Set(objects.map { ExactText($0.asciiFolded) })
    let lacking = models.filter { model in
      model.kind == .table && !model.isAdopted && !found.contains(model.tableName)
    }
    // Then no table is in a form that a migration does not expect, so all of them run.
    guard isFresh || !lacking.isEmpty else { return }
    var schema = PlannedSchema(pending, objects: found, lacking: lacking, isFresh: isFresh)
    for (index, migration) in pending.enumerated() {
      let effect = MigrationEffect(migration, in: schema)
      let decision = isFresh ? try effect.decision() : effect.decisionForOldFile
      switch decision {
      case .run: schema.run(effect.statements, isSwift: migration.isSwift)
      case .skip: skipped.insert(migration.version)
      }
      schema.forgetFormer(before: index + 1)
    }
    created = lacking.filter { !schema.made.contains($0.tableName) }
  }

  /// Whether there is nothing to do but run the migrations.
  var isEmpty: Bool { created.isEmpty && skipped.isEmpty }
}

/// What a file has while migrations are planned.
private struct PlannedSchema {
  /// The objects of the file at that point, except the tables that are created first.
  var known: Set<ExactText>
  /// Tables that running migrations have created, even if a later migration drops them.
  var made: Set<ExactText> = []
  /// Tables into which running migrations have inserted rows.
  var seeded: Set<ExactText> = []
  /// Whether running migrations may have inserted rows into other tables, too.
  var mayHaveOtherRows = false
  private var hasTriggers = false
  /// The names of the tables of models that the file lacks, by the names that SQLite compares.
  let names: [ExactText: String]
  /// The indexes that are created with these tables.
  let declaredIndexes: Set<ExactText>
  /// The objects that this migration or a later one renames or drops, and does not create again. A
  /// fresh file never had them.
  private(set) var former: Set<ExactText> = []
  private let gone: [Set<ExactText>]
  let isFresh: Bool

  init(_ pending: [Migration], objects: Set<ExactText>, lacking: [ModelSchema], isFresh: Bool) {
    known = objects
    names = Dictionary(lacking.map { ($0.tableName, $0.table) }, uniquingKeysWith: { $1 })
    declaredIndexes = Set(
      lacking.flatMap { SchemaSQL($0).objects }.filter { $0.kind == .index }
        .map { ExactText($0.name.asciiFolded) })
    self.isFresh = isFresh
    gone = pending.map(Self.gone)
    forgetFormer(before: 0)
  }

  /// What a migration renames or drops, and does not create again.
  private static func gone(after migration: Migration) -> Set<ExactText> {
    var gone: Set<ExactText> = []
    for statement in SQLTokens(migration.sql).statements.map(MigrationStatement.init) {
      switch statement {
      case .create(let name, _), .createIndex(let name, _), .createTrigger(let name, _):
        gone.remove(name)
      case .rename(let name, let new):
        gone.insert(name)
        gone.remove(new)
      case .drop(let name): gone.insert(name)
      case .alter, .insert, .change, .header, .neutral, .other: break
      }
    }
    return gone
  }

  /// Forgets what only the first `count` migrations rename or drop.
  mutating func forgetFormer(before count: Int) {
    former = gone.dropFirst(count).reduce(into: []) { $0.formUnion($1) }
  }

  func isDeclared(_ name: ExactText) -> Bool { names[name] != nil }

  /// Whether the file gets the table in its present form, or never has it.
  func isSettled(_ name: ExactText) -> Bool {
    !known.contains(name) && (isDeclared(name) || isFresh && former.contains(name))
  }

  mutating func run(_ statements: [MigrationStatement], isSwift: Bool) {
    if isSwift { mayHaveOtherRows = true }
    for statement in statements {
      switch statement {
      case .create(let name, _):
        known.insert(name)
        made.insert(name)
      case .createIndex(let name, _): known.insert(name)
      case .createTrigger(let name, _):
        known.insert(name)
        hasTriggers = true
      case .rename(let name, let new):
        known.remove(name)
        known.insert(new)
        made.insert(new)
      case .drop(let name): known.remove(name)
      case .insert(let name, _):
        seeded.insert(name)
        if hasTriggers { mayHaveOtherRows = true }
      case .change: if hasTriggers { mayHaveOtherRows = true }
      case .other: mayHaveOtherRows = true
      case .alter, .header, .neutral: break
      }
    }
  }
}

/// What one migration would change in a planned schema.
private struct MigrationEffect {
  let migration: Migration
  let statements: [MigrationStatement]
  private let schema: PlannedSchema
  /// The objects that it alters, renames or drops and has not created itself.
  private var changed: Set<ExactText> = []
  /// The objects that it creates, under all their names.
  private var created: Set<ExactText> = []
  /// The tables that it creates and does not drop, each with the index of the statement.
  private var left: [ExactText: Int] = [:]
  /// The new names of tables that have no rows.
  private var renamed: Set<ExactText> = []

  init(_ migration: Migration, in schema: PlannedSchema) {
    self.migration = migration
    self.schema = schema
    statements = SQLTokens(migration.sql).statements.map(MigrationStatement.init)
    for (index, statement) in statements.enumerated() { note(statement, index) }
    // DROP … IF EXISTS before CREATE replaces an object that the file need not have.
    changed = changed.filter { name in
      !created.contains(name) || schema.isSettled(name) || schema.known.contains(name)
    }
  }

  private mutating func note(_ statement: MigrationStatement, _ index: Int) {
    switch statement {
    case .create(let name, _):
      created.insert(name)
      left[name] = index
    case .alter(let name): if left[name] == nil { changed.insert(name) }
    case .drop(let name): if left.removeValue(forKey: name) == nil { changed.insert(name) }
    case .rename(let name, let new):
      if let place = left.removeValue(forKey: name) {
        created.insert(new)
        left[new] = place
      } else {
        changed.formUnion([name, new])
        if hasNoRows(name), !schema.known.contains(new) { renamed.insert(new) }
      }
    case .createIndex(let name, let table):
      created.insert(name)
      if schema.declaredIndexes.contains(name), schema.isSettled(table) { changed.insert(table) }
    case .createTrigger(let name, _): created.insert(name)
    case .insert, .change, .header, .neutral, .other: break
    }
  }

  /// Whether it runs on a fresh file.
  func decision() throws(StoreError) -> Migration.FreshFiles {
    if let declared = migration.onFreshFiles { return declared }
    if changesRowsOnly { return .skip }
    // A name that SQLite will not find is a mistake for SQLite to report.
    guard changed.contains(where: schema.isSettled),
      changed.allSatisfy({ schema.isSettled($0) || schema.known.contains($0) || isNewName($0) })
    else { return .run }
    guard changed.isDisjoint(with: schema.known) else { throw undecided(nil) }
    if let index = firstLoss { throw undecided(index) }
    return .skip
  }

  /// Whether it runs on a file that has tables.
  var decisionForOldFile: Migration.FreshFiles {
    if changesRowsOnly { return .skip }
    if let declared = migration.onFreshFiles, concernsNewTablesOnly { return declared }
    let skips =
      changed.contains(where: schema.isSettled)
      && changed.allSatisfy { schema.isSettled($0) || renamed.contains($0) } && firstLoss == nil
    return skips ? .skip : .run
  }

  /// Whether it concerns tables that the file gets in their present form, and neither changes nor
  /// reads what the file has.
  private var concernsNewTablesOnly: Bool {
    statements.contains { $0.targets.contains(where: schema.isSettled) }
      && statements.allSatisfy { statement in
        statement != .other && schema.known.isDisjoint(with: statement.targets)
          && schema.known.isDisjoint(with: statement.sources)
      }
  }

  /// Whether `name` is what it calls a table that was there before.
  private func isNewName(_ name: ExactText) -> Bool {
    statements.contains { if case .rename(_, name) = $0 { true } else { false } }
  }

  /// Whether it only changes rows of tables that have none yet.
  private var changesRowsOnly: Bool {
    let changes = statements.filter { $0 != .neutral }
    return !changes.isEmpty
      && changes.allSatisfy { statement in
        if case .change(let name, _) = statement { hasNoRows(name) } else { false }
      }
  }

  private func hasNoRows(_ name: ExactText) -> Bool {
    (schema.isSettled(name) || renamed.contains(name)) && !mayHaveRows(name)
  }

  private func mayHaveRows(_ name: ExactText) -> Bool {
    schema.mayHaveOtherRows || schema.seeded.contains(name)
  }

  /// The first statement whose effect a fresh file would lack; nil when there is none.
  private var firstLoss: Int? {
    let lost = left.filter { !changed.contains($0.key) && !schema.isDeclared($0.key) }
    return statements.indices.first { index in
      lost.values.contains(index) || isLost(statements[index])
    }
  }

  private func isLost(_ statement: MigrationStatement) -> Bool {
    switch statement {
    case .drop, .neutral: false
    // Filling a table from another one that has rows.
    case .create(_, let sources): !sources.isDisjoint(with: schema.known)
    // A running migration has inserted rows, so the table must also have its earlier form.
    case .alter(let name), .rename(let name, _): schema.seeded.contains(name)
    case .createIndex(let name, _):
      !schema.declaredIndexes.contains(name) && !schema.known.contains(name)
    case .createTrigger(let name, _): !schema.known.contains(name)
    // Not lost: filling a table that this migration creates from a table without rows.
    case .insert(let name, let sources):
      !created.contains(name) || sources.isDisjoint(with: changed.filter(hasNoRows))
        || !sources.isDisjoint(with: schema.known)
    case .change(let name, _): !hasNoRows(name) && !created.contains(name)
    case .header, .other: true
    }
  }

  /// - Parameter index: The statement that speaks against skipping the migration. With nil, it also
  ///   changes other tables.
  private func undecided(_ index: Int?) -> StoreError {
    let choice = "pass onFreshFiles: .run or .skip"
    let tables = changed.map { schema.names[$0] ?? $0.text }.sorted().joined(separator: ", ")
    let present = "tables that the file gets in their present form"
    let reason =
      switch index {
      case nil:
        "it changes \(tables): \(present), and tables of earlier migrations. Split it, or \(choice)"
      case let index? where changesSeeds(statements[index]):
        "it changes \(tables), and statement \(index + 1) changes a table into which an earlier migration \(schema.mayHaveOtherRows ? "may insert" : "inserts") rows. To decide, \(choice)"
      case let index?:
        "it changes \(present) (\(tables)), and statement \(index + 1) does more. Move that statement to a migration of its own, or \(choice)"
      }
    return StoreError(
      .migrationConflict,
      "The store cannot decide whether the migration \(migration) runs on a fresh file: \(reason). If files have had the migration, pass .skip, and repeat in a new migration what fresh files need. Nothing was changed."
    )
  }

  private func changesSeeds(_ statement: MigrationStatement) -> Bool {
    switch statement {
    case .alter(let name), .rename(let name, _): schema.seeded.contains(name)
    case .change(let name, _): schema.isSettled(name) && mayHaveRows(name)
    default: false
    }
  }
}

extension ModelSchema {
  /// As SQLite compares it.
  var tableName: ExactText { ExactText(table.asciiFolded) }
}
