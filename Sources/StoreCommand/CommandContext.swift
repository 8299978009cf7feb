import ModelStore
import RecordFormats

/// What a command runs with: its options, its output and messages, and how to open the store.
struct CommandContext {
  let options: GlobalOptions
  let console: Console
  /// How long every opening of the file waits for another program.
  let busyTimeout: Duration
  /// Whether what the command changes is to be rolled back.
  let isDryRun: Bool
  /// An import that leaves records out needs all records with broken references, not the first
  /// ones.
  private let listsManyViolations: Bool
  /// A watch still acknowledges the changes that it printed; other commands stop where they are.
  private let stopsStatements: Bool
  /// Whether the store has one connection. A watch and a session read while others write.
  private let readsOnWriter: Bool
  /// Failures that stores opened for writing report in addition to the command's own outcome.
  let notices = Notices()
  /// What the command has seen of the schema of a shared store.
  let sharedSchema = SharedSchemaSeen()
  /// Whether to warn of adopted models whose tables have changed. Some commands are about these.
  private let reportsDrift: Bool
  let application: Application
  let surroundings: Surroundings
  /// The session that runs the command; nil for a command line of its own.
  private(set) var session: Session?
  /// Whether the command uses the store that the session keeps open.
  private var usesKeptStore: Bool

  init(
    _ command: any LeafCommand, console: Console, application: Application = Application(),
    surroundings: Surroundings = .process, in session: Session? = nil
  ) {
    options = session?.options.given(to: command) ?? command.options
    self.session = session
    usesKeptStore = StoreUse(of: command) != .own
    self.application = application
    self.surroundings = surroundings
    self.console = console
    let change = (command as? any ChangingCommand)?.change
    busyTimeout = .seconds(
      change?.busyTimeout ?? (command as? ShellCommand)?.busyTimeout ?? 5)
    isDryRun = change?.dryRun ?? false
    listsManyViolations = command is ImportCommand
    stopsStatements = !(command is WatchCommand)
    readsOnWriter = !(command is WatchCommand || command is ShellCommand)
    reportsDrift =
      !(command is AdoptCommand || command is LeaveCommand || command is DoctorCommand
      || command is BindingsCheckCommand)
  }

  /// Creates the context of a read that no command asked for. It waits for no other program.
  init(
    quietlyReading database: String?, application: Application, surroundings: Surroundings
  ) {
    options = .reading(database)
    console = surroundings.console(loudness: .quiet)
    busyTimeout = .zero
    isDryRun = false
    listsManyViolations = false
    stopsStatements = true
    readsOnWriter = true
    reportsDrift = false
    usesKeptStore = false
    self.application = application
    self.surroundings = surroundings
  }

  /// Opens the store for reading; never creates a file.
  ///
  /// - Parameter onReplacement: Receives the error of a store whose file was replaced while it was
  ///   observed, on any thread; nil to print it as a warning.
  /// - Throws: ``CommandError`` when no database is named or nothing is there; ``StoreError``.
  func openForReading(
    onReplacement: (@Sendable (StoreError) -> Void)? = nil
  ) throws -> OpenedStore {
    try open(for: .reading, onReplacement: onReplacement)
  }

  /// Opens the store at `path`, which an argument names, for reading.
  func openForReading(at path: String) throws -> OpenedStore {
    try open(for: .reading, at: path)
  }

  /// Opens the store at `path`, which an argument names, for writing.
  func openForWriting(at path: String) throws -> OpenedStore {
    try open(for: .writing, at: path)
  }

  /// Where the database is, whether it exists or not.
  func location(at path: String? = nil) throws -> DatabaseLocation {
    if let path { return DatabaseLocation(path: path, source: .argument) }
    return try DatabaseLocation(
      option: options.database, application: application.database, in: surroundings)
  }

