/// A store: one SQLite file, opened with the models, bindings and validators of your program.
///
/// Use it from any thread and task. Several stores in one process can share one file. They then
/// share one engine, but each is closed separately. Closing or dropping a store ends the
/// observations that began through it: callbacks are not called again, and loops finish. Keep the
/// store for as long as you use it.
///
/// Each call that may wait for the file or for another thread has a synchronous and an asynchronous
/// form. In an asynchronous function, Swift picks the asynchronous one, which blocks no thread of
/// your tasks. In a synchronous closure it picks the other, which blocks the calling thread. If you
/// cancel the task of an asynchronous call, the call stops and throws `CancellationError`.
public final class Store: Sendable {
  let lease: StoreLease

  /// The engine that all stores on one file share. It stays available after this store is closed.
  var engine: StoreEngine { lease.engine }

  /// The engine, while the store is open.
  ///
  /// - Throws: ``StoreError`` with code `misuse` once the store is closed.
  var open: StoreEngine {
    get throws { try lease.open }
  }

  /// Whether it was closed.
  package var isClosed: Bool { lease.scope.hasEnded }

  /// Opens the store at `path`.
  ///
  /// - Parameters:
  ///   - models: The models of the program. Missing tables are created; see
  ///     ``StoreConfiguration/schemaChanges``.
  ///   - migrations: The program's migrations. Those that the file does not have yet are applied
  ///     first. Pass the same list in every program that may create the file.
  ///   - bindings: Fields that the file itself keeps in sync. Installed and synchronised when new.
  ///   - rules: Rules in addition to those in the models' definitions. Installed when new or
  ///     changed.
  ///   - validators: Rules in Swift that check every commit through this store.
  ///   - onError: Receives failures that no caller receives. For example, a stored value that does
  ///     not fit the type that an observer expects, or a warning with code `unsafeLocation` when
  ///     other users may replace the file. The default writes one line to standard error.
  /// - Throws: ``StoreError`` with code `schemaMismatch` and a list of differences when existing
  ///   tables differ from their declarations; `rejected` when records break a new or changed rule.
  ///   What a migration in Swift throws is thrown unchanged.
  public convenience init(
    at path: String, models: any Model.Type..., migrations: [Migration] = [],
    bindings: [FieldBinding] = [], rules: [Rule] = [], validators: [Validator] = [],
    configuration: StoreConfiguration = StoreConfiguration(),
    onError: @escaping @Sendable (StoreError) -> Void = StoreError.writeToStandardError
  ) throws {
    try self.init(
      at: path, models: models, migrations: migrations, bindings: bindings, rules: rules,
      validators: validators, configuration: configuration, onError: onError)
  }

  /// Opens the store at `path` with an array of models, for example the models of several modules.
  ///
  /// - Throws: As the form with a list of models.
  public convenience init(
    at path: String, models: [any Model.Type], migrations: [Migration] = [],
    bindings: [FieldBinding] = [], rules: [Rule] = [], validators: [Validator] = [],
    configuration: StoreConfiguration = StoreConfiguration(),
    onError: @escaping @Sendable (StoreError) -> Void = StoreError.writeToStandardError
  ) throws {
    try self.init(
      at: path,
      declaring: Declarations(
        migrations: migrations, models: models, bindings: bindings, rules: rules,
        validators: validators, changeJournal: configuration.changeJournal),
      configuration: configuration, onError: onError)
  }

  /// Opens the store at `path` with declarations that were collected before.
  package convenience init(
    at path: String, declaring declarations: Declarations, configuration: StoreConfiguration,
    onError: @escaping @Sendable (StoreError) -> Void
  ) throws {
    self.init(
      try Self.lease(
        at: path, declaring: declarations, configuration: configuration, onError: onError))
  }

  init(_ lease: StoreLease) {
    self.lease = lease
  }

