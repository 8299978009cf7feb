/// The only writing connection of a store in this process, with what belongs to it alone.
/// Everything here runs on its ``ConnectionQueue``.
struct Writer {
  let connection: Connection
  let file: DatabaseFile
  private let configuration: StoreConfiguration
  /// Absent where nothing may be written.
  private let checkpointer: Checkpointer?
  private(set) var models: ModelRegistry
  let lists = ListOrders()
  /// Where this store stands in the file's change journal; nil when the file has none.
  private(set) var journal: JournalHead?
  /// Whether another connection gave the file its journal since this one last looked: what was done
  /// before is not in it.
  private var isNewToJournal = false
  /// Whether the journal's triggers were made anew after another program changed them or their
  /// table. Once is enough: two programs of different versions would do it in turn for ever.
  var hasMendedJournal = false
  /// The schema in which triggers of the journal do not fit their tables and cannot be made anew.
  private var unfitSchemaVersion: Int64?

  /// That the journal's triggers are to be made anew before a transaction, which has not begun.
  struct UnfitJournal: Error {}

  private let program = WritingProgram()
  private var plan: (generation: UInt64, plan: CapturePlan?)?
  private var reportingPlan: CapturePlan?
  /// Where the change journal must have come for the next step of trimming it.
  private var nextTrimming: Int64 = 0
  private var dataVersion: Int64
  /// The file's schema version that everything above was made from.
  private var schemaVersion: Int64
  /// Why nothing more may run: a COMMIT whose outcome is not known, a failed ROLLBACK or
  /// checkpoint.
  private var poison: StoreError?

  init(
    connection: Connection, file: DatabaseFile, configuration: StoreConfiguration
  ) throws {
    self.connection = connection
    self.file = file
    self.configuration = configuration
    checkpointer =
      configuration.access == .readOnly
      ? nil : try Checkpointer(path: file.path, policy: configuration.connectionPolicy)
    models = ModelRegistry(schema: StoreSchema(models: []))
    dataVersion = try connection.dataVersion()
    schemaVersion = try connection.schemaVersion()
  }

  /// Takes over another set of models, or the same after the file's schema changed.
  mutating func adopt(_ schema: StoreSchema, catalog: Catalog) throws {
    schemaVersion = try connection.schemaVersion()
    // The triggers of rules write nothing, those of the journal nothing of a model.
    let writing = catalog.tables.map { table in
      (
        table,
        table.triggers.filter {
          !$0.name.hasPrefix(RuleObjects.namePrefix)
            && !$0.name.hasPrefix(JournalTriggers.namePrefix)
        }
      )
    }
    let captured = CaptureFacts(writing)
    let rules = try CatalogEntries.rules.read(on: connection)
    let journal = try readJournal(of: schema, catalog)
    models = ModelRegistry(
      schema: schema, rules: rules,
      judgedRules: try FiledRules(rules, in: schema.models, on: connection).kept,
      tablesWithTriggers: Set(
        writing.filter { !$0.1.isEmpty }.map(\.0.name.asciiFolded)),
      raisers: writing.flatMap { table, triggers in
        triggers.filter { SQLTokens($0.sql).raises || SQLTokens($0.sql).rollsBack }.map {
          RaisingTrigger(name: $0.name, table: table.name, sql: $0.sql)
        }
      },
      bindings: try CatalogEntries.bindings.read(on: connection),
      tables: catalog.tables.map(\.sql), captured: captured,
      damagedJournals: journal?.damaged ?? [])
    self.journal = journal
    plan = nil
    reportingPlan = nil
    lists.adopt(
      schema.slotModels.compactMap { slots in
        captured.table(of: slots.schema, wanting: nil).map { (slots, $0) }
      })
  }

  private func readJournal(of schema: StoreSchema, _ catalog: Catalog) throws -> JournalHead? {
    do {
      return try JournalHead(
        reading: connection, models: schema.models, catalog: catalog, from: journal?.position)
    } catch let error as StoreError
      where error.code == .newerFormat && configuration.access == .readOnly
    {
      // Records can be read without it; who asks for the journal is refused.
      return nil
    }
  }

  func checkUsable() throws {
    if let poison { throw poison }
  }