  /// The configuration for replacing the content of a database.
  func copyConfiguration(of location: DatabaseLocation) throws -> StoreConfiguration {
    var configuration = application.configuration
    configuration.access = .readWrite
    configuration.busyTimeout = busyTimeout
    configuration.journalMode = .asFound
    configuration.maxValueSize = try ValueLimit.bytes(in: surroundings)
    configuration.stopRequest = Interruption.storeRequest
    configuration.sharing =
      options.sharedWithGroup ? .group : location.sharing ?? application.configuration.sharing
    return configuration
  }

  /// What a store is opened for.
  private enum Purpose {
    case reading
    /// To see what is to be changed, before it is opened for writing.
    case looking
    case writing
    /// To write for as long as the command runs, so that reports cannot wait for its end.
    case following
    /// To run migrations, without those that opening would run.
    case migrating
    /// To give a member the schema of its shared store.
    case updating

    var access: StoreConfiguration.Access {
      self == .reading || self == .looking ? .readOnly : .readWrite
    }
  }

  /// Opens an existing store to see what is to be changed in it, before it is opened for writing.
  ///
  /// Opening for writing may change the file, so whatever may refuse the command comes first. The
  /// file is opened for writing now only where reading takes a writer. For example, a program ended
  /// in the middle of a transaction, which must be rolled back first, or a file that readers need
  /// is missing beside the database. A dry run writes nothing then either.
  ///
  /// - Parameter names: The models that the command names.
  /// - Throws: As ``openForReading(onReplacement:)``; and for a model that neither the application
  ///   declares nor the file has, before the application's declarations are added to the file.
  func openToLook(at names: [String] = []) throws -> OpenedStore {
    do {
      try takeSharedSchema()
      let opened = try open(for: .looking)
      sharedSchema.number = try opened.store.sharedSchemaNumber()
      return opened
    } catch let error as StoreError
      where !isDryRun && takesWriter(error)
    {
      // An error of SQLite comes from the file, the others from what the application declares.
      if error.sqliteCode == nil, error.code != .permissionDenied { try requireModels(names) }
      return try openForWriting()
    }
  }

  /// Gives a member's file the schema that its shared store has now, so that the command sees what
  /// it will change. A dry run leaves the file as it is.
  private func takeSharedSchema() throws {
    guard !isDryRun, !(usesKeptStore && session?.kept != nil) else { return }
    let location = try location()
    let hasLedger = application.configuration.ledger != nil || ledgerConnection(of: location) != nil
    guard hasLedger, location.exists else { return }
    let found = try open(for: .reading, at: location.path)
    let isMember = try found.isMember
    found.store.close()
    if isMember { try open(for: .updating).store.close() }
  }

  /// Refuses names of models that neither the application declares nor the file has.
  private func requireModels(_ names: [String]) throws {
    let declared = application.declarations.models.map(\.name)
    let others = names.filter { !declared.contains($0) }
    guard !others.isEmpty else { return }
    let found = try openForReading()
    defer { found.store.close() }
    for name in others { _ = try found.model(named: name, orAmong: declared) }
  }

  /// Whether opening for writing can do what opening for reading could not, such as adding to the
  /// file what the application declares.
  private func takesWriter(_ error: StoreError) -> Bool {
    switch error.code {
    case .readOnly, .permissionDenied: true
    case .schemaMismatch: !application.declarations.isEmpty
    default: false
    }
  }

  /// Opens a store to run migrations. What the application declares stays out of it.
  ///
  /// - Parameter existing: Whether there must be a file.
  /// - Throws: As ``openForReading(onReplacement:)``.
  func openToMigrate(existing: ExistingDatabase) throws -> OpenedStore {
    try open(for: .migrating, existing: existing)
  }

  /// Whether a command needs a database that exists.
  enum ExistingDatabase {
    case required
    case created
  }

  /// Opens an existing store for writing; ``openToLook(at:)`` comes first.
  ///
  /// - Parameter journalMode: Only a command that was asked to changes how the file keeps its
  ///   journal.
  /// - Throws: As ``openForReading(onReplacement:)``.
  func openForWriting(
    journalMode: StoreConfiguration.JournalMode = .asFound
  ) throws -> OpenedStore {
    try open(for: .writing, journalMode: journalMode)
  }