  /// A lease of the file at `path`, which has the declarations.
  static func lease(
    at path: String, declaring declarations: Declarations, configuration: StoreConfiguration,
    onError: @escaping @Sendable (StoreError) -> Void
  ) throws -> StoreLease {
    var declarations = declarations
    func leased() throws -> StoreLease {
      try lease(declaring: declarations, configuration: configuration, name: path) {
        try configuration.ledger?.join(at: path, configuration)
        return try StoreEngines.lease(at: path, configuration: configuration, report: onError)
      }
    }
    guard let ledger = configuration.ledger else { return try leased() }
    var attempts = 3
    while true {
      attempts -= 1
      do {
        return try leased()
      } catch let unfit as UnfitMember {
        guard attempts > 0 else { throw unfit.reason }
        do {
          if let notice = try ledger.rebuild(path, configuration, because: unfit) {
            onError(notice)
          }
        } catch let error as StoreError
          where !ledger.rebuildsMembers || unfit.coverage != .unknown
        {
          // It can be read as it is. The next opening tries again.
          onError(error)
          declarations.unfitMember = .keep
        }
      } catch let outdated as OutdatedSharedSchema {
        guard attempts > 0 else { throw outdated.reason }
        let change = try ledger.changeSchema(
          of: path, declaring: declarations, configuration, report: onError)
        // If that was not enough, a second change is not, either.
        if change == .made { attempts = min(attempts, 1) }
      }
    }
  }

  /// A lease of what `lend` opens, which has the declarations.
  ///
  /// - Parameter name: What errors call the database.
  static func lease(
    declaring declarations: Declarations, configuration: StoreConfiguration, name: String,
    leasing lend: () throws -> StoreLease
  ) throws -> StoreLease {
    var declarations = declarations
    declarations.progress = configuration.schemaProgress
    do {
      let lease = try lend()
      do {
        try lease.engine.declare(declarations, allowing: configuration.schemaChanges)
      } catch {
        // The file of a member may be replaced then.
        let isRepeated = error is UnfitMember || error is OutdatedSharedSchema
        lease.end(isRepeated ? .waiting : .whenIdle)
        throw error
      }
      return lease
    } catch {
      throw Self.openingError(error, path: name, access: configuration.access)
    }
  }

  deinit { lease.endObservations() }

  private static func openingError(
    _ error: any Error, path: String, access: StoreConfiguration.Access
  ) -> any Error {
    switch error {
    case let problem as DatabaseFile.Problem: problem.storeError
    // https://sqlite.org/rescode.html#readonly_rollback
    case let error as SQLiteError where error.code == .readOnlyRollback:
      StoreError(
        .readOnly,
        "\(path): a program ended in the middle of a transaction, which must be rolled back before the file can be read. Open the database once for writing.",
        sqliteCode: error.code.rawValue)
    // Readers of a write-ahead log share a file beside it, which must exist already:
    // https://sqlite.org/wal.html#read_only_databases
    case let error as SQLiteError where access == .readOnly && error.code.primary == .readOnly:
      StoreError(
        .permissionDenied,
        "\(path): reading needs a -shm file beside the database, and this user may not create it in that directory. Make the directory writable, or copy the database and open the copy.",
        sqliteCode: error.code.rawValue)
    case let error as SQLiteError:
      {
        var error = StoreError(error)
        error.message = "\(path): \(error.message)"
        return error
      }()
    default: error
    }
  }

  /// The path of the file itself. Symbolic links were resolved when the store was opened. For a
  /// store in memory, a name that no other store of the process has, such as `:memory:1`.
  public var path: String { engine.file.path }

  /// Whether the file has a write-ahead log. Without it, readers and writers wait for each other.
  /// Only a store opened with ``StoreConfiguration/JournalMode/asFound`` or read-only may have
  /// none.
  package var usesWriteAheadLog: Bool { engine.connections.usesWriteAheadLog }

  /// Every model that the store knows.
  public var schema: StoreSchema { engine.models.schema }