  /// Whether another connection has committed since ``noticeForeignCommit()`` last looked. Waits
  /// for nobody: while another process keeps even readers out, the answer is no.
  func isBehind() throws -> Bool {
    guard poison == nil else { return false }
    do {
      return try connection.hooks.withoutWaiting { try connection.dataVersion() } != dataVersion
    } catch let error as SQLiteError where error.code.primary == .busy {
      return false
    }
  }

  /// Whether another connection has committed since this one last looked; looks now.
  mutating func noticeForeignCommit() throws -> Bool {
    let now = try connection.dataVersion()
    defer { dataVersion = now }
    guard now != dataVersion else { return false }
    lists.forget()
    return true
  }

  /// What other connections did to `models`, as far as the change journal tells.
  ///
  /// - Parameter newest: Reads a record as it is now.
  /// - Returns: nil when everything must be looked at anew.
  /// - Precondition: A transaction is open.
  mutating func foreignNews(
    of models: [ModelSchema],
    newest: (ModelSchema, _ key: [SQLValue]) throws -> [SQLValue]?
  ) throws -> JournalHead.News? {
    let news = try journal?.advance(on: connection, models: models, newest: newest)
    return isNewToJournal ? nil : news
  }

  /// Whether nobody else has changed the file's schema since everything here was made from it.
  func knowsSchema() throws -> Bool {
    try connection.schemaVersion() == schemaVersion
  }

  /// Takes everything in the change journal for announced.
  mutating func passJournal() throws {
    guard journal != nil else { return }
    journal?.position = try JournalReader.bounds(on: connection)?.upperBound ?? 0
  }

  /// Runs one transaction.
  ///
  /// - Parameters:
  ///   - needsFitJournal: Whether to refuse as long as the journal is to be mended.
  ///   - scope: Whose changes to capture; asked when the transaction has begun.
  ///   - onForeignSchema: Called inside the transaction, before the body, when another connection
  ///     has changed the schema since; must end in ``adopt(_:catalog:)``.
  ///   - onForeignCommit: Called inside the transaction, before the body, when another connection
  ///     has committed since.
  ///   - shield: Called before the end, from which on nothing may be interrupted.
  /// - Throws: Also ``UnfitJournal``; then `body` was not called.
  mutating func run<Result>(
    ending: CommitPipeline.Ending, needsFitJournal: Bool, scope: () -> CaptureScope,
    validators: [Validator],
    snapshot: @escaping ((Connection) throws -> [SQLValue]?) throws -> [SQLValue]?,
    onForeignSchema: (inout Writer) throws -> Void,
    onForeignCommit: (inout Writer) throws -> Void,
    shield: @escaping () -> Void,
    _ body: (borrowing Transaction) throws -> Result
  ) throws -> CommitPipeline.CommittedWork<Result> {
    try checkUsable()
    try file.checkPresence()
    do {
      try connection.withStatement("BEGIN IMMEDIATE") { statement in try statement.run() }
      let pipeline = try prepare(
        needsFitJournal, scope(), validators, snapshot, onForeignSchema, onForeignCommit, shield)
      let work = try pipeline.run(ending: ending, body)
      if let position = work.journalPosition { journal?.position = position }
      return work
    } catch {
      throw models.storeError(noting(error), about: nil)
    }
  }

  /// Stops the writer when `error` says that its connection cannot be used any more.
  ///
  /// - Returns: What the caller is to be told.
  mutating func noting(_ error: any Error) -> any Error {
    if let unknown = error as? UnknownOutcome {
      poison = unknown.storeError
      return unknown.storeError
    }
    guard let failure = error as? ConnectionFailure else { return error }
    poison = failure.storeError
    return failure.reason
  }

  /// Takes note of what other connections did, then decides what to capture. Rolls back if that
  /// fails.
  private mutating func prepare(
    _ needsFitJournal: Bool, _ scope: CaptureScope, _ validators: [Validator],
    _ snapshot: @escaping ((Connection) throws -> [SQLValue]?) throws -> [SQLValue]?,
    _ onForeignSchema: (inout Writer) throws -> Void,
    _ onForeignCommit: (inout Writer) throws -> Void,
    _ shield: @escaping () -> Void
  ) throws -> CommitPipeline {
    do {
      if try !knowsSchema() {
        let hadJournal = journal != nil
        try onForeignSchema(&self)
        isNewToJournal = journal != nil && !hadJournal
      }
      defer { isNewToJournal = false }
      if try noticeForeignCommit() { try onForeignCommit(&self) }
      if needsFitJournal, mayMendJournal, journal?.damaged.isEmpty == false {
        throw UnfitJournal()
      }
      return CommitPipeline(
        connection: connection, models: models, plan: capturePlan(scope),
        lists: lists, schemaVersion: schemaVersion, validators: validators,
        refusals: configuration.refusals, snapshot: snapshot,
        journal: try signing(), shield: shield)
    } catch {
      throw connection.rollBack(after: error)
    }
  }

