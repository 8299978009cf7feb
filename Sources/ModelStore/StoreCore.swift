internal import Synchronization

/// What all stores on one file in this process share: the writer, the readers and the broker.
///
/// One per file, because a second copy would fight the first for SQLite's locks, which belong to
/// the process:
/// <https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>.
final class StoreCore: Sendable {
  /// Tells it from every other one of the process, also from those that are gone.
  let number = StoreCore.nextNumber()
  let file: DatabaseFile
  let configuration: StoreConfiguration
  let broker = ChangeBroker()
  let liveResults = SharedResults<Query<Record>, RegisteredResult>()
  let liveLists = SharedResults<ListResult.Identity, RegisteredList>()
  let observedFields = ObservedFields.Pool()
  /// The observations of objects that hold none themselves.
  let ownedBags = OwnedBags()
  let writer: ConnectionQueue<Writer>
  let readers: ReaderPool
  /// Where the writer's thread reads how a row was before the running transaction, and what a query
  /// reads: apart from the pool, so that nobody who reads keeps it waiting.
  let writersReader: ReaderPool
  /// Where results of live queries are read while others write: who reads there waits for the
  /// writer, so nobody whom the writer waits for may need it.
  let hydrationReader: ReaderPool
  /// Where the delivery queue reads what a reset does not tell. Who has a reader of the pool may
  /// wait for a delivery, so that may not wait for one.
  let deliveryReader: ReaderPool
  /// Hears other processes' commits while somebody observes.
  let signal: ChangeSignal
  /// Those who wait for news in the change journal.
  let journalListeners = JournalListeners()
  let report: @Sendable (StoreError) -> Void
  private let shared = Mutex(Shared())
  /// Says until when the file is open in this process, also after the last store is dropped.
  let presence = Presence()

  private static let numbers = Atomic<UInt64>(0)

  private static func nextNumber() -> UInt64 {
    numbers.add(1, ordering: .relaxed).newValue
  }

  private struct Shared {
    var models = ModelRegistry(schema: StoreSchema(models: []))
    var validators: [Validator] = []
    /// The names of the models that stores on the file have declared since it was opened.
    var declaredModels: Set<ExactText> = []
    var generation: UInt64 = 0
  }

  init(
    file: DatabaseFile, configuration: StoreConfiguration,
    report: @escaping @Sendable (StoreError) -> Void
  ) throws {
    self.file = file
    self.configuration = configuration
    self.report = report
    let policy = configuration.connectionPolicy
    let path = file.path
    let readOnly = configuration.access == .readOnly
    let openReader: @Sendable () throws -> Connection = {
      try file.checkPresence()
      let connection = try Connection(
        path: path, role: readOnly ? .readOnlyFile : .reader, policy: policy)
      // The name may have come to mean another file in between.
      try file.checkPresence()
      return connection
    }
    readers = ReaderPool(countMax: configuration.readerCountMax, open: openReader)
    writersReader = ReaderPool(countMax: 1, open: openReader)
    hydrationReader = ReaderPool(countMax: 1, open: openReader)
    deliveryReader = ReaderPool(countMax: 1, open: openReader)
    let connection = try Self.connect(path: path, readOnly: readOnly, policy: policy)
    try Self.prepare(connection, file: file, readOnly: readOnly)
    writer = ConnectionQueue(
      try Writer(connection: connection, file: file, configuration: configuration),
      connection: connection, label: "modelstore.writer")
    signal = ChangeSignal(path: path, queue: writer.makeTurnQueue(label: "modelstore.signal"))
    try file.checkPresence()
    broker.onAudienceChange { [weak self] in self?.followAudience() }
    journalListeners.onAudienceChange { [weak self] in self?.followAudience() }
  }

  deinit {
    guard presence.process.isCurrent else { return }
    signal.end()
    presence.end()
  }

  /// Says that a file is open, in which process, for longer than its core can be asked.
  final class Presence: Sendable {
    let process = OpeningProcess()
    private let open = Atomic(true)

    var isOpen: Bool { open.load(ordering: .acquiring) }

    func end() {
      open.store(false, ordering: .releasing)
    }
  }

  private static func connect(
    path: String, readOnly: Bool, policy: Connection.Policy
  ) throws -> Connection {
    do {
      return try Connection(path: path, role: readOnly ? .readOnlyFile : .writer, policy: policy)
    } catch {
      guard error.code.primary == .readOnly, !readOnly else { throw error }
      throw notWritable(path)
    }
  }

  private static func notWritable(_ path: String) -> StoreError {
    StoreError(
      .permissionDenied,
      "\(path) or its directory may be read but not written by this user. Open the store read-only, or change the permissions."
    )
  }

