/// One SQLite file and everything that knows about it: the front door.
///
/// A store is opened with the models, bindings and validators of the program. It may be used from
/// any thread and task. Two stores on one file in one process share everything below, but each is
/// open until it is closed itself, or dropped, and what was begun through it ends then: callbacks
/// are not called again, and loops finish. Keep the store for as long as you use it.
public final class Store: Sendable {
  let lease: StoreLease

  /// What the stores on one file share, whether this one is open or not.
  var engine: StoreEngine { lease.engine }

  /// The engine, while the store is open.
  ///
  /// - Throws: ``StoreError`` with code `misuse` once the store is closed.
  var open: StoreEngine {
    get throws { try lease.open }
  }

  /// Opens the store at `path`.
  ///
  /// - Parameters:
  ///   - models: The models of the program. Missing tables are created; see
  ///     ``StoreConfiguration/schemaChanges``.
  ///   - migrations: The program's migrations; those that the file has not had are applied first.
  ///   - bindings: Fields that the file itself keeps in sync. Installed and synchronised when new.
  ///   - rules: Rules beside those in the models' definitions. Installed when new or changed.
  ///   - validators: Rules in Swift that gate every commit through this store.
  ///   - onError: Receives failures that no caller receives, such as a stored value that does not
  ///     fit the type an observer expects, and a warning with code `unsafeLocation` when a file is
  ///     read that other users may replace. The default writes one line to standard error.
  /// - Throws: ``StoreError``; with code `schemaMismatch` and a list of differences when tables
  ///   exist in another form than declared; `rejected` when records break a new or changed rule.
  public convenience init(
    at path: String, models: any Model.Type..., migrations: [Migration] = [],
    bindings: [FieldBinding] = [], rules: [Rule] = [], validators: [Validator] = [],
    configuration: StoreConfiguration = StoreConfiguration(),
    onError: @escaping @Sendable (StoreError) -> Void = StoreError.writeToStandardError
  ) throws {
    try self.init(
      at: path,
      declaring: Declarations(
        migrations: migrations, models: models.map { $0.schema }, bindings: bindings,
        rules: rules, validators: validators, changeJournal: configuration.changeJournal),
      configuration: configuration, onError: onError)
  }

  /// Opens the store at `path` for a program whose declarations were collected before.
  package convenience init(
    at path: String, declaring declarations: Declarations, configuration: StoreConfiguration,
    onError: @escaping @Sendable (StoreError) -> Void
  ) throws {
    try self.init(declaring: declarations, configuration: configuration, name: path) {
      try StoreEngines.lease(at: path, configuration: configuration, report: onError)
    }
  }

