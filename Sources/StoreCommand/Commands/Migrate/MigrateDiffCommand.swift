import ArgumentParser
import ModelStore

/// `migrate diff`: a migration from the difference of two schemas.
struct MigrateDiffCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Write the migration that gives the database another schema.",
    discussion: """
      Examples: storecli migrate diff add_due_date --from-schema schema.sql
      storecli migrate diff --from new.db -n
      Compares the schema of the database after its pending migrations with the desired one: that \
      of a file of SQL, of another database or, in the command line of an application, of the \
      declared models. Prints the statements, which it has tried in an empty database, and writes \
      them to a file. With -n it writes nothing, and exits with 2 if the schemas differ.
      A dropped and an added column of the same form may be one with a new name. It asks on a \
      terminal; elsewhere say --rename or --drop.
      """)

  @Argument(help: "What the migration does, in a few words.")
  var name: String?

  @Option(
    help: ArgumentHelp("A file of SQL with the desired schema.", valueName: "file"),
    completion: .file(extensions: ["sql"]))
  var fromSchema: String?

  @Option(
    help: ArgumentHelp("A database with the desired schema.", valueName: "database"),
    completion: .file())
  var from: String?

  @OptionGroup var renaming: RenamingOptions
  @OptionGroup var source: MigrationOptions
  @OptionGroup var change: ChangeOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func validate() throws {
    guard fromSchema == nil || from == nil else {
      throw ValidationError("Choose one of --from-schema and --from.")
    }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let schemas = try schemas(context)
    var answers = renaming.answers
    guard var evolution = try answers.evolution(schemas, context) else {
      try context.console.say("nothing was written")
      return .failed
    }
    if evolution.steps.isEmpty {
      try context.console.say("no difference: the schemas are the same")
      return .ok
    }
    evolution.notes += schemas.notes
    let text = evolution.text
    let directory = try MigrationDirectory(option: source.migrations)
    let writer = NewMigration(directory: directory, context: context)
    if !context.isDryRun { try writer.check(named: name ?? evolution.name) }
    try context.console.writeSQL(String(text.dropLast()))
    guard !context.isDryRun else {
      try context.console.say("dry run: nothing was written")
      return .found
    }
    let path = try writer.write(named: name ?? evolution.name, text)
    try context.console.say("wrote \(path)")
    if !schemas.hasBase { try adviseBase(directory, context) }
    return .ok
  }

  /// Says how a new database gets the tables that this one had before its first migration.
  private func adviseBase(_ directory: MigrationDirectory, _ context: CommandContext) throws {
    let path = Shell.quoted(directory.file(named: "1_base.sql"))
    let name = Program.name
    let sections = ["echo -- up", "\(name) migrate schema", "echo -- down: irreversible"]
    for line in [
      "no migration creates the other tables, so a new database lacks them.",
      "write them as the first one: (\(sections.joined(separator: "; "))) > \(path)",
      "then record it before you apply the new one: \(name) migrate baseline 1",
    ] { try context.console.say(line) }
  }

  /// The schema of the database, and the desired one.
  private func schemas(_ context: CommandContext) throws -> ComparedSchemas {
    let isOfApplication = !context.application.declarations.isEmpty
    guard fromSchema != nil || from != nil || isOfApplication else {
      throw CommandError.usage(
        "Say which schema the database should get: --from-schema FILE or --from DATABASE.",
        hint: "storecli migrate diff --help")
    }
    let functions = context.application.configuration.functions
    let desired: SchemaSnapshot? =
      if let fromSchema {
        try Self.schema(at: fromSchema, functions, context)
      } else if let from {
        try context.openForReading(at: from).store.schemaSnapshot()
      } else {
        nil
      }
    let declared = try MigrationSource(source, context, missingDirectory: .isEmpty)
    let opened = try PlannedMigrations.open(declared.migrations, context)
    defer { opened.store.close() }
    let file = FileMigrations(
      of: opened.store, declared: declared.migrations, models: declared.models)
    try file.status().check(against: declared, context)
    guard let desired else {
      let schemas = try CommandError.ofMigration { try file.schemaInLineWithModels() }
      return ComparedSchemas(
        current: schemas.current, desired: schemas.desired, notes: Self.notes(on: schemas.plan),
        functions: functions)
    }
    var schemas = ComparedSchemas(
      current: try CommandError.ofMigration { try file.schema() }, desired: desired, notes: [],
      functions: functions)
    schemas.hasBase =
      schemas.current.tables.isEmpty || isOfApplication || !declared.migrations.isEmpty
    return schemas
  }

  private static func schema(
    at path: String, _ functions: Set<SQLFunction>, _ context: CommandContext
  ) throws -> SchemaSnapshot {
    let text = try MigrationDirectory.text(at: path, in: context.surroundings)
    do {
      return try SchemaSnapshot(script: text, functions: functions)
    } catch let error as StoreError {
      throw CommandError(.failed, code: "schema", error.message).naming(path)
    }
  }

  /// What the records of the database have against the desired schema.
  private static func notes(on plan: MigrationPlan) -> [String] {
    plan.steps.compactMap { step in
      guard case .blocked(let obstacle) = step.action, obstacle.count > 0 else { return nil }
      return "\(MigrationPlan(steps: [step]))"
    }
  }
}