  private static func prepare(
    _ connection: Connection, file: DatabaseFile, readOnly: Bool
  ) throws {
    // First what refuses a file, then what changes it.
    let encoding = try connection.firstRow("PRAGMA encoding") { try $0.text(at: 0) }
    guard encoding == "UTF-8" else {
      throw StoreError(
        .unsupportedSchema,
        "The database keeps text as \(encoding ?? "unknown"); a store needs UTF-8.")
    }
    if let pageSize = try connection.firstRow("PRAGMA page_size", { try $0.integer(at: 0) }),
      file.isCutOff(pageSize: pageSize)
    {
      throw StoreError(
        .corrupt,
        "\(file.path) ends in the middle of a page: a part of it is missing. Restore a backup, or run sqlite3 FILE .recover."
      )
    }
    if !readOnly {
      guard !connection.isFileReadOnly else { throw notWritable(file.path) }
      let mode = try connection.enterWAL()
      guard mode == "wal" else {
        throw StoreError(
          .unsafeLocation,
          "SQLite cannot use a write-ahead log here (journal mode \(mode ?? "unknown")).")
      }
    }
  }

  // Schema and validators

  var models: ModelRegistry { shared.withLock { $0.models } }

  var validators: [Validator] { shared.withLock { $0.validators } }

  /// Puts another registry in force. On the writer's queue.
  func use(_ models: ModelRegistry) {
    shared.withLock { shared in
      shared.models = models
      shared.generation += 1
    }
  }

  /// Whether a store on the file has declared a model called `name` since it was opened.
  func isDeclared(_ name: String) -> Bool {
    shared.withLock { $0.declaredModels.contains(ExactText(name)) }
  }

  /// Notes the models of `declarations` and puts its validators in force: each takes the place of
  /// the one that has its name, or comes last among those of its scope.
  func add(_ declarations: Declarations) {
    shared.withLock { shared in
      shared.declaredModels.formUnion(declarations.models.map { ExactText($0.name) })
      for validator in declarations.validators {
        if let place = shared.validators.firstIndex(where: { $0.name == validator.name }) {
          shared.validators[place] = validator
        } else {
          shared.validators.append(validator)
        }
      }
      // A sort that keeps the order of equal ones: the place decides.
      shared.validators = shared.validators.enumerated()
        .sorted { ($0.element.scope.rawValue, $0.offset) < ($1.element.scope.rawValue, $1.offset) }
        .map(\.element)
      shared.generation += 1
    }
  }

  // Transactions

  /// Runs a transaction on the calling thread, commits it and announces what it did.
  func commit<Result>(
    suppressing suppressed: [any Outlet] = [],
    _ body: (borrowing Transaction) throws -> Result
  ) throws -> Result {
    try settled { writer in
      try self.write(&writer, ending: .commit, suppressing: suppressed, body).value
    }
  }

  /// Runs `body` on the writer's queue and, with the writer let go, waits for those observers who
  /// asked for it.
  func settled<Result>(_ body: (inout Writer) throws -> Result) throws -> Result {
    let (result, count) = try writer.sync { writer in
      try countingAwaited { try body(&writer) }
    }
    broker.settle(count)
    return result
  }

  /// Runs `body`, which has the writer, and tells what to wait for once the writer is let go: for
  /// ``ChangeBroker/settle(_:)-(UInt64)``.
  func countingAwaited<Result>(
    _ body: () throws -> Result
  ) rethrows -> (result: Result, count: UInt64) {
    let before = broker.awaitedCount
    let result = try body()
    let count = broker.awaitedCount
    return (result, count > before ? count : 0)
  }

  /// What the subscriptions of a write that leaves them out hear through.
  ///
  /// - Throws: ``StoreError`` with code `misuse` for one of another store.
  func outlets(of subscriptions: [Subscription]) throws -> [any Outlet] {
    let outlets = subscriptions.map(\.outlet)
    guard outlets.allSatisfy({ $0.broker === broker }) else {
      throw StoreError(
        .misuse, "A write cannot leave out a subscription of another store; nothing was changed.")
    }
    return outlets
  }