  /// - Parameter name: What errors call the database.
  init(
    declaring declarations: Declarations, configuration: StoreConfiguration, name: String,
    leasing lend: () throws -> StoreLease
  ) throws {
    do {
      let lease = try lend()
      do {
        let catalog = lease.engine.catalog
        let isInOrder = try catalog.declare(
          declarations, allowing: configuration.schemaChanges)
        if !isInOrder { catalog.reportAdoptedDrift() }
      } catch {
        lease.end(.whenIdle)
        throw error
      }
      self.lease = lease
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
        "\(path): a program ended in the middle of a transaction, which must be rolled back before anything can be read. Open the database once for writing.",
        sqliteCode: error.code.rawValue)
    // Readers of a write-ahead log meet in a file beside it, which somebody must have made:
    // https://sqlite.org/wal.html#read_only_databases
    case let error as SQLiteError where access == .readOnly && error.code.primary == .readOnly:
      StoreError(
        .permissionDenied,
        "\(path): reading takes a -shm file beside the database, which this user may not make in its directory. Make the directory writable, or copy the database and open the copy.",
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

  /// The path of the file itself: every symbolic link was followed when the store was opened. Of a
  /// store in memory it is a name that no other store of the process has, such as `:memory:1`.
  public var path: String { engine.file.path }

  /// Whether the file has a write-ahead log, as every store has that was not opened with
  /// ``StoreConfiguration/JournalMode/asFound`` or read-only: without one, readers and writers wait
  /// for each other.
  package var usesWriteAheadLog: Bool { engine.connections.usesWriteAheadLog }

  /// Every model that the store knows.
  public var schema: StoreSchema { engine.models.schema }

  /// Ends everything that was begun through this store: no callback is called again, and sequences
  /// finish, after the changes that wait in them. Later calls throw `misuse`. Dropping the store
  /// does the same.
  ///
  /// Other stores on the file stay open. The last one closes every connection, after what runs now
  /// has ended.
  ///
  /// In a child of the process that opened the store this does nothing.
  public func close() { lease.end(.waiting) }
}

// Writing.
extension Store {
  /// Runs `body` as one transaction, on the calling thread: all of it commits, or nothing.
  ///
  /// - Parameter subscriptions: Who is not told of it, because whoever observes there has made the
  ///   change and shows it already. Their next event begins with the state after this commit;
  ///   events of earlier commits that wait still come, and are not folded with later ones.
  /// - Returns: What `body` returned, after COMMIT did.
  /// - Throws: What `body` threw; ``StoreError`` with code `rejected` when a rule refuses, `busy`
  ///   when another process holds the file for longer than the busy timeout, `outcomeUnknown` when
  ///   COMMIT failed half-way, `misuse` for a subscription of another store. Except after
  ///   `outcomeUnknown`, nothing was changed.
  @discardableResult
  public func write<Result>(
    suppressing subscriptions: [ObservationToken] = [],
    _ body: (borrowing WriteTransaction) throws -> Result
  ) throws -> Result {
    let engine = try open
    return try engine.write(suppressing: engine.outlets(of: subscriptions), body)
  }

  /// Runs `body` as one transaction, on the writer's thread. Cancelling the task interrupts it;
  /// then nothing was changed.
  ///
  /// In an async function, `try await store.write { … }` calls this form. `body` runs on another
  /// thread, so it may capture only what is Sendable. Capture values by copy, and return what you
  /// need: `let count = try await store.write { [titles] tx in … }`. To run a transaction on the
  /// thread of an async function, call a synchronous function that writes.
  ///
  /// - Parameter subscriptions: Who is not told of it.
  @discardableResult
  public func write<Result: Sendable>(
    suppressing subscriptions: [ObservationToken] = [],
    _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Result
  ) async throws -> Result {
    let engine = try open
    return try await engine.writeOnQueue(suppressing: engine.outlets(of: subscriptions), body)
  }

  /// As ``write(_:)-(WriteTransaction)``, and tells what exactly the commit changed, bound fields
  /// included.
  ///
  /// - Complexity: Reads every touched record before and after.
  public func writeReturningChanges<Result>(
    _ body: (borrowing WriteTransaction) throws -> Result
  ) throws -> (value: Result, changes: ChangeSet) {
    let engine = try open
    let cycle = WriteCycle(engine: engine, demand: .everything)
    return try engine.turns.take { writer in try cycle.run(on: &writer, body) }
  }

  /// Runs `body` and all validators as one transaction, then rolls it back: tells what a write
  /// would change or why it would be refused. Nothing is announced.
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
  /// state before it.
  public func read<Result>(
    _ body: (borrowing ReadTransaction) throws -> Result
  ) throws -> Result {
    try open.connections.readers.sync { connection in try engine.read(connection, body) }
  }

  /// Runs `body` on one state of the store, on a reader's thread.
  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (borrowing ReadTransaction) throws -> Result
  ) async throws -> Result {
    let engine = try open
    return try await engine.connections.readers.async { connection in
      try engine.read(connection, body)
    }
  }

  /// The records that `query` selects, in its order: one statement, so one state of the store.
  ///
  /// - Throws: ``StoreError`` with code `misuse` inside a write of this store; call
  ///   ``TransactionReads/fetch(_:)`` on the transaction.
  @inlinable
  public func fetch<Element>(_ query: StoreQuery<Element>) throws -> [Element] {
    var records: [Element] = []
    try single { access in
      records = try access.records(try query.selectText(), of: query.schema)
    }
    return records
  }

  /// The record with that key, or nil when there is none.
  ///
  /// - Throws: ``StoreError`` with code `misuse` inside a write of this store; call
  ///   ``TransactionReads/find(_:_:)`` on the transaction.
  @inlinable
  public func find<M: Model>(_ model: M.Type, _ key: M.Key) throws -> M? {
    var record: M?
    try single { access in record = try access.record(model, key: key) }
    return record
  }

  /// One statement is a read transaction of its own: <https://sqlite.org/lang_transaction.html>.
  @usableFromInline
  func single(_ body: (_TransactionAccess) throws -> Void) throws {
    let engine = try open
    let isWriting =
      try engine.connections.writer.isCurrent
      && engine.connections.writer.inside {
        engine.configuration.readsOnWriter ? $0.isWriting : $0.isInTransaction
      }
    guard !isWriting else {
      try engine.presence.process.check()
      throw StoreError(
        .misuse,
        "find and fetch of a store do not see the changes of a running write; inside write, call them on the transaction. Store.read sees what is committed."
      )
    }
    try engine.connections.readers.sync { connection in
      try body(
        _TransactionAccess(
          connection: connection, models: engine.models, capture: nil, isWritable: false))
    }
  }
}

// What the file holds.
extension Store {
  /// The bindings that the file keeps, by name, this program's and others'.
  public func bindings() throws -> [BindingSchema] {
    try open.catalog.catalogEntries(.bindings)
  }

