/// One SQLite file and everything that knows about it: the front door.
///
/// A store is opened with the models, bindings and validators of the program. It may be used from
/// any thread and task. Two stores on one file in one process share everything below.
public final class Store: Sendable {
  let core: StoreCore

  /// Opens the store at `path`.
  ///
  /// - Parameters:
  ///   - models: The models of the program. Missing tables are created; see
  ///     ``StoreConfiguration/schemaChanges``.
  ///   - migrations: The program's migrations; those that the file has not had are applied first.
  ///   - bindings: Fields that the file itself keeps in sync. Installed and synchronised when new.
  ///   - rules: Rules beside those in the models' definitions. Installed when new or changed.
  ///   - validators: Rules in Swift that gate every commit through this store.
  ///   - onError: Told about failures that no caller can be told about, such as a stored value that
  ///     does not fit the type an observer expects. The default writes one line to standard error.
  /// - Throws: ``StoreError``; with code `schemaMismatch` and a list of differences when tables
  ///   exist in another form than declared; `rejected` when records break a new or changed rule.
  public init(
    at path: String, models: any Model.Type..., migrations: [Migration] = [],
    bindings: [Binding] = [], rules: [Rule] = [], validators: [Validator] = [],
    configuration: StoreConfiguration = StoreConfiguration(),
    onError: @escaping @Sendable (StoreError) -> Void = StoreError.writeToStandardError
  ) throws {
    do {
      let file = try DatabaseFile(
        path: path, creating: configuration.access == .readWriteCreate)
      core = try StoreCores.core(for: file, configuration: configuration, report: onError)
      try core.declare(
        Declarations(
          migrations: migrations, models: models.map { $0.schema }, bindings: bindings,
          rules: rules, validators: validators, changeJournal: configuration.changeJournal),
        allowing: configuration.schemaChanges)
    } catch {
      throw Self.openingError(error, path: path, access: configuration.access)
    }
  }

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

  /// Where the file is, with its directory's symbolic links resolved.
  public var path: String { core.file.path }

  /// Every model that the store knows.
  public var schema: StoreSchema { core.models.schema }

  /// Closes every connection after what runs now has ended. Later calls throw `misuse`. Dropping
  /// the last store on the file does the same.
  ///
  /// In a child of the process that opened the store this does nothing.
  public func close() {
    guard core.presence.process.isCurrent else { return }
    StoreCores.forget(core)
    core.close()
  }
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
    suppressing subscriptions: [Subscription] = [],
    _ body: (borrowing Transaction) throws -> Result
  ) throws -> Result {
    try core.commit(suppressing: core.outlets(of: subscriptions), body)
  }

  /// Runs `body` as one transaction, on the writer's thread. Cancelling the task interrupts it;
  /// then nothing was changed.
  ///
  /// - Parameter subscriptions: Who is not told of it.
  @discardableResult
  public func write<Result: Sendable>(
    suppressing subscriptions: [Subscription] = [],
    _ body: @escaping @Sendable (borrowing Transaction) throws -> Result
  ) async throws -> Result {
    let core = core
    let suppressed = try core.outlets(of: subscriptions)
    let wave = Wave.current
    let (value, count) = try await core.writer.async { writer in
      try core.countingAwaited {
        try Wave.$current.withValue(wave) {
          try core.write(&writer, ending: .commit, suppressing: suppressed, body).value
        }
      }
    }
    await core.broker.settle(count)
    return value
  }

  /// As ``write(_:)-(Transaction)``, and tells what exactly the commit changed, bound fields
  /// included.
  ///
  /// - Complexity: Reads every touched record before and after.
  public func writeReporting<Result>(
    _ body: (borrowing Transaction) throws -> Result
  ) throws -> (value: Result, changes: ChangeSet) {
    try core.settled { writer in
      try core.write(&writer, ending: .commit, reporting: true, body)
    }
  }

  /// Runs `body` and all validators as one transaction, then rolls it back: tells what a write
  /// would change or why it would be refused. Nothing is announced.
  public func preview<Result>(
    _ body: (borrowing Transaction) throws -> Result
  ) throws -> (value: Result, changes: ChangeSet) {
    try core.writer.sync { writer in
      try core.write(&writer, ending: .rollback, reporting: true, body)
    }
  }
}

