// Asynchronous forms of opening, writing and reading. Swift picks them in asynchronous functions.
extension Store {
  /// Opens the store at `path` without blocking the task's thread, for example the main actor's.
  ///
  /// - Parameter models: The models of the program. The other parameters are those of the
  ///   synchronous form.
  /// - Throws: As the synchronous form; `CancellationError` if you cancel the task. If tables were
  ///   being copied, they are as before.
  public convenience init(
    at path: String, models: any Model.Type..., migrations: [Migration] = [],
    bindings: [FieldBinding] = [], rules: [Rule] = [], validators: [Validator] = [],
    configuration: StoreConfiguration = StoreConfiguration(),
    onError: @escaping @Sendable (StoreError) -> Void = StoreError.writeToStandardError
  ) async throws {
    try await self.init(
      at: path, models: models, migrations: migrations, bindings: bindings, rules: rules,
      validators: validators, configuration: configuration, onError: onError)
  }

  /// Opens the store at `path` with an array of models, without blocking the task's thread.
  ///
  /// - Throws: As the form with a list of models.
  public convenience init(
    at path: String, models: [any Model.Type], migrations: [Migration] = [],
    bindings: [FieldBinding] = [], rules: [Rule] = [], validators: [Validator] = [],
    configuration: StoreConfiguration = StoreConfiguration(),
    onError: @escaping @Sendable (StoreError) -> Void = StoreError.writeToStandardError
  ) async throws {
    let declarations = Declarations(
      migrations: migrations, models: models, bindings: bindings, rules: rules,
      validators: validators, changeJournal: configuration.changeJournal)
    self.init(
      try await BlockingCalls().run {
        try Self.lease(
          at: path, declaring: declarations, configuration: configuration, onError: onError)
      })
  }

  /// Opens a new, empty store in memory, as the synchronous form does.
  ///
  /// - Throws: As the synchronous form; `CancellationError` if you cancel the task.
  public static func inMemory(
    models: any Model.Type..., migrations: [Migration] = [], bindings: [FieldBinding] = [],
    rules: [Rule] = [], validators: [Validator] = [],
    configuration: StoreConfiguration = StoreConfiguration(),
    onError: @escaping @Sendable (StoreError) -> Void = StoreError.writeToStandardError
  ) async throws -> Store {
    try await inMemory(
      models: models, migrations: migrations, bindings: bindings, rules: rules,
      validators: validators, configuration: configuration, onError: onError)
  }

  /// Opens a new, empty store in memory with an array of models, as the synchronous form does.
  ///
  /// - Throws: As the form with a list of models.
  public static func inMemory(
    models: [any Model.Type], migrations: [Migration] = [], bindings: [FieldBinding] = [],
    rules: [Rule] = [], validators: [Validator] = [],
    configuration: StoreConfiguration = StoreConfiguration(),
    onError: @escaping @Sendable (StoreError) -> Void = StoreError.writeToStandardError
  ) async throws -> Store {
    try await BlockingCalls().run {
      try inMemory(
        models: models, migrations: migrations, bindings: bindings, rules: rules,
        validators: validators, configuration: configuration, onError: onError)
    }
  }

  /// Closes the store as the synchronous form does, also if you cancel the task.
  public func close() async {
    await BlockingCalls.runToEnd { [self] in close() }
  }
}

// Writing.
extension Store {
  /// Commits and returns the exact changes, as the synchronous form does.
  ///
  /// - Throws: As the synchronous form; `CancellationError` if you cancel the task. Then nothing
  ///   was changed.
  public func writeReturningChanges<Result: Sendable>(
    _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Result
  ) async throws -> (value: Result, changes: ChangeSet) {
    let engine = try lease.openForWriting
    let cycle = WriteCycle(
      engine: engine, demand: .everything, timer: engine.monitors.timeWrite())
    return try await cycle.timer.reportingOnQueue {
      try await engine.turns.takeOnQueue { writer in try cycle.run(on: &writer, body) }
    }
  }

  /// Returns what a write would change, as the synchronous form does, and changes nothing.
  ///
  /// - Throws: As the synchronous form; `CancellationError` if you cancel the task.
  public func preview<Result: Sendable>(
    _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Result
  ) async throws -> (value: Result, changes: ChangeSet) {
    try await open.calls.run { [self] in try preview(body) }
  }
}

