import ModelStore
import RecordFormats

/// One run of migrations on the database: what would be deleted, the question, the backup, the
/// migrations, and what happened.
struct MigrationRun {
  let context: CommandContext
  let source: MigrationSource
  private let options: MigrationRunOptions
  private var opened: OpenedStore
  let statuses: [MigrationStatus]

  /// - Parameter existing: Whether there must be a database.
  /// - Throws: ``CommandError`` if the database and the migrations contradict each other.
  init(
    _ options: MigrationRunOptions, _ context: CommandContext,
    existing: CommandContext.ExistingDatabase = .required
  ) throws {
    self.context = context
    self.options = options
    source = try MigrationSource(options.source, context)
    let isNew = try !context.location().exists
    opened = try context.openToMigrate(existing: context.isDryRun ? .required : existing)
    statuses = try FileMigrations(
      of: opened.store, declared: source.migrations, models: source.models
    ).status()
    if isNew { try context.console.say("created \(opened.location.path)") }
  }

  private var file: FileMigrations {
    FileMigrations(of: opened.store, declared: source.migrations, models: source.models)
  }

  /// Changes the file, or on a member the shared store.
  private mutating func change<Result>(
    _ body: (FileMigrations) throws -> Result
  ) throws -> Result {
    let source = source
    return try context.changeCatalog(through: &opened) { store in
      try body(
        FileMigrations(of: store, declared: source.migrations, models: source.models))
    }
  }

  // Forwards

  /// Applies the pending migrations up to and with `version`, and brings the file in line with the
  /// models of an application.
  mutating func up(to version: Int64? = nil) throws -> ExitCode {
    try statuses.check(against: source, context)
    let steps = try file.steps(upTo: version)
    guard !steps.isEmpty || source.isOfApplication else {
      try context.console.say("nothing to do: \(try standing)")
      return .ok
    }
    let statements = steps.created + steps.steps.flatMap(\.action.statements)
    guard try prepare(statements, asking: { "Apply \(titles(of: steps))?" }) else { return .failed }
    guard !context.isDryRun else {
      let applied = try CommandError.ofMigration {
        try file.apply(upTo: version, mode: .preview)
      }
      for migration in applied { try say("would apply", migration) }
      if source.isOfApplication, version == nil { try sayPlan("would be made") }
      try context.console.say("dry run: nothing was changed")
      return .ok
    }
    let count = try apply(steps, upTo: version)
    // What follows closes the store.
    let standing = try standing
    let changes = try source.isOfApplication && version == nil ? bringModelsInLine() : 0
    if count == 0, changes == 0 {
      try context.console.say("nothing to do: \(standing)")
      return .ok
    }
    try finish()
    return .ok
  }

  /// What the file has had by now, in words. Another program may have applied some meanwhile.
  private var standing: String {
    get throws {
      let applied = try file.status().filter { $0.applied != nil }
      guard let last = applied.last else { return "there is no migration" }
      return
        "the database has had \(Grouped.text(applied.count, "migration")), up to \(last.version)"
    }
  }

  private func titles(of steps: MigrationSteps) -> String {
    steps.steps.count == 1
      ? steps.steps.map { source.shortTitle($0.version, $0.name) }[0]
      : Grouped.text(steps.steps.count, "migration")
  }

  /// - Returns: How many migrations were applied.
  private mutating func apply(_ steps: MigrationSteps, upTo version: Int64?) throws -> Int {
    let isMember = try opened.isMember
    // All members of a shared store would begin again for nothing.
    guard !steps.isEmpty || !isMember else { return 0 }
    // Tables of models are created with all pending migrations, in one transaction. A shared store
    // gets all of them at once.
    guard source.isOfApplication || isMember else {
      return try applyOneByOne(steps, upTo: version)
    }
    let applied = try CommandError.ofMigration { try change { try $0.apply(upTo: version) } }
    for migration in applied { try say("applied", migration) }
    return applied.count
  }

  /// Applies migrations of an ordinary file, and reports each when it is committed.
  private func applyOneByOne(_ steps: MigrationSteps, upTo version: Int64?) throws -> Int {
    var progress = Progress(console: context.console)
    var count = 0
    let all = steps.steps.count
    progress.show("migrations", done: count, of: all)
    defer { progress.clear() }
    let applied = try CommandError.ofMigration {
      try file.apply(upTo: version) { applied in
        progress.clear()
        for migration in applied { try say("applied", migration) }
        count += applied.count
        progress.show("migrations", done: count, of: all)
      }
    }
    return applied.count
  }

