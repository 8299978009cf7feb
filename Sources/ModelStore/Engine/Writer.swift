/// The only writing connection of a store in this process, with its state.
///
/// Everything here runs on its ``ConnectionQueue``.
struct Writer {
  let connection: Connection
  let file: DatabaseFile
  let reserve: SpaceReserve
  private let configuration: StoreConfiguration
  /// Opened by the first checkpoint. A connection reads the whole schema when it opens, and most
  /// programs with few writes end before a checkpoint is due.
  private var checkpointer: Checkpointer?
  private let factsReader: ReaderPool
  private(set) var models: ModelRegistry
  let lists = ListOrders()
  /// The position of this store in the file's change journal; nil if the file has no journal.
  private(set) var journal: JournalHead?
  /// The texts of the journal's triggers that this store has replaced.
  ///
  /// Each text is replaced only once. Otherwise two programs of different versions would replace
  /// each other's triggers forever.
  private var replacedTriggers: Set<String> = []
  /// The schema version in which journal triggers do not fit their tables and cannot be recreated.
  private var unfitSchemaVersion: Int64?

  private let program = WritingProgram()
  private var plan: (generation: UInt64, plan: CapturePlan?)?
  private var fullPlan: CapturePlan?
  /// The journal position at which the next trimming step is due.
  private var nextTrimming: Int64 = 0
  private var dataVersion: Int64
  /// The connection's content version when all changes were known; nil if they never were.
  private var latestContent: Int64?
  /// The file's schema version from which all cached state was made.
  private(set) var schemaVersion: Int64
  /// The reason why nothing more may run: a COMMIT with an unknown outcome, or a failed ROLLBACK or
  /// checkpoint.
  private var poison: StoreError?
  /// The reported failure of the latest checkpoint.
  private var reportedCheckpointFailure: ResultCode?