// Reading.
extension Store {
  /// Returns the records that `query` selects, in its order: one statement, so one state of the
  /// store.
  ///
  /// It reads on the task's thread if everything is in memory and it takes about 100 µs at most.
  /// Otherwise it begins again on a reader's thread. Queries with SQL text, and those of a view,
  /// always run there: SQLite may take long for one step of them.
  ///
  /// - Throws: ``StoreError``; `CancellationError` if you cancel the task.
  @inlinable
  public func fetch<Element>(_ query: StoreQuery<Element>) async throws -> [Element] {
    try await singleAwaited(mayReadAtOnce: query.hasShortSteps) { runner in
      try runner.records(try query.selectText(), of: query.schema)
    }
  }

  /// Returns the record with that key, or nil if there is none. It reads as ``fetch(_:)`` does.
  ///
  /// - Throws: ``StoreError``; `CancellationError` if you cancel the task.
  @inlinable
  public func find<M: Model>(_ model: M.Type, _ key: M.Key) async throws -> M? {
    try await singleAwaited { runner in try runner.record(model, key: key) }
  }

  /// Returns the number of records that `query` selects.
  ///
  /// - Throws: ``StoreError``; `CancellationError` if you cancel the task.
  public func count<Element>(_ query: StoreQuery<Element>) async throws -> Int {
    try await read { reads in try reads.count(query) }
  }

  /// Runs one statement, which is a read transaction of its own: at once if it need not wait,
  /// otherwise on a reader's thread.
  ///
  /// - Parameters:
  ///   - mayReadAtOnce: Whether SQLite can be stopped soon while it runs the statement.
  ///   - body: May run twice.
  @usableFromInline
  func singleAwaited<Result: Sendable>(
    mayReadAtOnce: Bool = true, _ body: @escaping @Sendable (StatementRunner) throws -> Result
  ) async throws -> Result {
    let engine = try open
    let connections = engine.connections
    @Sendable func run(on connection: Connection) throws -> Result {
      try body(
        StatementRunner(
          connection: connection, models: engine.models, capture: nil, lists: nil,
          isWritable: false))
    }
    if mayReadAtOnce, connections.usesWriteAheadLog, !Task.isCancelled {
      let timer = engine.monitors.timeRead()
      let read = connections.readers.atOnce { connection in
        try timer.timing(on: connection) { try run(on: connection) }
      }
      if let read {
        timer.report(read.success)
        return read.result
      }
    }
    // After the attempt, which is no time that the read waited for a reader.
    let timer = engine.monitors.timeRead()
    return try await connections.readers.async { connection in
      try timer.reporting(on: connection) { try run(on: connection) }
    }
  }

  /// Returns the content hash of the store's records, as the synchronous form does.
  public func contentHash() async throws -> ContentHash {
    try await read { reads in try reads.contentHash() }
  }

  /// Returns the content hash of all records of a model, as the synchronous form does.
  public func contentHash<M: Model>(of model: M.Type) async throws -> ContentHash {
    try await read { reads in try reads.contentHash(of: model) }
  }

  /// Returns the content hash of the records that `query` selects, as the synchronous form does.
  public func contentHash<Element>(of query: StoreQuery<Element>) async throws -> ContentHash {
    try await read { reads in try reads.contentHash(of: query) }
  }

  /// Returns the rules that a record or draft would break if it were written now, as the
  /// synchronous form does.
  public func violations<Value: Insertable>(of value: Value) async throws -> [Violation] {
    try await read { reads in try reads.violations(of: value) }
  }
}

// Upkeep.
extension Store {
  /// Copies the write-ahead log into the database now, as the synchronous form does.
  public func checkpoint() async throws {
    try await open.calls.run { [self] in try checkpoint() }
  }

  /// Checks the file for damage and broken references, as the synchronous form does.
  ///
  /// - Parameter onUncheckedTable: Called on a thread of the store.
  public func checkIntegrity(
    onUncheckedTable: (@Sendable (StoreError) throws -> Void)? = nil
  ) async throws -> [String] {
    try await open.calls.run { [self] in
      try checkIntegrity(onUncheckedTable: onUncheckedTable)
    }
  }

  /// Waits until every commit so far has been delivered to every callback.
  public func waitForDelivery() async {
    await engine.broker.delivered()
  }

  /// Waits as ``waitForDelivery()`` until callbacks have no further writes to deliver.
  public func waitUntilQuiet() async {
    await engine.broker.answered()
  }

  /// Polls for commits of other processes, as the synchronous form does.
  public func refresh() async throws {
    try await open.calls.run { [self] in try refresh() }
  }
}