  /// Opens an existing store to write to it until the command is stopped.
  ///
  /// - Parameter onReplacement: As for ``openForReading(onReplacement:)``.
  /// - Throws: As ``openForReading(onReplacement:)``.
  func openToFollow(
    onReplacement: @escaping @Sendable (StoreError) -> Void
  ) throws -> OpenedStore {
    try open(for: .following, onReplacement: onReplacement)
  }

  /// Opens an existing store to write records of the model called `name`.
  ///
  /// - Parameters:
  ///   - others: More models that the command names.
  ///   - plan: Makes of the store, opened to look, and the model what is to be written.
  /// - Throws: As ``openForReading(onReplacement:)`` and ``OpenedStore/writableModel(named:_:)``,
  ///   and what `plan` throws; then the file is as it was.
  func openForWriting<Plan>(
    _ options: WriteOptions, model name: String, and others: [String] = [],
    _ plan: (OpenedStore, ModelSchema) throws -> Plan = { _, _ in }
  ) throws -> (opened: OpenedStore, schema: ModelSchema, plan: Plan) {
    let looked = try openToLook(at: [name] + others)
    let plan = try plan(looked, try looked.writableModel(named: name, options))
    looked.close()
    let opened = try openForWriting()
    return (opened, try opened.writableModel(named: name, options), plan)
  }

  /// Opens a database as a member of a shared store, or to make it one.
  ///
  /// - Parameter ledger: nil to open a member without its ledger.
  func openMember(
    of ledger: SharedLedger?, existing: ExistingDatabase
  ) throws -> OpenedStore {
    try open(
      for: .writing, existing: existing, ledger: .chosen(ledger), journalMode: .writeAheadLog)
  }

  /// Opens a store for reading, with its ledger, which can then be asked.
  func openToAskLedger() throws -> OpenedStore {
    try open(for: .reading, ledger: .ofFile)
  }

  /// Which ledger a store is opened with.
  private enum LedgerChoice {
    /// As ``ofFile`` to write; none to read.
    case asNeeded
    /// That of the file, if it is a member and something says where its ledger is.
    case ofFile
    case chosen(SharedLedger?)
  }

  private func ledger(
    _ choice: LedgerChoice, of location: DatabaseLocation, for purpose: Purpose
  ) throws -> SharedLedger? {
    let isNeeded: Bool
    switch choice {
    case .chosen(let ledger): return ledger
    case .ofFile: isNeeded = true
    case .asNeeded: isNeeded = purpose.access == .readWrite
    }
    if let ledger = application.configuration.ledger { return ledger }
    guard isNeeded, location.exists, ledgerConnection(of: location) != nil else { return nil }
    let looked = try open(for: .reading, at: location.path)
    defer { looked.store.close() }
    return try looked.store.sharedStoreName().map { try ledger(of: location, store: $0) }
  }

