internal import Synchronization

/// The shared state of all stores on one file in this process.
///
/// It creates the parts, connects them, and closes them with the last store. The parts do the work.
final class StoreEngine: Sendable {
  /// Distinguishes this engine from every other engine of the process, including closed ones.
  let number = StoreEngine.numbers.add(1, ordering: .relaxed).newValue
  let file: DatabaseFile
  let configuration: StoreConfiguration
  let connections: Connections
  let schema = CurrentSchema()
  let broker = ChangeBroker()
  let liveResults = SharedResults<StoreQuery<DynamicRecord>, RegisteredResult>()
  let liveLists = SharedResults<ListResult.Identity, RegisteredList>()
  let observedFields = ObservedFields.Pool()
  /// The threads for asynchronous forms that may wait for the writer or read for long.
  let calls = BlockingCalls()
  /// The threads for asynchronous forms that only read: one for each reader. So such a call waits
  /// only for other reads.
  let readCalls: BlockingCalls
  let foreignSync: ForeignSync
  let maintenance: Maintenance
  let line: WriteLine
  /// The part in a shared store; nil if the store is not shared.
  let membership: Membership?
  /// Consumers and sequences that wait for new entries in the change journal.
  let journalListeners = JournalListeners()
  /// The report handlers of the open stores.
  let reports: SharedReport
  /// Receive what the engine does.
  let monitors: Monitors
  /// Records until when the file is open in this process, also after the last store is released.
  let presence = Presence()

  private static let numbers = Atomic<UInt64>(0)

  init(file: DatabaseFile, configuration: StoreConfiguration) throws {
    self.file = file
    self.configuration = configuration
    monitors = Monitors()
    reports = SharedReport(monitors)
    readCalls = BlockingCalls(laneCountMax: configuration.maxReaderCount)
    connections = try Connections(file: file, configuration: configuration)
    foreignSync = ForeignSync(
      connections: connections, schema: schema, broker: broker, listeners: journalListeners,
      reports: reports,
      signal: ChangeSignal(
        path: file.path,
        queue: connections.writer.makeTurnQueue(label: "modelstore.signal"),
        means: file.isInMemory ? .nothing : .best))
    membership = try Membership(of: file, configuration, with: connections)
    let turns = WriterTurns(writer: connections.writer, broker: broker)
    line = WriteLine(turns: turns)
    maintenance = Maintenance(
      turns: turns, schema: schema,
      foreignSync: foreignSync, reports: reports, membership: membership,
      configuration: configuration)
    let follow: @Sendable () -> Void = { [weak self] in
      guard let self else { return }
      foreignSync.followAudience(of: self)
    }
    broker.onAudienceChange(follow)
    journalListeners.onAudienceChange(follow)
  }

  deinit {
    guard presence.process.isCurrent else { return }
    foreignSync.end()
    presence.end()
  }

  /// A record of whether a file is open, and in which process. It outlives the engine.
  final class Presence: Sendable {
    let process = OpeningProcess()
    private let open = Atomic(true)

    var isOpen: Bool { open.load(ordering: .acquiring) }

    func end() {
      open.store(false, ordering: .releasing)
    }
  }

  func close(_ closing: StoreLease.Closing) {
    foreignSync.end()
    journalListeners.end()
    membership?.end()
    connections.close(closing)
  }

  /// Sends an error to the store that was opened first among the open ones.
  var report: @Sendable (StoreError) -> Void { { [reports] error in reports.send(error) } }

  /// The models in effect.
  var models: ModelRegistry { schema.models }

  var catalog: CatalogEditor { CatalogEditor(engine: self) }

  // Reading

  /// Runs `body` in a read transaction on `connection`.
  func read<Result>(
    _ connection: Connection, _ body: (borrowing ReadTransaction) throws -> Result
  ) throws -> Result {
    let models = models
    let access = _TransactionAccess(
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

  /// Runs `body` on a reader, outside a transaction. Throws the errors that callers see.
  func look<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    do {
      return try connections.readers.sync(body)
    } catch {
      throw models.storeError(error, about: nil)
    }
  }

  /// Runs `body` in a read transaction on a reader.
  func read<Result>(_ body: (borrowing ReadTransaction) throws -> Result) throws -> Result {
    try connections.readers.sync { connection in try read(connection, body) }
  }

  /// Runs `body` on the writer's queue, in the state that observers have received. No commit can
  /// come between what it reads and what it registers.
  func atPublishedState<Result>(_ body: (Writer) throws -> Result) throws -> Result {
    try turns.take { writer in try self.foreignSync.atPublishedState(&writer, body) }
  }

  /// Returns the outlets of the subscriptions that a write does not notify.
  ///
  /// - Throws: ``StoreError`` with code `misuse` for a subscription of another store.
  func outlets(of subscriptions: [ObservationToken]) throws -> [any Outlet] {
    let outlets = subscriptions.map(\.outlet)
    guard outlets.allSatisfy({ $0.broker === broker }) else {
      throw StoreError(
        .misuse, "A write cannot suppress a subscription of another store; nothing was changed.")
    }
    return outlets
  }
}