  /// Closes the store. No callback is called again. Sequences finish after the changes that are
  /// already queued. Later calls throw `misuse`. Dropping the store does the same.
  ///
  /// Other stores on the file stay open. The last one closes every connection, after the current
  /// work has ended.
  ///
  /// In a child of the process that opened the store, this does nothing.
  public func close() { lease.end(.waiting) }

  /// Closes the store and removes the empty log that reading leaves beside the file, if no program
  /// uses the file any more.
  package func closeRemovingEmptyLog() {
    let path = path
    close()
    EmptyLog.remove(beside: path)
  }
}

// Writing.
extension Store {
  /// Runs `body` as one transaction, on the calling thread. If `body` returns, the transaction
  /// commits; if it throws, it rolls back.
  ///
  /// - Parameter subscriptions: Subscriptions that are not notified of this commit, because their
  ///   observer made the change and already shows it. Their next event begins with the state after
  ///   this commit. Queued events of earlier commits are still delivered, and are not coalesced
  ///   with later ones.
  /// - Returns: The result of `body`, after COMMIT succeeded.
  /// - Throws: The error of `body`; ``StoreError`` with code `rejected` when a rule refuses the
  ///   change, `busy` when another process locks the file for longer than the busy timeout,
  ///   `outcomeUnknown` when COMMIT failed half-way, `misuse` for a subscription of another store.
  ///   Except after `outcomeUnknown`, nothing was changed.
  @discardableResult
  @inlinable
  public func write<Result>(
    suppressing subscriptions: [ObservationToken] = [],
    _ body: (borrowing WriteTransaction) throws -> Result
  ) throws -> Result {
    // Inlinable because the caller's compiler knows the type of the result. Where it is unknown,
    // each use looks it up.
    var value: Result?
    try commit(suppressing: subscriptions) { tx in value = try body(tx) }
    guard let value else { preconditionFailure("A write that succeeds has run its body.") }
    return value
  }

  @usableFromInline
  func commit(
    suppressing subscriptions: [ObservationToken],
    _ body: (borrowing WriteTransaction) throws -> Void
  ) throws {
    let engine = try lease.openForWriting
    try engine.commit(suppressing: engine.outlets(of: subscriptions), body)
  }

  /// Runs `body` as one transaction, on the writer's thread. If you cancel the task, the running
  /// statement stops, nothing is changed, and the call throws `CancellationError`.
  ///
  /// In an async function, `try await store.write { … }` calls this form. `body` runs on another
  /// thread, so it may capture only Sendable values. Capture values by copy, and return what you
  /// need: `let count = try await store.write { [titles] tx in … }`. To run a transaction on the
  /// thread of an async function, call a synchronous function that writes.
  ///
  /// Writes that wait at the same time share one COMMIT, and so one sync of the disk. Each is still
  /// a write of its own. It is validated, refused, recorded and published alone, in the order in
  /// which they began to wait, and it returns after the COMMIT. Two things differ. Use
  /// ``writeAlone(_:)`` to avoid them:
  ///
  /// - If a write makes SQLite roll back everything, for example by a trigger with
  ///   `RAISE(ROLLBACK)`, the writes that share its COMMIT throw `busy` and can be tried again.
  /// - If you cancel the task, a statement that changes records runs to its end before the write is
  ///   undone. A `body` must not wait for the return of another write.
  ///
  /// - Parameter subscriptions: Subscriptions that are not notified of this commit. Such a write
  ///   runs alone.
  @discardableResult
  public func write<Result: Sendable>(
    suppressing subscriptions: [ObservationToken] = [],
    _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Result
  ) async throws -> Result {
    let engine = try lease.openForWriting
    guard subscriptions.isEmpty else {
      return try await engine.writeOnQueue(suppressing: engine.outlets(of: subscriptions), body)
    }
    return try await engine.line.write(on: engine, body)
  }