  private func open(
    for purpose: Purpose, at path: String? = nil, existing: ExistingDatabase = .required,
    ledger: LedgerChoice = .asNeeded, journalMode: StoreConfiguration.JournalMode = .asFound,
    onReplacement: (@Sendable (StoreError) -> Void)? = nil
  ) throws -> OpenedStore {
    if path == nil, var kept = try keptStore(for: purpose) {
      kept.inputs = InputFiles(
        surroundings: surroundings, refusedPaths: kept.location.storePaths)
      return kept
    }
    let location = try location(at: path)
    if purpose == .reading || purpose == .looking || purpose == .migrating {
      try console.say("database: \(location.path) via \(location.sourceText)", at: .verbose)
    }
    guard existing == .created || location.exists else { throw location.missing }
    var configuration = application.configuration
    configuration.access =
      existing == .created && !location.exists ? .readWriteCreate : purpose.access
    configuration.ledger = try self.ledger(ledger, of: location, for: purpose)
    configuration.busyTimeout = busyTimeout
    configuration.journalMode = journalMode
    if listsManyViolations { configuration.refusals.maxViolationCount = 100_000 }
    configuration.maxValueSize = try ValueLimit.bytes(in: surroundings)
    if isDryRun { configuration.schemaChanges = .none }
    configuration.readsOnWriter = readsOnWriter
    configuration.stopRequest = stopsStatements ? Interruption.storeRequest : nil
    configuration.sharing =
      options.sharedWithGroup ? .group : location.sharing ?? application.configuration.sharing
    // A reading command may run for long, so its later reports are printed at once.
    let warnings = OpeningWarnings { [notices, surroundings] error in
      if error.code == .fileReplaced, let onReplacement { return onReplacement(error) }
      if [.writing, .migrating, .updating].contains(purpose) {
        notices.add(error)
      } else {
        surroundings.warn(error)
      }
    }
    let declarations = declarations(for: purpose)
    let store = try Store(
      at: location.path, declaring: declarations, configuration: configuration,
      onError: warnings.receive)
    try report(warnings.endOpening(), of: purpose)
    if purpose == .writing, path == nil { try sharedSchema.checkIsSame(in: store) }
    let inputs = InputFiles(surroundings: surroundings, refusedPaths: location.storePaths)
    return OpenedStore(
      store: store, location: location, inputs: inputs,
      opening: OpenedStore.Opening(
        declarations: declarations, configuration: configuration, report: warnings.receive))
  }

  private func report(_ warnings: [StoreError], of purpose: Purpose) throws {
    // The opening that follows a look repeats its warnings. The command that changes the journal
    // mode reports that itself.
    for warning in warnings where warning.code != .configurationConflict {
      // The command may fail because of it, too.
      if warning.code == .ledgerUnavailable {
        notices.add(warning)
        continue
      }
      guard warning.code == .outdatedModel else {
        if purpose == .looking, !isDryRun { continue }
        try console.say("warning: \(warning.message)")
        continue
      }
      // The command may fail because of it, and then says so itself. It is printed once, also if
      // the look already refuses the command.
      if reportsDrift { notices.add(warning) }
    }
  }

  /// The store of the session, if the command uses it for this purpose. Otherwise the session
  /// closes it: two stores on one file cannot differ in how they access it.
  private func keptStore(for purpose: Purpose) throws -> OpenedStore? {
    guard usesKeptStore, let kept = session?.kept else { return nil }
    if kept.isOpenForWriting { return try kept.store(writing: true) }
    switch purpose {
    case .reading: return try kept.store(writing: false)
    case .looking where application.declarations.isEmpty: return try kept.store(writing: false)
    // A dry run changes nothing, also not by opening.
    case .writing where !isDryRun: return try kept.store(writing: true)
    default:
      kept.close()
      return nil
    }
  }

  /// What the application declares, as far as a command takes it along. A command that reads takes
  /// the file as it is, so that it can say what is wrong with it.
  private func declarations(for purpose: Purpose) -> Declarations {
    switch purpose {
    case .reading, .updating: Declarations()
    case .migrating: isDryRun ? Declarations().forDryRun : Declarations()
    case .looking: application.declarations
    case .writing, .following:
      isDryRun ? application.declarations.forDryRun : application.declarations
    }
  }

  /// The format of a result.
  var format: OutputFormat { options.format ?? .preferred(on: console.dataTerminal) }

  /// Whether a person sees the result as a table as wide as the terminal. It then has only the
  /// columns that say something; elsewhere all of them.
  var isForScreen: Bool {
    format == .table && console.dataTerminal.isInteractive && options.fieldNames == nil
  }

