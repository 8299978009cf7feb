// Copies of the file.
extension Store {
  /// Copies the store to a file, while this and other programs go on writing.
  ///
  /// ```swift
  /// let backup = try store.backup(to: "backup.db", existing: .replace)
  /// ```
  ///
  /// The backup is one state of the store: every commit up to ``Backup/position``, and nothing
  /// later. It is read again and checked for damage. Then it appears under its name, complete or
  /// not at all, also after a crash. It is one file without a log, with the same models, rules,
  /// bindings, consumers and change journal.
  ///
  /// - Parameters:
  ///   - path: The path of the backup. Only you can read a new file.
  ///   - existing: What happens if there is a file at `path`.
  ///   - onProgress: Called on this thread during the copy, with the pages copied and their number.
  ///     To stop the backup, throw an error.
  /// - Throws: ``StoreError`` with code `fileExists`; `misuse` if `path` belongs to an open store;
  ///   `busy` if a program has the file open that the backup would replace; `unsafeLocation` if
  ///   other users can replace files in its directory; `corrupt` if the copy has damage;
  ///   `outOfSpace`. Or the error of `onProgress`. Then there is no new file at `path`. Only if the
  ///   directory cannot be written to the disk at the end, the copy is there, as the error says.
  /// - Complexity: Reads the whole file, and the backup again for its verification. Meanwhile the
  ///   log is not reused. A store with a rollback journal cannot be written meanwhile.
  @discardableResult
  public func backup(
    to path: String, existing: ExistingFile = .keep,
    onProgress: (_ done: Int, _ all: Int) throws -> Void = { _, _ in }
  ) throws -> Backup {
    try StoreCopying(engine: open).backUp(to: path, existing: existing, onProgress: onProgress)
  }

  /// Copies the store to a file; see ``backup(to:existing:onProgress:)``. If you cancel
  /// the task, there is no new file.
  ///
  /// - Parameter onProgress: Called on a thread of the store.
  @discardableResult
  public func backup(
    to path: String, existing: ExistingFile = .keep,
    onProgress: @escaping @Sendable (_ done: Int, _ all: Int) throws -> Void = { _, _ in }
  ) async throws -> Backup {
    try await open.calls.run { [self] in
      try backup(to: path, existing: existing, onProgress: onProgress)
    }
  }

  /// Replaces the content of the store at `path` by that of a backup.
  ///
  /// ```swift
  /// try Store.restore("app.db", from: "backup.db")
  /// ```
  ///
  /// The replacement is one transaction, so this and other processes may have the store open. They
  /// then see the content of the backup, and their observers refetch. If there is no file at
  /// `path`, it is created. A crash leaves the earlier content or that of the backup, which is
  /// checked for damage first. Writes wait while the pages are copied, and those of other processes
  /// fail with `busy` after their busy timeout.
  ///
  /// Consumers continue from their positions at the time of the backup. Positions after
  /// ``Backup/position`` are used again for other changes, so rebuild what you derived from later
  /// ones.
  ///
  /// - Parameters:
  ///   - path: The path of the store.
  ///   - backup: The path of a backup, which stays as it is.
  ///   - configuration: The configuration of the store. If this process has it open, pass one with
  ///     the same settings.
  ///   - onProgress: Called on this thread during the copy, with the pages copied and their number.
  ///     To stop, throw an error.
  /// - Returns: The backup.
  /// - Throws: ``StoreError`` with code `corrupt` for a damaged backup; `unsupportedSchema` for a
  ///   database without a store's catalog, with pages of another size, or with a log if the store
  ///   has none; `configurationConflict` if this process has the store open with other settings;
  ///   `newerFormat`, `busy`, `outOfSpace`; the errors of opening a store, for example if the file
  ///   at `path` is damaged: move such a file away first. Then the content at `path` is as before.
  ///   `outcomeUnknown` if the disk failed at the COMMIT: close the store and open it again.
  @discardableResult
  public static func restore(
    _ path: String, from backup: String,
    configuration: StoreConfiguration = StoreConfiguration(),
    onProgress: (_ done: Int, _ all: Int) throws -> Void = { _, _ in }
  ) throws -> Backup {
    var reading = configuration
    reading.access = .readOnly
    reading.changeJournal = nil
    let source = try Store(at: backup, configuration: reading)
    defer { source.close() }
    if let problem = try source.unreadableEntries().first { throw problem }
    let from = try source.open
    try from.look { try Restoring.checkIsStore($0, from.file.path) }
    var writing = configuration
    if writing.access == .readWriteCreate { writing.access = .readWrite }
    try writing.checkWritable()
    do {
      let lease = try StoreEngines.lease(
        at: path, configuration: writing, report: StoreError.writeToStandardError)
      defer { lease.end(.waiting) }
      guard lease.engine !== from else {
        throw StoreError(.misuse, "\(path) and \(backup) are the same file.")
      }
      return try Restoring(engine: lease.engine, backup: from)
        .run(onProgress: onProgress)
    } catch DatabaseFile.Problem.notFound {
      return try StoreCopying(engine: from).backUp(
        to: path, existing: .keep, onProgress: onProgress)
    } catch let problem as DatabaseFile.Problem {
      throw problem.storeError
    } catch let error as SQLiteError {
      throw StoreError(error)
    }
  }

  /// Replaces the content of the store at `path`; see
  /// ``restore(_:from:configuration:onProgress:)``. If you cancel the task while it
  /// copies, the content is as before.
  ///
  /// - Parameter onProgress: Called on a thread of the store.
  @discardableResult
  public static func restore(
    _ path: String, from backup: String,
    configuration: StoreConfiguration = StoreConfiguration(),
    onProgress: @escaping @Sendable (_ done: Int, _ all: Int) throws -> Void = { _, _ in }
  ) async throws -> Backup {
    try await BlockingCalls().run {
      try restore(
        path, from: backup, configuration: configuration, onProgress: onProgress)
    }
  }

  /// Rebuilds the file without the space of deleted data.
  ///
  /// ```swift
  /// let sizes = try store.compact()
  /// print(sizes.byteCountBefore - sizes.byteCountAfter)
  /// ```
  ///
  /// It is one transaction. Records, their keys, and the change journal stay as they are. Reads
  /// continue meanwhile. Writes wait, and those of other processes fail with `busy` after their
  /// busy timeout. Observers refetch afterwards. The file itself shrinks when the log is copied
  /// into it, which is now or after the last earlier read has ended.
  ///
  /// - Returns: The sizes of the database before and after.
  /// - Throws: ``StoreError`` with code `conflict` if SQLite would give other numbers to rows of an
  ///   adopted table, which are keys of records or of a full-text table, or which a trigger or view
  ///   uses; `outOfSpace` if there is no room for a second copy of the data; `busy`; `misuse`
  ///   inside a write. Then nothing was changed. `outcomeUnknown` if the disk failed at the COMMIT:
  ///   close the store and open it again.
  /// - Complexity: Reads and writes the whole file twice.
  @discardableResult
  public func compact() throws -> (byteCountBefore: Int64, byteCountAfter: Int64) {
    try Compacting(engine: open).run()
  }

  /// Rebuilds the file without the space of deleted data. If you cancel the task, nothing is
  /// changed.
  @discardableResult
  public func compact() async throws -> (byteCountBefore: Int64, byteCountAfter: Int64) {
    try await open.calls.run { [self] in try compact() }
  }
}