  /// Runs a writing transaction on the writer's queue and announces what it did.
  ///
  /// - Parameter isMendingJournal: Whether triggers of the change journal that somebody else made
  ///   unfit are made anew first, so that nothing of this is missed.
  func write<Result>(
    _ writer: inout Writer, ending: CommitPipeline.Ending, reporting: Bool = false,
    suppressing suppressed: [any Outlet] = [], mendingJournal isMendingJournal: Bool = true,
    _ body: (borrowing Transaction) throws -> Result
  ) throws -> (value: Result, changes: ChangeSet) {
    guard configuration.access != .readOnly else {
      throw StoreError(.readOnly, "The store was opened read-only.")
    }
    try Wave.current.checkRounds()
    let validators = validators
    let changeCount = writer.connection.totalChangeCount
    var knownObserver = UInt64.max
    let outcome: CommitPipeline.CommittedWork<Result>
    do {
      outcome = try writer.run(
        ending: ending,
        needsFitJournal: isMendingJournal && ending == .commit,
        scope: {
          guard !reporting else { return .everything }
          // Before the plan is made: who comes from now on may not be in it.
          knownObserver = broker.latestObserver
          return scope(validators)
        },
        validators: validators,
        snapshot: { read in try self.writersReader.sync(read) },
        onForeignSchema: { try self.reloadSchema(&$0) },
        onForeignCommit: { self.announceForeignCommit(&$0) },
        shield: { self.writer.shield() },
        body)
    } catch is Writer.UnfitJournal {
      mendJournalFirst(&writer)
      return try write(
        &writer, ending: ending, reporting: reporting, suppressing: suppressed,
        mendingJournal: false, body)
    }
    guard ending == .commit else {
      return (outcome.value, ChangeSet(version: 0, changes: outcome.changes))
    }
    // From here on nothing may be thrown: the commit stands.
    if outcome.schemaChanged {
      do {
        try reloadSchema(&writer)
      } catch {
        // The next write finds the schema's version changed and reads it again.
        report(StoreError(reporting: models.storeError(error, about: nil)))
      }
    }
    if writer.connection.totalChangeCount == changeCount { knownObserver = .max }
    let published = broker.publish(
      ChangeBroker.Announcement(
        changes: outcome.changes, edits: outcome.edits, isReset: outcome.schemaChanged,
        knownObserver: knownObserver, wave: Wave.current, suppressed: suppressed))
    writer.connection.releaseState()
    if outcome.journalPosition != nil { journalListeners.ring() }
    mendJournalIfNeeded(&writer, afterOwnChange: outcome.schemaChanged)
    trimIfNeeded(&writer)
    checkpointIfNeeded(&writer)
    return (outcome.value, published)
  }

  private func scope(_ validators: [Validator]) -> Writer.CaptureScope {
    let generation = broker.generation &+ shared.withLock { $0.generation } << 32
    return .interests(generation: generation) {
      var interests = self.broker.interests()
      for validator in validators {
        for model in validator.models {
          guard let fields = validator.fields, let known = interests[model] ?? .some([]) else {
            interests[model] = .some(nil)
            continue
          }
          interests[model] = known.union(fields)
        }
      }
      return interests
    }
  }

  /// Reads the file's schema again after it changed, and puts it in force.
  func reloadSchema(_ writer: inout Writer) throws {
    let catalog = try Catalog(reading: writer.connection)
    try writer.adopt(models.schema, catalog: catalog)
    use(writer.models)
  }

  /// Runs `body` in a read transaction on `connection`.
  func read<Result>(
    _ connection: Connection, _ body: (borrowing ReadTransaction) throws -> Result
  ) throws -> Result {
    let models = models
    let access = TransactionAccess(
      connection: connection, models: models, capture: nil, refusals: configuration.refusals,
      isWritable: false)
    do {
      try connection.withStatement("BEGIN") { statement in try statement.run() }
      let result = try body(ReadTransaction(access: access))
      try connection.withStatement("COMMIT") { statement in try statement.run() }
      return result
    } catch {
      let failure = connection.rollBack(after: error)
      throw models.storeError((failure as? ConnectionFailure)?.reason ?? failure, about: nil)
    }
  }

  func close() {
    signal.end()
    journalListeners.end()
    // Inside a transaction nothing is waited for: who runs elsewhere may be closing too.
    let isWaiting = !writer.isCurrent && !readers.isCurrent
    writer.close(waiting: isWaiting)
    readers.close(waiting: isWaiting)
    writersReader.close(waiting: isWaiting)
    hydrationReader.close(waiting: isWaiting)
    deliveryReader.close(waiting: isWaiting)
  }
}

/// The cores of this process, by file.
enum StoreCores {
  private struct Entry {
    weak var core: StoreCore?
    let presence: StoreCore.Presence
  }

  private static let cores = Mutex<[DatabaseFile.Identity: Entry]>([:])

  /// The core for `file`: the one in use, or a new one.
  ///
  /// - Throws: ``StoreError`` with code `configurationConflict` when the one in use was opened
  ///   differently, `forked` when it was open in the process that this one was forked from: SQLite
  ///   here still believes that it holds the locks of then, which stayed with the parent.
  static func core(
    for file: DatabaseFile, configuration: StoreConfiguration,
    report: @escaping @Sendable (StoreError) -> Void
  ) throws -> StoreCore {
    try cores.withLock { cores in
      if let presence = cores[file.identity]?.presence, presence.isOpen {
        try presence.process.check()
      }
      if let core = cores[file.identity]?.core {
        guard core.configuration.isCompatible(with: configuration) else {
          throw StoreError(
            .configurationConflict,
            "\(file.path) is already open in this process with another configuration.")
        }
        return core
      }
      let core = try StoreCore(file: file, configuration: configuration, report: report)
      cores = cores.filter { $0.value.presence.isOpen }
      cores[file.identity] = Entry(core: core, presence: core.presence)
      return core
    }
  }

  /// Forgets a core that was closed, so that its file can be opened anew.
  static func forget(_ core: StoreCore) {
    cores.withLock { cores in
      if cores[core.file.identity]?.core === core { cores[core.file.identity] = nil }
    }
  }
}