  /// Runs `body` as the asynchronous `write(_:)` does, in a transaction that no other write shares.
  /// Use it for a long import, or for a body that may make SQLite roll everything back.
  @discardableResult
  public func writeAlone<Result: Sendable>(
    _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Result
  ) async throws -> Result {
    try await lease.openForWriting.writeOnQueue(body)
  }

  /// Runs `body` as `write(_:)` does, and also returns the changes of the
  /// commit, bound fields included.
  ///
  /// - Complexity: Reads every touched record before and after.
  public func writeReturningChanges<Result>(
    _ body: (borrowing WriteTransaction) throws -> Result
  ) throws -> (value: Result, changes: ChangeSet) {
    let engine = try lease.openForWriting
    let cycle = WriteCycle(
      engine: engine, demand: .everything, timer: engine.monitors.timeWrite())
    return try cycle.timer.reporting {
      try engine.turns.take { writer in try cycle.run(on: &writer, body) }
    }
  }

  /// Runs `body` and all validators as one transaction, then rolls it back. Returns the changes
  /// that a write would make, or throws the error that it would throw. Observers are not notified.
  public func preview<Result>(
    _ body: (borrowing WriteTransaction) throws -> Result
  ) throws -> (value: Result, changes: ChangeSet) {
    let engine = try open
    return try engine.preview(capturing: .everything, body)
  }
}

// Reading.
extension Store {
  /// Runs `body` on one state of the store, on the calling thread. Inside a write, that is the
  /// state before the write.
  public func read<Result>(
    _ body: (borrowing ReadTransaction) throws -> Result
  ) throws -> Result {
    let engine = try open
    let timer = engine.monitors.timeRead()
    return try engine.connections.readers.sync { connection in
      try timer.reporting(on: connection) { try engine.read(connection, body) }
    }
  }

  /// Runs `body` on one state of the store, on a reader's thread.
  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (borrowing ReadTransaction) throws -> Result
  ) async throws -> Result {
    let engine = try open
    let timer = engine.monitors.timeRead()
    return try await engine.connections.readers.async { connection in
      try timer.reporting(on: connection) { try engine.read(connection, body) }
    }
  }

  /// Returns the records that `query` selects, in its order. It is one statement, so all records
  /// are from the same state.
  ///
  /// - Throws: ``StoreError`` with code `misuse` inside a write of this store; call
  ///   ``TransactionReads/fetch(_:)`` on the transaction.
  @inlinable
  public func fetch<Element>(_ query: StoreQuery<Element>) throws -> [Element] {
    var records: [Element] = []
    try single { runner in
      records = try runner.records(try query.selectText(), of: query.schema)
    }
    return records
  }

  /// Returns the record with that key, or nil if it does not exist.
  ///
  /// - Throws: ``StoreError`` with code `misuse` inside a write of this store; call
  ///   ``TransactionReads/find(_:_:)`` on the transaction.
  @inlinable
  public func find<M: Model>(_ model: M.Type, _ key: M.Key) throws -> M? {
    var record: M?
    try single { runner in record = try runner.record(model, key: key) }
    return record
  }

  /// Returns the number of records that `query` selects.
  ///
  /// - Throws: ``StoreError`` with code `misuse` inside a write of this store; call
  ///   ``TransactionReads/count(_:)`` on the transaction.
  public func count<Element>(_ query: StoreQuery<Element>) throws -> Int {
    try read { reads in try reads.count(query) }
  }

  /// One statement is a read transaction of its own: <https://sqlite.org/lang_transaction.html>.
  @usableFromInline
  func single(_ body: (StatementRunner) throws -> Void) throws {
    let engine = try open
    // While no body runs on the writer's queue, the caller is not inside one.
    let isWriting =
      try !engine.connections.writer.isIdle && engine.connections.writer.isCurrent
      && engine.connections.writer.inside {
        engine.configuration.readsOnWriter ? $0.isWriting : $0.isInTransaction
      }
    guard !isWriting else {
      try engine.presence.process.check()
      throw StoreError(
        .misuse,
        "find and fetch of a store do not see the changes of a running write. Inside write, call them on the transaction. Store.read sees the committed state."
      )
    }
    let timer = engine.monitors.timeRead()
    try engine.connections.readers.use { connection in
      try timer.reporting(on: connection) {
        try body(
          StatementRunner(
            connection: connection, models: engine.models, capture: nil, lists: nil,
            isWritable: false))
      }
    }
  }
}

