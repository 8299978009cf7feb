import ModelStore
import RecordFormats

/// What `migrate up` would do to the database, as far as running it in a transaction shows.
struct PlannedMigrations {
  private let source: MigrationSource
  private let database: String
  private let statuses: [MigrationStatus]
  private let steps: MigrationSteps
  /// What the models need after the migrations.
  private let plan: MigrationPlan
  /// A sentence for each loss.
  private let losses: [String]
  /// Why the migrations fail with the records of the database; nil if they succeed.
  private let obstacle: String?
  /// Whether the obstacle is that the database already has what a migration creates.
  private let isInPlace: Bool

  /// - Throws: ``CommandError`` if the database and the migrations contradict each other.
  init(_ source: MigrationSource, _ context: CommandContext) throws {
    self.source = source
    let opened = try Self.open(source.migrations, context)
    defer { opened.store.close() }
    database = opened.location.path
    let file = FileMigrations(of: opened.store, declared: source.migrations, models: source.models)
    statuses = try file.status()
    try statuses.check(against: source, context)
    steps = try file.steps()
    let lost = try MigrationRehearsal.losses(
      of: steps.created + steps.steps.flatMap(\.action.statements),
      in: opened.store.schemaSnapshot(), functions: context.application.configuration.functions)
    losses = lost.map { $0.map(\.sentence) } ?? [MigrationRehearsal.unknownLoss]
    do {
      plan = try file.plan()
      (obstacle, isInPlace) = (nil, false)
    } catch let error as StoreError where Self.obstacles.contains(error.code) && !steps.isEmpty {
      plan = MigrationPlan()
      (obstacle, isInPlace) = (error.message, error.isAboutExistingObject)
    }
  }

  /// What a migration meets in the records; other errors are those of the file.
  private static let obstacles: Set<StoreError.Code> = [
    .rejected, .invalidQuery, .invalidValue, .migrationConflict, .schemaMismatch, .database,
    .unknownFunction,
  ]

  /// Opens the database only for reading if no migration is pending.
  static func open(
    _ migrations: [Migration], _ context: CommandContext
  ) throws -> OpenedStore {
    let reading = try context.openForReading()
    let statuses = try FileMigrations(of: reading.store, declared: migrations).status()
    guard statuses.contains(where: { $0.state == .pending }) else { return reading }
    reading.store.close()
    return try context.openToMigrate(existing: .required)
  }

  var isEmpty: Bool { steps.isEmpty && plan.isEmpty && obstacle == nil }

  private var isReversible: Bool {
    steps.steps.allSatisfy { step in
      statuses.first { $0.version == step.version }?.isReversible ?? false
    }
  }

  // For people

  func write(to console: Console, withSQL: Bool) throws {
    if !steps.steps.isEmpty {
      try console.writeLine("\(Grouped.text(steps.steps.count)) pending")
    }
    if withSQL { try console.writeStatements(steps.created) }
    for step in steps.steps {
      let title = source.shortTitle(step.version, step.name)
      try console.writeLine("\(step.action.word)\(title)\(withSQL ? "" : step.action.remark)")
      if withSQL { try console.writeStatements(step.action.statements) }
    }
    for step in plan.steps { try write(step, to: console, withSQL: withSQL) }
    for gap in plan.journalGaps {
      try console.writeLine("gap        \(gap): the change journal begins again")
    }
    if let obstacle { try console.writeLine("blocked    \(CellText.visible(obstacle))") }
    for loss in losses { try console.writeLine("loses      \(CellText.visible(loss))") }
    try console.say(isEmpty ? "nothing to do" : footer)
    if isInPlace {
      try console.say(
        "if the database already has it: \(Program.name) migrate baseline VERSION")
    }
  }

  private func write(
    _ step: MigrationPlan.Step, to console: Console, withSQL: Bool
  ) throws {
    var single = MigrationPlan(steps: [step])
    single.journalGaps = []
    for line in "\(single)".split(separator: "\n") {
      try console.writeLine(CellText.visible(String(line)))
    }
    switch step.action {
    case .inPlace(let sql):
      if withSQL { try console.writeStatements(sql) }
    case .rebuild(let rebuild): if withSQL { try console.writeStatements([rebuild.sql]) }
    case .blocked(let obstacle):
      if let query = Self.query(of: step, obstacle) {
        try console.writeLine("           -> \(CellText.visible(query))")
      }
    }
  }

