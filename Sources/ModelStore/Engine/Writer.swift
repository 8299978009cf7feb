/// The only writing connection of a store in this process, with what belongs to it alone.
/// Everything here runs on its ``ConnectionQueue``.
struct Writer {
  let connection: Connection
  let file: DatabaseFile
  let reserve: SpaceReserve
  private let configuration: StoreConfiguration
  /// Opened by the first checkpoint: a connection reads the whole schema as it opens, and most
  /// programs that write a few records end before a checkpoint is due.
  private var checkpointer: Checkpointer?
  private let factsReader: ReaderPool
  private(set) var models: ModelRegistry
  let lists = ListOrders()
  /// Where this store stands in the file's change journal; nil when the file has none.
  private(set) var journal: JournalHead?
  /// The texts of the journal's triggers that this store has replaced. They are replaced once: two
  /// programs of different versions would otherwise replace each other's triggers for ever.
  private var replacedTriggers: Set<String> = []
  /// The schema in which triggers of the journal do not fit their tables and cannot be recreated.
  private var unfitSchemaVersion: Int64?

  private let program = WritingProgram()
  private var plan: (generation: UInt64, plan: CapturePlan?)?
  private var fullPlan: CapturePlan?
  /// Where the change journal must have come for the next step of trimming it.
  private var nextTrimming: Int64 = 0
  private var dataVersion: Int64
  /// The file's schema version that everything above was made from.
  private(set) var schemaVersion: Int64
  /// Why nothing more may run: a COMMIT whose outcome is not known, a failed ROLLBACK or
  /// checkpoint.
  private var poison: StoreError?
  /// The failure of the latest checkpoint, once it was reported.
  private var reportedCheckpointFailure: ResultCode?

  /// - Parameter factsReader: Where others read what the file contains.
  init(
    connection: Connection, file: DatabaseFile, reserve: SpaceReserve,
    configuration: StoreConfiguration, factsReader: ReaderPool
  ) throws {
    self.connection = connection
    self.file = file
    self.reserve = reserve
    self.configuration = configuration
    self.factsReader = factsReader
    models = ModelRegistry(schema: StoreSchema(models: []))
    dataVersion = try connection.dataVersion()
    schemaVersion = try connection.schemaVersion()
  }

  /// Takes over another set of models, or the same after the file's schema changed.
  ///
  /// - Parameters:
  ///   - journaled: The models as the file describes them, for the change journal; not used where
  ///     the file is in order.
  ///   - filed: The file's own tables, where it was found in order: then nothing more is read now.
  /// - Precondition: A transaction is open, and `schema` and `filed` were read in it. Otherwise
  ///   a change by another program between two reads would never be noticed.
  mutating func adopt(
    _ schema: StoreSchema, journaled: [ModelSchema], inOrder filed: FiledCatalog?
  ) throws {
    let version = try connection.schemaVersion()
    let facts = FileFacts(reader: factsReader, schemaVersion: version)
    let journal = try readJournal(of: journaled, inOrder: filed != nil, facts)
    models = ModelRegistry(
      schema: schema, filed: try entries(filed, of: schema), facts: facts,
      tablesWithTriggers: try FileFacts.tablesWithTriggers(on: connection),
      damagedJournals: journal?.damaged ?? [])
    // Only now: a schema that cannot be read is read again by the next write.
    schemaVersion = version
    self.journal = journal
    plan = nil
    fullPlan = nil
    lists.adopt(
      try schema.slotModels.compactMap { slots in
        try facts.captured(on: connection).table(of: slots.schema, wanting: nil)
          .map { (slots, $0) }
      })
  }

  private func entries(
    _ filed: FiledCatalog?, of schema: StoreSchema
  ) throws -> ModelRegistry.Filed {
    if let filed {
      let rules = FiledEntries<Rule>(filed.rules)
      return ModelRegistry.Filed(
        rules: rules, judgedRules: rules, bindings: FiledEntries(filed.bindings))
    }
    let rules = try CatalogEntries.rules.understood(on: connection)
    let judged =
      rules.isEmpty ? [] : try FiledRules(rules, in: schema.models, on: connection).kept
    return ModelRegistry.Filed(
      rules: FiledEntries(rules), judgedRules: FiledEntries(judged),
      bindings: FiledEntries(try CatalogEntries.bindings.understood(on: connection)))
  }