// The contents of the file.
extension Store {
  /// Returns all bindings of the file, by name, including those of other programs.
  public func bindings() throws -> [BindingSchema] {
    try open.catalog.catalogEntries(.bindings)
  }

  /// Returns the validators in Swift that programs have declared for this file, by name. A program
  /// that lacks one of them cannot run it, and finds its name here.
  package func declaredValidators() throws -> [DeclaredValidator] {
    let engine = try open
    let own = Set(engine.schema.validators.map(\.name))
    return try engine.catalog.catalogEntries(.validators).map {
      DeclaredValidator(name: $0.name, models: $0.models, isInForce: own.contains($0.name))
    }
  }

  /// Returns why parts of the file's catalog cannot be read: a newer library wrote them, or they
  /// are damaged.
  ///
  /// A store opened with ``StoreConfiguration/Access/readOnly`` leaves such parts out of
  /// ``schema``, ``bindings()`` and ``rules()``, so that everything else
  /// can still be read. A store that writes refuses to open, because an unknown entry may affect
  /// any record.
  ///
  /// - Returns: One error for each entry, with code `newerFormat` or `corrupt`; for a model,
  ///   ``StoreError/model`` is its name. Empty when all entries can be read.
  public func unreadableEntries() throws -> [StoreError] {
    try open.catalog.catalogProblems()
  }

  /// Returns every table and view that is not a model yet, with its possible model or the reason
  /// why it cannot become one.
  ///
  /// The types of the fields follow from the declared types of the columns, by SQLite's affinity
  /// rules and by convention: `BOOLEAN`, `DATETIME`, `DECIMAL(10,2)`. If a declaration leaves
  /// something open, such as the form of dates, the stored values decide.
  ///
  /// - Complexity: Reads at most 10,000 rows of each table that has such
  ///   columns.
  public func adoptableTables() throws -> [AdoptableTable] {
    try open.catalog.adoptableTables()
  }

  /// Makes tables of an existing database models of this store, and sets the types of fields.
  ///
  /// The tables themselves stay as they are; the file gets the store's catalog beside them.
  ///
  /// ```swift
  /// try store.adopt(["account"])
  /// let choice = TypeChoice(model: "account", field: "is_active", type: .boolean)
  /// try store.adopt([], types: [choice])
  /// ```
  ///
  /// - Parameters:
  ///   - tables: Their names; nil for every table and view that can be a model.
  ///   - types: Types of fields, instead of those that adoption decides. The models are among
  ///     `tables` or were adopted before. Each stored value is compared with the new type.
  /// - Returns: The new models, in the order of the given names, or ordered by name.
  /// - Throws: ``StoreError`` with code `unsupportedSchema` and the reason, for a named table that
  ///   cannot be a model, for a type that the column cannot store, and for a type that prevents a
  ///   binding; `invalidValue` with a count when stored values do not fit a type. Then nothing is
  ///   adopted and no type is set.
  @discardableResult
  public func adopt(
    _ tables: [String]? = nil, types: [TypeChoice] = []
  ) throws -> [ModelSchema] {
    try open.catalog.adopt(tables, types: types)
  }

  /// Returns the decision that ``adopt(_:types:)`` would record for a choice, without writing.
  ///
  /// - Throws: ``StoreError`` as ``adopt(_:types:)`` does.
  /// - Complexity: Reads the column of all rows.
  package func typeDecision(_ choice: TypeChoice) throws -> TypeDecision {
    try open.catalog.decisions([choice])[0]
  }