  /// Creates a writer.
  ///
  /// - Parameter factsReader: Reads the contents of the file for other code.
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
    connection.hooks.blindTriggers(where: JournalTriggers.isForEvictions)
    dataVersion = try connection.dataVersion()
    schemaVersion = try connection.schemaVersion()
  }

  /// Takes over another set of models, or the same models after a schema change.
  ///
  /// - Parameters:
  ///   - journaled: The models as the file describes them, for the change journal. It is not used
  ///     if the file is in order.
  ///   - filed: The file's own tables, if the file was in order. In that case nothing more is read
  ///     now.
  /// - Precondition: A transaction is open, and `schema` and `filed` were read in it. Otherwise
  ///   another program's change between two reads would never be detected.
  mutating func adopt(
    _ schema: StoreSchema, journaled: [ModelSchema], inOrder filed: FiledCatalog?
  ) throws {
    let version = try connection.schemaVersion()
    let facts = FileFacts(reader: factsReader, schemaVersion: version)
    let journal = try readJournal(of: journaled, inOrder: filed != nil, facts)
    models = ModelRegistry(
      schema: schema, filed: try entries(filed, of: schema), facts: facts,
      obstacles: try WritingObstacles(reading: connection),
      damagedJournals: journal?.damaged ?? [])
    // Set only now: if the schema cannot be read, the next write reads it again.
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
      // Records are readable without the journal. Only a use of the journal throws.
      return nil
    }
  }

  func checkUsable() throws {
    if let poison { throw poison }
  }

  /// Whether ``checkUsable()`` succeeds.
  var isUsable: Bool { poison == nil }

  /// Returns whether another connection has committed since the last ``noticeForeignCommit()``.
  ///
  /// It does not wait: if another process blocks even readers, it returns false.
  func isBehind() throws -> Bool {
    guard poison == nil else { return false }
    do {
      return try connection.hooks.withoutWaiting { try connection.dataVersion() } != dataVersion
    } catch let error as SQLiteError where error.code.primary == .busy {
      return false
    }
  }

  /// Returns whether another connection has committed since the last call.
  mutating func noticeForeignCommit() throws -> Bool {
    let now = try connection.dataVersion()
    defer { dataVersion = now }
    guard now != dataVersion else { return false }
    lists.forget()
    return true
  }

  /// Whether it is certain that no other connection has changed the file since
  /// ``noteLatestContent()``.
  ///
  /// - Precondition: A transaction is open.
  var hasLatestContent: Bool {
    latestContent.map { $0 == connection.contentVersion } ?? false
  }

  /// Records that every change of the file so far is known here, and so is its schema. Call it in a
  /// transaction that has looked for foreign commits, or directly after its COMMIT.
  mutating func noteLatestContent() { latestContent = connection.contentVersion }

  /// Returns what other connections did to `models`, as far as the change journal shows.
  ///
  /// - Parameter newest: Reads the current record.
  /// - Returns: nil if observers must refetch.
  /// - Precondition: A transaction is open.
  mutating func foreignNews(
    of models: [ModelSchema],
    newest: (ModelSchema, _ key: [SQLValue]) throws -> [SQLValue]?
  ) throws -> JournalHead.News? {
    try journal?.advance(on: connection, models: models, newest: newest)
  }

  /// Returns whether the file's schema is the one that this writer has read.
  func knowsSchema() throws -> Bool {
    try connection.schemaVersion() == schemaVersion
  }

  /// Marks everything up to `position` in the change journal as published.
  mutating func passJournal(to position: Int64) { journal?.position = position }

  /// Marks everything in the change journal as published.
  mutating func passJournal() throws {
    guard journal != nil else { return }
    journal?.position = try JournalReader.newest(on: connection).map { max(0, $0) } ?? 0
  }

  /// Checks that the writer can write.
  ///
  /// - Throws: ``StoreError`` if the store can no longer be written or its file was replaced.
  func checkReady() throws {
    try checkUsable()
    try file.checkPresence()
  }

  /// Records what `error`, which ended a transaction, means for the connection and the disk.
  ///
  /// - Returns: The error to throw.
  mutating func failure(_ error: any Error) -> any Error {
    noteShortage(error)
    return models.storeError(noting(error), about: nil)
  }

  /// Stops the writer if `error` means that its connection is no longer usable.
  ///
  /// - Returns: The error to throw.
  mutating func noting(_ error: any Error) -> any Error {
    if let unknown = error as? UnknownOutcome {
      poison = unknown.storeError
      return unknown.storeError
    }
    guard let failure = error as? ConnectionFailure else { return error }
    poison = failure.storeError
    return failure.reason
  }

  /// Whether triggers of the journal must be repaired before the next write.
  var needsJournalRepair: Bool { mayRepairJournal && journal?.damaged.isEmpty == false }

  /// Whether drifted triggers of the journal are to be recreated.
  ///
  /// Triggers that are missing, or older than the table or another trigger, are repaired each time.
  var mayRepairJournal: Bool {
    guard unfitSchemaVersion != schemaVersion else { return false }
    let foreign = journal?.foreignTriggers ?? []
    return foreign.isEmpty || !foreign.isSubset(of: replacedTriggers)
  }

  /// Records that the triggers of `head` are being replaced.
  mutating func noteReplacement(of head: JournalHead) {
    replacedTriggers.formUnion(head.foreignTriggers)
  }

  /// Records that triggers of the journal cannot be recreated with the current schema.
  ///
  /// - Returns: Whether this was unknown before.
  mutating func noteUnfitJournal() -> Bool {
    defer { unfitSchemaVersion = schemaVersion }
    return unfitSchemaVersion != schemaVersion
  }

  /// Returns the facts for the commit record of the current transaction; nil if nothing is
  /// recorded.
  func signing() throws -> OpenWrite.Signing? {
    guard journal?.isActive == true else { return nil }
    // Does not use the last published position: publishing a foreign commit may have failed.
    return try JournalReader.next(on: connection).map {
      OpenWrite.Signing(first: $0, program: program)
    }
  }

  /// Returns the plan of what a transaction captures; nil for nothing. The plan is reused while
  /// `generation` stays the same.
  ///
  /// - Parameters:
  ///   - concerns: Whether anybody may observe a change; nil if every change is needed. It holds
  ///     for the generation.
  ///   - interests: Returns the fields by model, nil for all. Called only for a new generation.
  mutating func plan(
    _ demand: WriteCycle.Demand, generation: UInt64,
    concerns: @autoclosure () -> CapturePlan.Concern?,
    _ interests: () -> [String: Set<Int>?]
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
      made?.concerns = concerns()
      plan = (generation, made)
      return made
    }
  }

  /// Returns a failed transaction's space to the reserve, so that the next deletion has space. It
  /// also looks for a reserve of another process.
  func noteShortage(_ error: any Error) {
    reserve.takeBack()
    if let error = error as? SQLiteError, error.isForWantOfSpace { reserve.refresh() }
  }

  /// Copies the WAL into the database if it has grown enough, or if the reserve needs its space
  /// back.
  ///
  /// While another process holds the lock, it does nothing: the next commit tries again.
  ///
  /// - Returns: Whether it copied.
  /// - Throws: As ``checkpoint()``, except for a failure that the previous checkpoint also had.
  mutating func checkpointIfNeeded() throws -> Bool {
    guard
      reserve.isLent || connection.hooks.walFrameCount >= configuration.checkpointFrameCount
    else { return false }
    defer { if reserve.isLent { reserve.takeBack() } else { reserve.adjust() } }
    do {
      try connection.hooks.withoutWaiting { try checkpoint() }
      reportedCheckpointFailure = nil
      return true
    } catch let error as SQLiteError {
      guard error.code.primary != .busy, error.code != reportedCheckpointFailure else {
        return false
      }
      reportedCheckpointFailure = error.code
      throw error
    }
  }

  /// Removes old entries from the change journal: one step per number of new entries.
  ///
  /// While another process holds the lock, it does nothing: the next commit tries again.
  mutating func trimIfNeeded() throws {
    // The next trimming is due at most one step ahead. If it is further ahead, another program
    // removed rows with positions that were too high.
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
      // A step removes more rows than are recorded between two steps, so it catches up after a
      // large transaction. A position beyond all positions that stores write would end trimming
      // forever.
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
      is complete; close the store and open it again before you write more.
      """, sqliteCode: error.code.rawValue)
  }

  /// Copies the WAL into the database. All commits stay complete if it fails.
  ///
  /// After a disk failure the writer stops. The system reports a failed sync only once and may
  /// discard the unwritten data, so a second attempt would prove nothing.
  ///
  /// - Throws: ``SQLiteError``.
  mutating func checkpoint() throws {
    try checkUsable()
    try configuration.checkWritable()
    // If this fails, nothing was copied yet, so the store can continue.
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
    // Another file may have taken the name in between.
    try file.checkPresence()
    checkpointer = opened
    return opened
  }
}

extension Writer: ConnectionOwner {}