  private func say(_ verb: String, _ migration: AppliedMigration) throws {
    let title = source.shortTitle(migration.version, migration.name)
    let remark =
      switch migration.kind {
      case .run, .repair: migration.duration.map { "   \($0.milliseconds) ms" } ?? ""
      case .skip: "   without running it: the tables have their present form"
      case .baseline: "   without running it, as a baseline"
      case .squash: "   without running it: it stands for \(migration.replaced.count) others"
      }
    try context.console.say("\(verb) \(title)\(context.isDryRun ? "" : remark)")
  }

  // The models of an application

  private func sayPlan(_ verb: String) throws {
    let plan = try file.plan()
    guard !plan.isEmpty else { return }
    try context.console.say("\(Grouped.text(plan.steps.count, "change")) of the models \(verb):")
    for line in "\(plan)".split(separator: "\n") { try context.console.say("  \(line)") }
  }

  /// Opens the file as the application does.
  ///
  /// - Returns: How many changes the models asked for.
  /// - Throws: ``CommandError`` with exit status 2 if opening does not make these changes.
  private func bringModelsInLine() throws -> Int {
    let plan = try file.plan()
    opened.store.close()
    do {
      try context.openForWriting().store.close()
    } catch let error as StoreError where error.code == .schemaMismatch {
      var failure = CommandError(error)
      failure.exitCode = .found
      failure.hint = "storecli migrate plan"
      throw failure
    }
    guard !plan.isEmpty else { return 0 }
    for step in plan.steps {
      try context.console.say("changed \(step.changes.joined(separator: ", "))")
    }
    return plan.steps.count
  }

  // Backwards

  /// Takes back the newest `count` migrations.
  mutating func down(_ count: Int) throws -> ExitCode {
    let versions = statuses.filter { $0.applied != nil }.map(\.version)
    guard !versions.isEmpty else {
      try context.console.say("nothing to do: \(try standing)")
      return .ok
    }
    guard count <= versions.count else {
      throw CommandError.usage(
        "The database has had only \(Grouped.text(versions.count, "migration"))",
        hint: "storecli migrate to 0")
    }
    return try down(to: versions.dropLast(count).last ?? 0)
  }

  /// Takes back the migrations above `version`.
  mutating func down(to version: Int64) throws -> ExitCode {
    let steps = try reversible { try file.stepsBack(to: version) }
    guard !steps.isEmpty else {
      try context.console.say("nothing to do: \(try standing)")
      return .ok
    }
    let isReady = try prepare(
      steps.steps.flatMap(\.action.statements), always: true,
      asking: { "Take back \(titles(of: steps))?" })
    guard isReady else { return .failed }
    let verb = context.isDryRun ? "would take back" : "took back"
    let reverted = try CommandError.ofMigration {
      try context.isDryRun
        ? file.revert(to: version, mode: .preview) : change { try $0.revert(to: version) }
    }
    for migration in reverted {
      try context.console.say("\(verb) \(source.shortTitle(migration.version, migration.name))")
    }
    guard !context.isDryRun else {
      try context.console.say("dry run: nothing was changed")
      return .ok
    }
    try finish()
    return .ok
  }

  /// Takes back the newest migration and applies it again, as it is written now.
  mutating func redo() throws -> ExitCode {
    let applied = statuses.filter { $0.applied != nil }
    guard let last = applied.last else {
      try context.console.say("nothing to do: \(try standing)")
      return .ok
    }
    guard let declared = source.migrations.first(where: { $0.version == last.version }) else {
      throw CommandError(
        .failed, code: StoreError.Code.migrationConflict.rawValue,
        """
        The migration \(last.version) \(last.name) is missing here, so it cannot be applied again; \
        nothing was changed.
        """, hint: source.isOfApplication ? nil : "restore its file in \(source.directory.path)")
    }
    let earlier = applied.dropLast().last?.version ?? 0
    let steps = try reversible { try file.stepsBack(to: earlier) }
    let title = source.shortTitle(last.version, last.name)
    // The text may have changed, so what it deletes now counts, too.
    let statements =
      steps.steps.flatMap(\.action.statements) + SQLTokens(declared.sql).statements
    guard try prepare(statements, asking: { "Take back \(title), and apply it?" }) else {
      return .failed
    }
    // Both directions run before anything is committed.
    _ = try CommandError.ofMigration {
      try context.isDryRun ? file.redo(mode: .preview) : change { try $0.redo() }
    }
    guard !context.isDryRun else {
      try context.console.say("would take back and apply \(title)")
      try context.console.say("dry run: nothing was changed")
      return .ok
    }
    try context.console.say("took back and applied \(title)")
    try finish()
    return .ok
  }