  /// Returns the decisions that ``adopt(_:types:)`` would record for several choices together,
  /// without writing.
  ///
  /// - Returns: In the order of `choices`.
  /// - Throws: ``StoreError`` as ``adopt(_:types:)`` does.
  /// - Complexity: Reads each column of all rows.
  package func typeDecisions(_ choices: [TypeChoice]) throws -> [TypeDecision] {
    try open.catalog.decisions(choices)
  }

  /// Makes the rows of a table of an existing database ordered lists. Each list holds the rows of
  /// one owner, in the order of an integer column.
  ///
  /// The table itself stays as it is; the file's catalog stores the list. Afterwards the table is
  /// not a model under its own name: it holds the slots of the list.
  ///
  /// ```swift
  /// try store.adopt(
  ///   ListSchema(
  ///     name: "tracks", elementTable: "Track", slotTable: "PlaylistEntry",
  ///     columns: .init(owner: "PlaylistId", element: "TrackId", position: "Position")),
  ///   of: "Playlist")
  /// ```
  ///
  /// - Parameters:
  ///   - list: With the columns of its table.
  ///   - owner: The name of an adopted model. A model of a Swift type declares its lists itself;
  ///     see ``ModelList``.
  /// - Returns: The model of the slots, called `owner.list`, with a field for each column.
  /// - Throws: ``StoreError`` with code `unsupportedSchema` and the reason, when rows of the table
  ///   cannot be slots; `configurationConflict` when the owner has such a list, or a binding or
  ///   rule refers to the table; `unknownModel`. Then nothing is adopted.
  @discardableResult
  public func adopt(_ list: ListSchema, of owner: String) throws -> ModelSchema {
    try open.catalog.adopt(list, of: owner)
  }
}

// Maintenance.
extension Store {
  /// The version of the SQLite library that this process uses, such as "3.51.3".
  public static var sqliteVersion: String { Connection.libraryVersion }

  /// Copies the write-ahead log into the database now, as far as readers allow.
  public func checkpoint() throws {
    let engine = try open
    try engine.connections.writer.sync { writer in
      do {
        try engine.maintenance.monitoringCheckpoint(&writer) { writer in
          try writer.checkpoint()
          return true
        }
      } catch let error as SQLiteError {
        throw StoreError(error).following(
          "Every commit is complete; copying the write-ahead log into the database failed")
      }
    }
  }

  /// Checks the file for damage and broken references with SQLite's own checks, and for tables that
  /// differ from their declarations.
  ///
  /// Other checks cover the rest: ``adoptedDrift()`` the tables of adopted models,
  /// ``findings(in:maxKeyCount:onProgress:)`` the records, ``bindingFindings(maxKeyCount:)`` the
  /// bindings, and ``schemaDrift()`` the triggers of added rules.
  ///
  /// A table cannot be checked if it needs a function or collation that only another program has.
  ///
  /// - Parameter onUncheckedTable: Called with the reason for each such table. Without it, the
  ///   reason is one of the findings.
  /// - Returns: One sentence for each finding; empty when there are none.
  /// - Complexity: Reads the whole file.
  public func checkIntegrity(onUncheckedTable: ((StoreError) throws -> Void)? = nil) throws
    -> [String]
  {
    var unchecked: [String] = []
    let found = try damage { error in
      guard let onUncheckedTable else { return unchecked.append(error.message) }
      try onUncheckedTable(error)
    }
    return try found + unchecked + schemaDrift(of: [.models]).flatMap(\.sentences)
  }

  /// As ``checkIntegrity(onUncheckedTable:)``, without tables that differ from their models.
  package func damage(onUncheckedTable: (StoreError) throws -> Void) throws -> [String] {
    try IntegrityCheck(engine: open).damage(onUncheckedTable: onUncheckedTable)
  }
}