  /// A writer of rows in the chosen format.
  ///
  /// - Parameter table: The table whose records the rows are, which SQL needs.
  /// - Throws: ``CommandError`` for SQL without a table.
  func rowWriter(
    columns: [OutputColumn], recordName: String? = nil, table: String? = nil
  ) throws -> any RowWriter {
    var choices = OutputFormat.Options()
    if format == .sql {
      guard let table else { throw CommandError.noTableForSQL }
      choices.tableName = table
    }
    choices.plainEnd = options.nul ? .nul : .line
    choices.header = options.header ? .present : nil
    choices.recordName = recordName
    choices.controls = console.dataTerminal.isInteractive ? .shown : .asStored
    choices.formulas = options.escapeFormulas ? .escaped : .asStored
    return try format.writer(
      columns: columns, to: console.data, terminal: console.dataTerminal, options: choices)
  }

  /// A writer of a report's rows: a choice of its columns, where `--fields` makes one.
  ///
  /// - Throws: ``CommandError`` for an unknown column, with near misses.
  func reportWriter(columns: [OutputColumn]) throws -> any RowWriter {
    guard let names = options.fieldNames else { return try rowWriter(columns: columns) }
    let indices = try names.map { name in
      guard let index = columns.firstIndex(where: { $0.name == name }) else {
        throw CommandError.usage(
          "The result has no column \(name)"
            + CommandError.meant(NearMiss.suggestions(for: name, among: columns.map(\.name))),
          field: name)
      }
      return index
    }
    return ChosenColumns(
      indices: indices, writer: try rowWriter(columns: indices.map { columns[$0] }))
  }

  /// Writes a report as rows, and prints how many there are.
  func writeReport(of noun: String? = nil, columns: [OutputColumn], rows: [[CellValue]]) throws {
    var writer = try reportWriter(columns: columns)
    for row in rows { try writer.write(row) }
    try finish(writer)
    if let noun { try console.say(Grouped.text(rows.count, noun)) }
  }

  /// Whether values are written as JSON, which is also valid YAML.
  private var writesJSON: Bool { [.json, .ndjson, .yaml].contains(format) }

  /// A cell whose value is not known: null for programs, a question mark for people.
  var unknownValue: CellValue { writesJSON ? .null : .text("?") }

  /// A cell of several values, for a column that means ``OutputColumn/Meaning/json``: an array for
  /// programs that read JSON, `text` otherwise.
  func list(_ values: [JSONValue], as text: String) throws -> CellValue {
    writesJSON ? .text(try JSONText.text(.array(values))) : .text(text)
  }

  /// Names as one cell, joined by commas.
  func list(names: [String]) throws -> CellValue {
    try list(names.map { .string($0) }, as: names.joined(separator: ","))
  }

  /// One key as one cell.
  func list(key: [SQLValue]) throws -> CellValue {
    writesJSON ? .text(try JSONText.text(KeyText.json(key))) : .text(KeyText.text(key))
  }

  /// Keys as one cell, with a blank between two.
  func list(keys: [[SQLValue]]) throws -> CellValue {
    try list(keys.map(KeyText.json), as: keys.map(KeyText.text).joined(separator: " "))
  }

  /// Ends a result, and prints how many cells were cut in it.
  func finish(_ writer: any RowWriter) throws {
    var writer = writer
    try writer.finish()
    if writer.cutCellCount > 0 {
      try console.say(
        "\(Grouped.text(writer.cutCellCount, "cell")) cut to fit the screen (-o json shows all)"
      )
    }
  }
}