  /// A command that shows the records in the way.
  private static func query(
    of step: MigrationPlan.Step, _ obstacle: MigrationPlan.Obstacle
  ) -> String? {
    guard obstacle.count > 0 else { return nil }
    let model = Shell.quoted(step.model)
    let ending = " NOT NULL"
    if let change = step.changes.first, step.changes.count == 1, change.hasSuffix(ending),
      let dot = change.firstIndex(of: ".")
    {
      let field = change[change.index(after: dot)...].dropLast(ending.count)
      return "\(Program.name) query \(model) \(Shell.quoted("\(field) is null"))"
    }
    guard !obstacle.keys.isEmpty else { return nil }
    let keys = obstacle.keys.map { Shell.quoted(KeyText.text($0)) }
    return "\(Program.name) get \(model) \(keys.joined(separator: " "))"
  }

  private var footer: String {
    var parts: [String] = []
    if !steps.steps.isEmpty { parts.append("reversible: \(isReversible ? "yes" : "no")") }
    if !losses.isEmpty {
      parts.append("backup: \(database).bak-\(statuses.newestApplied)")
    }
    let isBlocked = obstacle != nil || plan.isBlocked
    parts.append(isBlocked ? "blocked" : "to do it: \(Program.name) migrate up")
    return parts.joined(separator: "   ")
  }

  // For programs

  var json: JSONValue {
    .object([
      .init("pending", .array(steps.steps.map(json))),
      .init("created", .array(steps.created.map { .string($0) })),
      .init("changes", .array(plan.steps.map(json))),
      .init("gaps", .array(plan.journalGaps.map { .string($0) })),
      .init("losses", .array(losses.map { .string($0) })),
      .init("obstacle", obstacle.map { .string($0) } ?? .null),
      .init("blocked", .boolean(obstacle != nil || plan.isBlocked)),
      .init("reversible", .boolean(isReversible)),
    ])
  }

  private func json(_ step: MigrationSteps.Step) -> JSONValue {
    .object([
      .init("version", .integer(step.version)), .init("name", .string(step.name)),
      .init("file", source.path(of: step.version).map { .string($0) } ?? .null),
      .init("action", .string(step.action.name)),
      .init("sql", .array(step.action.statements.map { .string($0) })),
    ])
  }

  private func json(_ step: MigrationPlan.Step) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init("model", .string(step.model)), .init("table", .string(step.table)),
      .init("changes", .array(step.changes.map { .string($0) })),
    ]
    switch step.action {
    case .inPlace(let sql):
      members.append(.init("action", .string("inPlace")))
      members.append(.init("sql", .array(sql.map { .string($0) })))
    case .rebuild(let rebuild):
      members.append(.init("action", .string("rebuild")))
      members.append(.init("sql", .array([.string(rebuild.sql)])))
      members.append(.init("rows", .integer(Int64(rebuild.rowCount))))
      members.append(.init("indexes", .array(rebuild.indexes.map { .string($0) })))
      members.append(.init("triggers", .array(rebuild.triggers.map { .string($0) })))
    case .blocked(let obstacle):
      members.append(.init("action", .string("blocked")))
      members.append(.init("reason", .string(obstacle.reason)))
      members.append(.init("count", .integer(Int64(obstacle.count))))
      members.append(.init("keys", .array(obstacle.keys.map(KeyText.json))))
    }
    members.append(.init("losses", .array(step.losses.map { .string($0) })))
    return .object(members)
  }
}

extension MigrationSteps.Action {
  /// In JSON.
  fileprivate var name: String {
    switch self {
    case .run: "run"
    case .runCode: "code"
    case .skip: "skip"
    case .squash: "squash"
    case .revert: "revert"
    case .revertByCode: "revertByCode"
    }
  }

  /// Before the name of a file, padded to the width of a plan's words.
  fileprivate var word: String {
    switch self {
    case .run, .runCode: "run        "
    case .skip, .squash: "record     "
    case .revert, .revertByCode: "take back  "
    }
  }

  /// After the name of a file.
  fileprivate var remark: String {
    switch self {
    case .run(let statements): "   \(Grouped.text(statements.count, "statement"))"
    case .runCode: "   in Swift"
    case .skip: "   not run: the tables are created in their present form"
    case .squash: "   not run: it stands for migrations that the database has had"
    case .revert, .revertByCode: ""
    }
  }
}
