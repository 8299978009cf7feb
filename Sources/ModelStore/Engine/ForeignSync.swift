internal import Synchronization

/// The path of a foreign commit: detects and publishes what other connections wrote.
///
/// The broker receives exact changes if the change journal has them, and a resync otherwise.
final class ForeignSync: Sendable {
  private let connections: Connections
  private let schema: CurrentSchema
  private let broker: ChangeBroker
  private let listeners: JournalListeners
  private let reports: SharedReport
  /// Watches for other processes' commits while anything is observed.
  let signal: ChangeSignal
  private let process = OpeningProcess()
  /// Whether a commit is being published while the file already contains later ones. Only the
  /// committing thread uses it.
  private let fileIsAhead = Atomic(false)

  init(
    connections: Connections, schema: CurrentSchema, broker: ChangeBroker,
    listeners: JournalListeners, reports: SharedReport, signal: ChangeSignal
  ) {
    self.connections = connections
    self.schema = schema
    self.broker = broker
    self.listeners = listeners
    self.reports = reports
    self.signal = signal
  }

  private var monitors: Monitors { reports.monitors }

  /// Stops watching.
  func end() { signal.end() }

  // Watching

  /// Watches while there are observers or waiting consumers. In a forked child it does nothing.
  ///
  /// - Parameter engine: Stays alive during a poll, because observers read through its parts.
  func followAudience(of engine: StoreEngine) {
    guard process.isCurrent else { return }
    signal.listen(
      while: { broker.hasObservers || !listeners.isEmpty },
      ownCommitCount: { [broker] in broker.version },
      look: { [weak engine] in
        guard let engine else {
          return ChangeSignal.Sight(hasForeignCommit: false, ownCommitCount: 0)
        }
        return try withExtendedLifetime(engine) { try engine.foreignSync.poll() }
      },
      report: { [reports] error in reports.send(StoreError(reporting: error)) })
  }

  /// Checks whether other connections have committed, and publishes their changes.
  ///
  /// It runs on the signal's queue, so in one order with the commits of this store. The check of
  /// the path costs one `lstat`.
  ///
  /// - Throws: ``StoreError`` with code `fileReplaced` if the path names another file.
  private func poll() throws -> ChangeSignal.Sight {
    try connections.writer.inTurn { writer in
      let isBehind = try writer.isBehind()
      if isBehind { try self.atPublishedState(&writer) { _ in } }
      // Runs after publishing the commits that the earlier file still has.
      try writer.file.checkPresence()
      return ChangeSignal.Sight(hasForeignCommit: isBehind, ownCommitCount: self.broker.version)
    }
  }

  // Catching up

  /// Begins a write transaction, and publishes what others committed before it.
  ///
  /// - Throws: ``SQLiteError``, ``StoreError`` or ``ConnectionFailure``. A transaction may be open
  ///   only after a ``ConnectionFailure``.
  func beginWrite(_ writer: inout Writer) throws {
    try writer.connection.beginWriting()
    guard !writer.hasLatestContent else { return }
    do {
      let hasNewSchema = try !writer.knowsSchema()
      if hasNewSchema { try schema.reload(&writer) }
      if try writer.noticeForeignCommit() { publish(&writer, hasNewSchema: hasNewSchema) }
      writer.noteLatestContent()
    } catch {
      throw writer.connection.rollBack(after: error)
    }
  }

  /// Publishes what other connections wrote, then runs `body` in the same state of the file.
  ///
  /// `body` therefore reads exactly what observers have received, and nothing newer.
  ///
  /// - Parameter body: Reads, and does not write.
  func atPublishedState<Result>(
    _ writer: inout Writer, _ body: (Writer) throws -> Result
  ) throws -> Result {
    let connection = writer.connection
    try connection.withStatement("BEGIN") { try $0.run() }
    do {
      try catchUp(&writer)
      let result = try body(writer)
      try connection.withStatement("COMMIT") { try $0.run() }
      return result
    } catch {
      throw writer.noting(connection.rollBack(after: error))
    }
  }

  /// Publishes what other connections have committed, and lets observers that could not follow a
  /// commit read the file. If that fails, it reports the error, and the next commit tries again.
  func refetch(_ writer: inout Writer) {
    do {
      try writer.connection.hooks.withoutStopping { try atPublishedState(&writer) { _ in } }
    } catch {
      // They stay marked, so the next commit tries again.
      reports.send(error, afterCommit: "refetching what is observed", schema.models)
    }
  }