  /// The validators in Swift that programs have declared for this file, by name. A program that
  /// lacks one cannot check it, and is told so here.
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
  /// ``schema``, ``bindings()``, ``rules()`` and ``declaredValidators()``, so that everything else
  /// can still be read. A store that writes refuses to open: an unknown entry may say something of
  /// any record.
  ///
  /// - Returns: One error for each entry, with code `newerFormat` or `corrupt`; for a model,
  ///   ``StoreError/model`` is its name. Empty when all entries can be read.
  public func unreadableEntries() throws -> [StoreError] {
    try open.catalog.catalogProblems()
  }

  /// Every table and view that is not a model yet, with the model it would make or the reason why
  /// not.
  ///
  /// The declared types of the columns say what their values mean, by SQLite's affinity rules and
  /// by convention: `BOOLEAN`, `DATETIME`, `DECIMAL(10,2)`. Where a declaration leaves something
  /// open, such as the form of dates, the stored values decide. ``AdoptableTable/decisions`` lists
  /// these columns.
  ///
  /// - Complexity: Reads at most ``TypeDecision/rowCountMax`` rows of each table that has such
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
  ///   - types: What fields mean, instead of what adoption decides. The models are among `tables`
  ///     or were adopted before. Each stored value is compared with the new type.
  /// - Returns: The new models, in the order of names given, or of all names.
  /// - Throws: ``StoreError`` with code `unsupportedSchema` and the reason, for a named table that
  ///   cannot be a model, for a type that the column does not keep, and for a type with which a
  ///   binding could not be kept; `invalidValue`, saying how many, when stored values do not fit a
  ///   type. Then nothing is adopted and no type is set.
  @discardableResult
  public func adopt(
    _ tables: [String]? = nil, types: [TypeChoice] = []
  ) throws -> [ModelSchema] {
    try open.catalog.adopt(tables, types: types)
  }

  /// What ``adopt(_:types:)`` would record for a choice, without writing.
  ///
  /// - Throws: ``StoreError`` as ``adopt(_:types:)`` does.
  /// - Complexity: Reads the column of all rows.
  package func typeDecision(_ choice: TypeChoice) throws -> TypeDecision {
    try open.catalog.decisions([choice])[0]
  }

  /// What ``adopt(_:types:)`` would record for choices that are made together, without writing.
  ///
  /// - Returns: In the order of `choices`.
  /// - Throws: ``StoreError`` as ``adopt(_:types:)`` does.
  /// - Complexity: Reads each column of all rows.
  package func typeDecisions(_ choices: [TypeChoice]) throws -> [TypeDecision] {
    try open.catalog.decisions(choices)
  }

  /// Makes the rows of a table of an existing database ordered lists: those of one owner, in the
  /// order of an integer column. The table itself stays as it is; the file's catalog remembers the
  /// list. Afterwards the table is no model by its own name, but the slots of the list.
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
  ///   - list: With ``ListSchema/columns``.
  ///   - owner: The name of an adopted model. A model of a Swift type declares its lists itself;
  ///     see ``ModelList``.
  /// - Returns: The model of the slots, called `owner.list`, with a field for each column.
  /// - Throws: ``StoreError`` with code `unsupportedSchema` and the reason, when rows of the table
  ///   cannot be slots; `configurationConflict` when the owner has such a list, or a binding or
  ///   rule speaks of the table; `unknownModel`. Then nothing is adopted.
  @discardableResult
  public func adopt(_ list: ListSchema, of owner: String) throws -> ModelSchema {
    try open.catalog.adopt(list, of: owner)
  }
}

// Upkeep.
extension Store {
  /// The version of the SQLite library that this process uses, such as "3.51.3".
  public static var sqliteVersion: String { Connection.libraryVersion }

  /// Copies the write-ahead log into the database now, as far as readers allow.
  public func checkpoint() throws {
    try open.connections.writer.sync { writer in
      do {
        try writer.checkpoint()
      } catch let error as SQLiteError {
        throw StoreError(error).following(
          "Every commit stands; copying the write-ahead log into the database failed")
      }
    }
  }

  /// Looks for damage and broken references, as SQLite's own checks find them, and for tables that
  /// are no longer what programs declare. For the tables of adopted models see ``adoptedDrift()``.
  /// For the records themselves see ``findings(in:maxKeyCount:onProgress:)``, for bindings
  /// ``bindingFindings(maxKeyCount:)``, for the triggers of added rules ``schemaDrift()``.
  ///
  /// A table that needs a function or collation which only the program that made it has cannot be
  /// checked.
  ///
  /// - Parameter onUncheckedTable: Called with the reason for each such table. Without it, the
  ///   reason is one of the findings.
  /// - Returns: One sentence for each finding; empty when all is well.
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