  private func readJournal(
    of models: [ModelSchema], inOrder isInOrder: Bool, _ facts: FileFacts
  ) throws -> JournalHead? {
    guard !isInOrder else {
      return try JournalHead(inOrder: connection, from: journal?.position)
    }
    do {
      return try JournalHead(
        reading: connection, models: models, catalog: try facts.catalog(on: connection),
        from: journal?.position)
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

  /// Whether another connection has committed since ``noticeForeignCommit()`` was last called.
  /// Does not wait: while another process keeps even readers out, the answer is no.
  func isBehind() throws -> Bool {
    guard poison == nil else { return false }
    do {
      return try connection.hooks.withoutWaiting { try connection.dataVersion() } != dataVersion
    } catch let error as SQLiteError where error.code.primary == .busy {
      return false
    }
  }

  /// Whether another connection has committed since the last call.
  mutating func noticeForeignCommit() throws -> Bool {
    let now = try connection.dataVersion()
    defer { dataVersion = now }
    guard now != dataVersion else { return false }
    lists.forget()
    return true
  }

  /// What other connections did to `models`, as far as the change journal shows.
  ///
  /// - Parameter newest: Reads a record as it is now.
  /// - Returns: nil when observers must refetch.
  /// - Precondition: A transaction is open.
  mutating func foreignNews(
    of models: [ModelSchema],
    newest: (ModelSchema, _ key: [SQLValue]) throws -> [SQLValue]?
  ) throws -> JournalHead.News? {
    try journal?.advance(on: connection, models: models, newest: newest)
  }

  /// Whether no other connection has changed the file's schema since it was read.
  func knowsSchema() throws -> Bool {
    try connection.schemaVersion() == schemaVersion
  }

  /// Takes everything up to `position` in the change journal for published.
  mutating func passJournal(to position: Int64) { journal?.position = position }

  /// Takes everything in the change journal for published.
  mutating func passJournal() throws {
    guard journal != nil else { return }
    journal?.position = try JournalReader.newest(on: connection).map { max(0, $0) } ?? 0
  }

  /// - Throws: ``StoreError`` when the store can no longer be written or its file was replaced.
  func checkReady() throws {
    try checkUsable()
    try file.checkPresence()
  }

  /// Takes note of what `error`, which ended a transaction, says of the connection and the disk.
  ///
  /// - Returns: What to throw.
  mutating func failure(_ error: any Error) -> any Error {
    noteShortage(error)
    return models.storeError(noting(error), about: nil)
  }

  /// Stops the writer when `error` says that its connection cannot be used any more.
  ///
  /// - Returns: What to throw.
  mutating func noting(_ error: any Error) -> any Error {
    if let unknown = error as? UnknownOutcome {
      poison = unknown.storeError
      return unknown.storeError
    }
    guard let failure = error as? ConnectionFailure else { return error }
    poison = failure.storeError
    return failure.reason
  }

  /// Whether triggers of the journal are to be repaired before the next write.
  var needsJournalRepair: Bool { mayRepairJournal && journal?.damaged.isEmpty == false }

  /// Whether triggers of the journal that another program made unfit are to be recreated.
  ///
  /// Triggers that are missing, or older than the table or another trigger, are repaired each time.
  var mayRepairJournal: Bool {
    guard unfitSchemaVersion != schemaVersion else { return false }
    let foreign = journal?.foreignTriggers ?? []
    return foreign.isEmpty || !foreign.isSubset(of: replacedTriggers)
  }

  /// Remembers that the triggers of `head` are being replaced.
  mutating func noteReplacement(of head: JournalHead) {
    replacedTriggers.formUnion(head.foreignTriggers)
  }

  /// Remembers that triggers of the journal cannot be recreated while the schema is as it is.
  ///
  /// - Returns: Whether that is news.
  mutating func noteUnfitJournal() -> Bool {
    defer { unfitSchemaVersion = schemaVersion }
    return unfitSchemaVersion != schemaVersion
  }

  /// How the transaction that has begun is signed; nil where nothing is recorded.
  func signing() throws -> OpenWrite.Signing? {
    guard journal?.isActive == true else { return nil }
    // Not the position that was published last: publishing a foreign commit may have failed.
    return try JournalReader.next(on: connection).map {
      OpenWrite.Signing(first: $0, program: program)
    }
  }

  /// What a transaction captures; nil for nothing. A plan is used again while `generation` stays.
  ///
  /// - Parameter interests: The fields by model, nil for all; asked only for a new generation.
  mutating func plan(
    _ demand: WriteCycle.Demand, generation: UInt64, _ interests: () -> [String: Set<Int>?]
  ) throws -> CapturePlan? {
    switch demand {
    case .everything:
      if let fullPlan { return fullPlan }
      fullPlan = try models.facts.captured(on: connection).plan(ofAll: models.schema.models)
      return fullPlan
    case .observed:
      if let plan, plan.generation == generation { return plan.plan }
      let interests = interests()
      let made =
        interests.isEmpty
        ? nil
        : try models.facts.captured(on: connection)
          .plan(of: models.schema.models, wanting: interests)
      plan = (generation, made)
      return made
    }
  }

  /// Takes back what a transaction that failed had of the reserve, and looks for one that another
  /// process keeps, so that the next deletion has room.
  func noteShortage(_ error: any Error) {
    reserve.takeBack()
    if let error = error as? SQLiteError, error.isForWantOfSpace { reserve.refresh() }
  }

  /// Copies the WAL into the database when it has grown enough, or when the log of a deletion has
  /// to give the reserve its room back. While another process holds the lock this does nothing: the
  /// next commit tries again.
  ///
  /// - Throws: As ``checkpoint()``, except for a failure that the checkpoint before it had, too.
  mutating func checkpointIfNeeded() throws {
    guard
      reserve.isLent || connection.hooks.walFrameCount >= configuration.checkpointFrameCount
    else { return }
    defer { if reserve.isLent { reserve.takeBack() } else { reserve.adjust() } }
    do {
      try connection.hooks.withoutWaiting { try checkpoint() }
      reportedCheckpointFailure = nil
    } catch let error as SQLiteError {
      guard error.code.primary != .busy, error.code != reportedCheckpointFailure else { return }
      reportedCheckpointFailure = error.code
      throw error
    }
  }

  /// Removes from the change journal what is not to be kept: one step after a number of entries.
  /// While another process holds the lock this does nothing: the next commit tries again.
  mutating func trimIfNeeded() throws {
    // The next trimming is due at most a step ahead. Where it is further away, another program
    // removed rows whose positions were too high.
    guard let retention = configuration.journalRetention, let journal,
      journal.position >= nextTrimming
        || nextTrimming - journal.position > JournalTrimmer.stepRowCount
    else { return }
    try checkUsable()
    let trimmer = JournalTrimmer(
      connection: connection, retention: retention, now: WritingProgram.now,
      told: journal.position)
    do {
      reserve.lend()
      let step = try connection.hooks.withoutWaiting {
        try connection.inTransaction { try trimmer.step() }
      }
      // A step removes more than is recorded between two of them, so that it catches up after a
      // large transaction.
      // A position beyond all that stores write would end trimming for ever.
      let newest = min(journal.position, step.kept?.upperBound ?? 0)
      nextTrimming =
        (step.removedCount > 0 && nextTrimming > 0 ? min(nextTrimming, newest) : newest)
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
    try configuration.checkWritable()
    // Nothing was copied yet when this fails, so the store goes on.
    let checkpointer = try openCheckpointer()
    do {
      try checkpointer.run(holdingLockOf: connection)
    } catch let error as SQLiteError where StoreError(error).code == .ioFailure {
      poison = Self.failedCheckpoint(error)
      throw error
    } catch {
      throw noting(error)
    }
  }

  private mutating func openCheckpointer() throws -> Checkpointer {
    if let checkpointer { return checkpointer }
    try file.checkPresence()
    let opened = try Checkpointer(path: file.path, policy: configuration.connectionPolicy)
    // The name may have come to mean another file in between.
    try file.checkPresence()
    checkpointer = opened
    return opened
  }
}

extension Writer: ConnectionOwner {}