/// Two schemas, and what is known about the way from one to the other.
struct ComparedSchemas {
  let current: SchemaSnapshot
  let desired: SchemaSnapshot
  let notes: [String]
  let functions: Set<SQLFunction>
  /// Whether something creates the tables that the database has by now.
  var hasBase = true
}

/// What a person has decided about names.
struct Answers {
  var renames: [SchemaRename]
  var drops: Set<String>

  /// Asks until nothing is open.
  ///
  /// - Returns: Nil if the person stops.
  /// - Throws: ``CommandError`` with exit status 2 and all flags, if there is no terminal.
  mutating func evolution(
    _ schemas: ComparedSchemas, _ context: CommandContext
  ) throws -> NewSchemaText? {
    while true {
      let evolution = try SchemaEvolution(
        from: schemas.current, to: schemas.desired, renames: renames, dropping: drops,
        functions: schemas.functions)
      guard let question = evolution.questions.first else {
        let text = NewSchemaText(evolution)
        try text.check()
        return text
      }
      guard Confirmation.canAsk(context.console) else { throw Self.open(evolution.questions) }
      for rename in question.renames where drops.contains(question.dropped) == false {
        let isRenamed = try Confirmation.isGranted(
          "Is \(rename.newName) the new name of \(question.dropped)?", isGiven: false,
          flag: "--rename", console: context.console)
        guard isRenamed else { continue }
        renames.append(rename)
        break
      }
      if renames.contains(where: { $0.subject == question.dropped }) { continue }
      let isDropped = try Confirmation.isGranted(
        "Drop \(question.dropped) with its values?", isGiven: false, flag: "--drop",
        console: context.console)
      guard isDropped else { return nil }
      drops.insert(question.dropped)
    }
  }

  private static func open(_ questions: [SchemaEvolution.Question]) -> CommandError {
    let details = questions.flatMap { question in
      question.renames.map { "  --rename \(Shell.quoted($0.text))" }
        + ["  --drop \(Shell.quoted(question.dropped))"]
    }
    let names = questions.map(\.dropped).joined(separator: ", ")
    return CommandError(
      .found, code: "unclearRename",
      "\(names) may have a new name, or go. Say which, for each of them:", details: details)
  }
}

/// The text of a migration that changes the schema.
struct NewSchemaText {
  let steps: [SchemaEvolution.Step]
  private let reverse: [SchemaEvolution.Step]?
  var notes: [String]

  init(_ evolution: SchemaEvolution) {
    steps = evolution.steps
    reverse = evolution.reverse
    notes = steps.flatMap { step in
      step.changes + step.losses.map(\.sentence) + step.warnings
    }
  }

  var text: String {
    MigrationFile.text(
      notes: notes.flatMap { $0.split(separator: "\n").map(String.init) },
      up: Self.lines(of: steps), down: reverse.map(Self.lines))
  }

  /// The statements, with an empty line between those of two steps.
  private static func lines(of steps: [SchemaEvolution.Step]) -> [String] {
    let blocks = steps.map { step in
      step.statements.map(SQLTokens.terminated).joined(separator: "\n")
    }
    return [blocks.joined(separator: "\n\n")]
  }

  /// Reads the text as a file of migrations, and compares it with the statements that were tried.
  ///
  /// - Throws: ``CommandError`` if a comment in a statement reads as a line between two sections.
  func check() throws {
    func statements(of steps: [SchemaEvolution.Step]) -> [String] {
      steps.flatMap(\.statements).flatMap { SQLTokens($0).statements }
    }
    let isSame: Bool
    do throws(MigrationProblem) {
      let file = try MigrationFile(path: "1_new.sql", text: text)
      let down = if case .sql(let sql) = file.down { SQLTokens(sql).statements } else { [String]() }
      isSame =
        SQLTokens(file.up).statements == statements(of: steps)
        && down == statements(of: reverse ?? [])
    } catch {
      isSame = false
    }
    guard isSame else {
      throw CommandError(
        .failed, code: "migrationFile",
        """
        A comment in the schema reads as a line of a migration, such as -- up or -- down, so the \
        file would not have the statements that were tried; nothing was written.
        """, hint: "change that comment, or write the migration by hand")
    }
  }

  /// A name for the file: what changes first.
  var name: String {
    let subjects = steps.flatMap(\.changes).map { String($0.prefix { $0 != " " && $0 != "." }) }
    var seen: [String] = []
    for subject in subjects where !seen.contains(subject) { seen.append(subject) }
    return seen.count <= 2 ? "change " + seen.joined(separator: " ") : "change schema"
  }
}