  /// Publishes what other connections have committed since the last time, if anything.
  ///
  /// - Precondition: A transaction is open on the writer's connection.
  func catchUp(_ writer: inout Writer) throws {
    if try writer.noticeForeignCommit() {
      publish(&writer)
    } else if broker.hasFailed {
      broker.publish(.nothing)
    }
  }

  /// Reads, on the committing thread, the state that observers are receiving. It does not see later
  /// commits of other connections.
  ///
  /// - Throws: ``StoreError`` while the file may be newer than that state. The observer is then
  ///   reset to a state that it can read.
  func readPublished<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    guard !fileIsAhead.load(ordering: .relaxed) else {
      throw StoreError(
        .database, "The file may contain later commits, so a result is read again after them.")
    }
    return try connections.writer.inside(body)
  }

  /// Runs `body`, which publishes a commit.
  ///
  /// - Parameter isAhead: Whether the file already contains later commits.
  func refusingReads<Result>(_ isAhead: Bool, _ body: () -> Result) -> Result {
    fileIsAhead.store(isAhead, ordering: .relaxed)
    defer { fileIsAhead.store(false, ordering: .relaxed) }
    return body()
  }

  /// Publishes what other connections committed: exactly, if the change journal has it.
  ///
  /// After a change of the schema, observers refetch. The journal may lack earlier changes, and a
  /// restored backup may have another journal, in which the same positions are other changes.
  ///
  /// - Parameter hasNewSchema: Whether the writer has just read a new schema.
  private func publish(_ writer: inout Writer, hasNewSchema: Bool = false) {
    // The reads of observers must not be interrupted, because observers could not catch up
    // afterwards.
    connections.writer.shield()
    defer {
      connections.writer.unshield()
      listeners.ring()
    }
    let start = monitors.isActive ? ContinuousClock.now : nil
    let observed = broker.interests().keys
    let registry = schema.models
    let models = observed.compactMap { registry.schema.knownModel(named: $0) }
      .filter { $0.kind == .table }
    let access = _TransactionAccess(
      connection: writer.connection, models: registry, capture: nil, isWritable: false)
    var announcement = ChangeBroker.Announcement.reset
    do {
      if try hasNewSchema || !writer.knowsSchema() {
        // Later commits are exact again.
        if !hasNewSchema { try schema.reload(&writer) }
        try writer.passJournal()
      } else {
        let news = try writer.foreignNews(
          of: models, newest: { try access.record($0, key: $1)?.values })
        if let news {
          announcement = ChangeBroker.Announcement(
            changes: news.changes, resetModels: news.resetModels)
        }
      }
    } catch {
      // A commit is detected only once. If it cannot be read exactly, observers refetch.
      reports.send(StoreError(reporting: schema.models.storeError(error, about: nil)))
    }
    broker.publish(announcement)
    guard let start else { return }
    let report = ForeignCommitReport(announcement, since: start)
    monitors.send(.foreignCommit(report))
    if !report.isExact { monitors.send(.resync) }
  }

  /// Makes observers refetch after a change that was not captured.
  func publishReset(_ writer: inout Writer) {
    defer {
      listeners.ring()
      monitors.send(.resync)
    }
    let connection = writer.connection
    do {
      // A stop request came too late for a change that is already committed.
      try connection.hooks.withoutStopping {
        try connection.withStatement("BEGIN") { try $0.run() }
        // The resync includes what others committed until now.
        _ = try writer.noticeForeignCommit()
        try writer.passJournal()
        StoppableCall.shielding { broker.publish(.reset) }
        try connection.withStatement("COMMIT") { try $0.run() }
      }
    } catch {
      let failure = writer.noting(connection.rollBack(after: error))
      reports.send(StoreError(reporting: schema.models.storeError(failure, about: nil)))
      StoppableCall.shielding { broker.publish(.reset) }
    }
  }
}

extension ForeignCommitReport {
  fileprivate init(
    _ announcement: ChangeBroker.Announcement, since start: ContinuousClock.Instant
  ) {
    changeCount = announcement.changes.count
    isExact = !announcement.isReset && announcement.resetModels.isEmpty
    duration = start.duration(to: .now)
  }
}