  /// Adds the remedy to the error about a migration that cannot be taken back.
  private func reversible(_ body: () throws -> MigrationSteps) throws -> MigrationSteps {
    do {
      return try body()
    } catch let error as StoreError where error.code == .migrationConflict {
      var failure = CommandError(error)
      failure.hint = "write a new migration that changes the schema back"
      throw failure
    }
  }

  // Before anything is deleted

  /// Lists what `statements` delete, asks, and makes a backup.
  ///
  /// - Parameter always: Whether to ask although nothing is deleted.
  /// - Returns: Whether to go on.
  private func prepare(
    _ statements: [String], always: Bool = false, asking question: () -> String
  ) throws -> Bool {
    let losses = try lossSentences(of: statements)
    for loss in losses { try context.console.say("  \(loss)") }
    guard !context.isDryRun, always || !losses.isEmpty else { return true }
    guard
      try Confirmation.isGranted(
        ([question()] + (Confirmation.canAsk(context.console) ? [] : losses))
          .joined(separator: " "), isGiven: options.yes, flag: "--yes", console: context.console)
    else {
      try context.console.say("nothing was changed")
      return false
    }
    if !losses.isEmpty, !options.noBackup { try backUp() }
    return true
  }

  private func lossSentences(of statements: [String]) throws -> [String] {
    let losses = try MigrationRehearsal.losses(
      of: statements, in: opened.store.schemaSnapshot(),
      functions: context.application.configuration.functions)
    guard let losses else { return [MigrationRehearsal.unknownLoss] }
    return try losses.map { loss in
      guard let number = try count(loss) else { return loss.sentence }
      let noun: String = if case .table = loss { "record" } else { "value" }
      return "\(loss.sentence.dropLast()): \(Grouped.text(Int(number), noun))."
    }
  }

  /// How many values a loss deletes; nil if that is not a number, or another program has deleted
  /// the table meanwhile. The migrations then meet what it has changed.
  private func count(_ loss: SchemaLoss) throws -> Int64? {
    guard let text = loss.count else { return nil }
    do {
      let count = try opened.read { reads in try reads.rows(text).first?.values.first }
      guard case .integer(let number)? = count else { return nil }
      return number
    } catch let error as StoreError where error.code == .invalidQuery {
      return nil
    }
  }

  private func backUp() throws {
    let backups = MigrationBackups(of: opened.store.path)
    var progress = Progress(console: context.console)
    defer { progress.clear() }
    let path = try backups.make(for: statuses.newestApplied) { path in
      try opened.store.backup(to: path) { done, all in progress.show("pages", done: done, of: all) }
    }
    progress.clear()
    try context.console.say("backup: \(path)")
    for old in backups.removeOld() { try context.console.say("removed the old backup \(old)") }
  }

  // After it

  private func finish() throws {
    // What an application adopts is in its declarations.
    if !source.isOfApplication {
      let drift = try opened.store.adoptedDrift()
      context.notices.replace(
        .outdatedModel, with: drift.isEmpty ? nil : StoreError(outdated: drift))
    }
    try updateSchemaFile()
  }

  /// Writes `schema.sql` again, if the project has one.
  private func updateSchemaFile() throws {
    let path = source.directory.schemaPath
    guard FileIdentity.isRegularFile(at: path) else { return }
    // Stores of one process on one file have equal settings.
    opened.store.close()
    let reader = try context.openForReading().store
    defer { reader.close() }
    let text = try reader.schemaSnapshot().script
    guard try MigrationDirectory.text(at: path) != text else { return }
    try MigrationDirectory.write(text, to: path)
    try context.console.say("wrote \(path)")
  }
}

extension CommandError {
  /// Runs migrations. An error about one of their statements is a mistake in the migration, and not
  /// in the file's catalog.
  static func ofMigration<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as StoreError where error.code == .invalidQuery {
      throw CommandError(ofMigration: error)
    }
  }
}

extension MigrationSteps.Action {
  /// The SQL that runs.
  var statements: [String] {
    switch self {
    case .run(let statements), .revert(let statements): statements
    case .runCode, .skip, .squash, .revertByCode: []
    }
  }
}

extension Duration {
  /// Rounded up.
  fileprivate var milliseconds: Int64 {
    let parts = components
    return parts.seconds * 1000 + (parts.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
  }
}