extension CommandContext {
  /// Runs one transaction and reports what it changed; a dry run rolls it back.
  ///
  /// - Parameters:
  ///   - repair: What `body` writes, if that does not depend on the stored values. If these cannot
  ///     be read, the write succeeds, and the report shows only this.
  ///   - unit: What `body` counts.
  ///   - body: Returns how many records or rows it was about.
  /// - Throws: What `body` throws; a stored value that cannot be read is a failure of the file.
  func writing(
    _ opened: OpenedStore, repair: ChangeLine? = nil, counting unit: ChangeReport.Unit = .records,
    _ body: (borrowing WriteTransaction) throws -> Int
  ) throws {
    let store = opened.store
    var recordCount = 0
    func counting(_ transaction: borrowing WriteTransaction) throws {
      recordCount = try body(transaction)
    }
    var report: ChangeReport
    var warned = WarnedRecords()
    do {
      let changes = try opened.changes(
        mode: isDryRun ? .preview : .commit, onWarnings: { warned = $0 }, counting)
      report = ChangeReport(changes, in: store.schema)
    } catch let error as CommandError where error.isUnreadable {
      guard let repair else { throw error }
      try opened.write(mode: isDryRun ? .preview : .commit, counting)
      report = ChangeReport(repair: repair)
    }
    (report.count, report.unit) = (recordCount, unit)
    defer { warn(of: warned) }
    guard !isDryRun else { return try report.write(to: self) }
    for line in report.lines where line.origin == .user { note(line.key) }
    // A transaction of a session is taken back by rollback, and is in the journal once committed.
    guard opened.transaction == nil else { return try report.write(to: self) }
    try reporting {
      try report.write(to: self)
      let entered = try store.changeJournal.details()
      // Undo cannot restore what the journal does not record.
      guard !report.lines.isEmpty, report.lines.allSatisfy({ entered[$0.model] == .full }),
        try UnloggedReach(store: store).tables(behind: report.lines, removal: .delete).isEmpty
      else { return }
      // An undo also writes the records of cascades, which a direct write does not ask about.
      let needsSkip = try Set(report.lines.filter { !$0.isBound }.map(\.model))
        .contains { try !opened.missingValidators(of: $0).isEmpty }
      try console.say(
        "undo with \(Program.name) undo" + (needsSkip ? " --skip-code-validators" : ""))
    }
  }

  /// Prints which of the models called `names`, which were just added, a journal that is on does
  /// not record.
  func sayUnrecorded(among names: [String], _ store: Store) throws {
    let recorded = try store.changeJournal.details()
    guard !recorded.isEmpty else { return }
    let refusals = try store.changeJournal.refusals()
    let missing = names.filter { recorded[$0] == nil && refusals[$0] == nil }
    guard !missing.isEmpty else { return }
    let words = missing.map(Shell.quoted).joined(separator: " ")
    try console.say(
      "the journal does not record \(missing.joined(separator: ", ")) "
        + "(\(Program.name) journal on \(words))")
  }

  /// Prints which rules that only warn a write breaks.
  func warn(of warned: WarnedRecords) {
    for gap in warned.gaps {
      console.warn("warning: \(gap) To compare all records: \(Program.name) validate")
    }
    guard warned.count > 0 else { return }
    let warning = CommandError(warned, isDryRun: isDryRun)
    console.warn(
      warning.warningText(as: options.errorFormat, palette: console.talkTerminal.palette))
  }

  /// Runs `body`, which reports a committed change. If it fails, the error says that only the
  /// report failed.
  func reporting(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch OutputError.readerClosed {
      throw OutputError.readerClosed
    } catch {
      var failure = CommandError(error)
      let reason = failure.message.last == "." ? failure.message.dropLast() : failure.message[...]
      failure.message = "The change is committed; only the report failed: \(reason)."
      throw failure
    }
  }
}

// Sessions.
extension CommandContext {
  /// Begins the result that `$_` names in a session.
  ///
  /// - Parameter model: The model of its records; nil for other results.
  func beginResult(of model: String? = nil) { session?.lastResult.beginResult(of: model) }

  /// Makes a record part of the result that `$_` names in a session.
  func note(_ key: [SQLValue]) {
    if !key.isEmpty { session?.lastResult.note(key) }
  }

  /// The context of a statement of `session`, whose own context this is.
  func command(in session: Session) -> CommandContext {
    var context = self
    context.session = session
    context.usesKeptStore = true
    return context
  }

  /// Runs the words of a command in `session`, whose own context this is.
  func run(_ words: [String], in session: Session) -> ExitCode {
    Program(
      arguments: words, application: application,
      surroundings: session.isScript ? surroundings.refusingInput() : surroundings
    ).run(in: session)
  }
}