  /// Whether triggers of the journal that somebody else made unfit are to be made anew.
  var mayMendJournal: Bool { !hasMendedJournal && unfitSchemaVersion != schemaVersion }

  /// Remembers that triggers of the journal cannot be made anew while the schema is as it is.
  ///
  /// - Returns: Whether that is news.
  mutating func noteUnfitJournal() -> Bool {
    defer { unfitSchemaVersion = schemaVersion }
    return unfitSchemaVersion != schemaVersion
  }

  /// How the transaction that has begun is signed; nil where nothing is entered.
  private func signing() throws -> CommitPipeline.Signing? {
    guard journal?.isActive == true else { return nil }
    // Not what was announced last: a foreign commit of which that failed is nobody's of ours.
    let newest = try JournalReader.newest(on: connection) ?? 0
    return CommitPipeline.Signing(first: newest + 1, program: program)
  }

  /// What a transaction has to capture.
  enum CaptureScope {
    /// Every field of every model.
    case everything
    /// What observers and validators want, by model; nil for all fields.
    case interests(generation: UInt64, () -> [String: Set<Int>?])
  }

  private mutating func capturePlan(_ scope: CaptureScope) -> CapturePlan? {
    switch scope {
    case .everything:
      if let reportingPlan { return reportingPlan }
      reportingPlan = models.captured.plan(ofAll: models.schema.models)
      return reportingPlan
    case .interests(let generation, let interests):
      if let plan, plan.generation == generation { return plan.plan }
      let made = models.captured.plan(of: models.schema.models, wanting: interests())
      plan = (generation, made)
      return made
    }
  }

  /// Copies the WAL into the database when it has grown enough. While another process holds the
  /// lock this does nothing: the next commit tries again.
  mutating func checkpointIfNeeded() throws {
    guard connection.hooks.walFrameCount >= configuration.checkpointFrameCount else { return }
    do {
      try connection.hooks.withoutWaiting { try checkpoint() }
    } catch let error as SQLiteError where error.code.primary == .busy {
      return
    }
  }

  /// Removes from the change journal what is not to be kept: one step after every so many entries.
  /// While another process holds the lock this does nothing: the next commit tries again.
  mutating func trimIfNeeded() throws {
    guard let retention = configuration.journalRetention, let journal,
      journal.position >= nextTrimming
    else { return }
    let trimmer = JournalTrimmer(
      connection: connection, retention: retention, now: WritingProgram.now,
      told: journal.position)
    do {
      let step = try connection.hooks.withoutWaiting {
        try connection.inTransaction { try trimmer.step() }
      }
      // A step removes more than is entered between two of them, so that it catches up after a
      // large transaction.
      nextTrimming =
        (step.removedCount > 0 && nextTrimming > 0 ? nextTrimming : journal.position)
        + JournalTrimmer.stepRowCount / 2
    } catch let error as SQLiteError where error.code.primary == .busy {
      return
    } catch {
      throw noting(error)
    }
  }

  private static func failedCheckpoint(_ error: SQLiteError) -> StoreError {
    StoreError(
      .ioFailure,
      """
      Copying the write-ahead log into the database failed (\(error.message)). Every commit \
      stands; close the store and open it again before writing more.
      """, sqliteCode: error.code.rawValue)
  }

  /// - Throws: ``SQLiteError``. After a failure of the disk nothing more may run here: the system
  ///   reports a failed sync once and may forget what it did not write, so trying again proves
  ///   nothing. Every commit stands.
  mutating func checkpoint() throws {
    try checkUsable()
    guard let checkpointer else {
      throw StoreError(.readOnly, "The store was opened read-only.")
    }
    do {
      try checkpointer.run(holdingLockOf: connection)
    } catch let error as SQLiteError where StoreError(error).code == .ioFailure {
      poison = Self.failedCheckpoint(error)
      throw error
    } catch {
      throw noting(error)
    }
  }
}