// Reading.
extension Store {
  /// Runs `body` on one state of the store, on the calling thread.
  public func read<Result>(
    _ body: (borrowing ReadTransaction) throws -> Result
  ) throws -> Result {
    try core.readers.sync { connection in try core.read(connection, body) }
  }

  /// Runs `body` on one state of the store, on a reader's thread.
  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (borrowing ReadTransaction) throws -> Result
  ) async throws -> Result {
    let core = core
    return try await core.readers.async { connection in try core.read(connection, body) }
  }

  /// The records that `query` selects, in its order: one statement, so one state of the store.
  @inlinable
  public func fetch<Element>(_ query: Query<Element>) throws -> [Element] {
    var records: [Element] = []
    try single { access in
      records = try access.records(try query.selectText(), of: query.schema)
    }
    return records
  }

  /// The record with that key, or nil when there is none.
  @inlinable
  public func find<M: Model>(_ model: M.Type, _ key: M.Key) throws -> M? {
    var record: M?
    try single { access in record = try access.record(model, key: key) }
    return record
  }

  /// One statement is a read transaction of its own: <https://sqlite.org/lang_transaction.html>.
  @usableFromInline
  func single(_ body: (TransactionAccess) throws -> Void) throws {
    try core.readers.sync { connection in
      try body(
        TransactionAccess(
          connection: connection, models: core.models, capture: nil, isWritable: false))
    }
  }
}

// What the file holds.
extension Store {
  /// The bindings that the file keeps, by name, this program's and others'.
  public func bindings() throws -> [BindingSchema] {
    try core.catalogEntries(.bindings)
  }

  /// The validators in Swift that programs have declared for this file, by name. A program that
  /// lacks one cannot check it, and is told so here.
  public func declaredValidators() throws -> [DeclaredValidator] {
    let own = Set(core.validators.map(\.name))
    return try core.catalogEntries(.validators).map {
      DeclaredValidator(name: $0.name, models: $0.models, isInForce: own.contains($0.name))
    }
  }

  /// Every table and view that is no model yet, with the model it would make or the reason why not.
  public func adoptableTables() throws -> [AdoptableTable] {
    try core.adoptableTables()
  }

  /// Makes tables of an existing database models of this store. The tables themselves stay as they
  /// are; the file gets the store's catalog beside them.
  ///
  /// - Parameter tables: Their names; nil for every table and view that can be a model.
  /// - Returns: The new models, in the order of names given, or of all names.
  /// - Throws: ``StoreError`` with code `unsupportedSchema` and the reason, for a named table that
  ///   cannot be a model; then nothing is adopted.
  @discardableResult
  public func adopt(_ tables: [String]? = nil) throws -> [ModelSchema] {
    try core.adopt(tables)
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
    try core.adopt(list, of: owner)
  }
}

// Upkeep.
extension Store {
  /// Copies the write-ahead log into the database now, as far as readers allow.
  public func checkpoint() throws {
    try core.writer.sync { writer in
      do {
        try writer.checkpoint()
      } catch let error as SQLiteError {
        throw StoreError(error)
      }
    }
  }

  /// Looks for damage and broken references, as SQLite's own checks find them, and for tables that
  /// are no longer what their models say. For the records themselves see
  /// ``findings(in:keyCountMax:onProgress:)``, for bindings ``bindingFindings(keyCountMax:)``, for
  /// the triggers of added rules ``unkeptRules()``.
  ///
  /// - Returns: One sentence for each finding; empty when all is well.
  /// - Complexity: Reads the whole file.
  public func check() throws -> [String] {
    let found = try core.readers.sync { connection in
      do {
        let damage = try connection.rows("PRAGMA integrity_check") { row in try row.text(at: 0) }
        let dangling = try connection.rows("PRAGMA foreign_key_check") { row in
          "A row of \(try row.text(at: 0)) refers to a missing row of \(try row.text(at: 2))."
        }
        return damage.filter { $0 != "ok" } + dangling
      } catch let error as SQLiteError {
        throw StoreError(error)
      }
    }
    return found + (try core.drift().map(\.sentence))
  }
}
