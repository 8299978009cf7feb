/// Opens the first connection to a file, and prepares the file for the store.
struct FileOpening {
  let file: DatabaseFile
  let configuration: StoreConfiguration

  /// The file's journal mode, and a notice to report about it.
  struct PreparedJournal {
    let usesWriteAheadLog: Bool
    var notice: StoreError?
  }

  /// Opens the first connection to `file`.
  ///
  /// On a full disk it uses the reserve for the `-shm` file. Without a reserve, it opens a
  /// read-only file in a way that needs no `-shm` file.
  func firstConnection(lending reserve: SpaceReserve) throws -> (Connection, PreparedJournal) {
    let readOnly = configuration.access == .readOnly
    let policy = configuration.connectionPolicy
    func connected() throws -> (Connection, PreparedJournal) {
      do {
        let connection = try connect(readOnly: readOnly)
        return (connection, try prepare(connection))
      } catch let error as SQLiteError {
        throw missingCompanions(error) ?? error
      }
    }
    defer { reserve.takeBack() }
    do {
      let opened = try connected()
      if !readOnly { reserve.adjust() }
      return opened
    } catch let error as SQLiteError where error.isForWantOfSpace {
      reserve.refresh()
      if reserve.lend() { return try connected() }
      guard readOnly, policy.fileSystem == nil else { throw error }
      let connection = try Connection(path: file.path, role: .soleReader, policy: policy)
      return (connection, try prepare(connection))
    }
  }

  private func connect(readOnly: Bool) throws -> Connection {
    do {
      return try Connection(
        path: file.path, role: readOnly ? .readOnlyFile : .writer,
        policy: configuration.connectionPolicy)
    } catch {
      guard error.code.primary == .readOnly, !readOnly else { throw error }
      throw notWritable
    }
  }

  /// That SQLite cannot create the files that a write-ahead log needs; nil for another failure.
  ///
  /// SQLite reports "read-only" if the permissions of the directory forbid a new file, and "cannot
  /// open" on a read-only file system: <https://sqlite.org/wal.html#read_only_databases>.
  private func missingCompanions(_ error: SQLiteError) -> StoreError? {
    // A statement failed, so the database itself could be opened.
    guard error.code.primary == .cannotOpen, error.sql != nil,
      let obstacle = file.creationObstacle
    else { return nil }
    return StoreError(
      .permissionDenied,
      "\(file.path): reading takes a -shm file beside the database, and \(obstacle). Copy the database to a directory that you can write, or replace it with a copy that VACUUM INTO made, which needs no such file.",
      sqliteCode: error.code.rawValue)
  }

  private var notWritable: StoreError {
    StoreError(
      .permissionDenied,
      "\(file.path) or its directory are readable but not writable for this user. Open the store read-only, or change the permissions."
    )
  }

  /// Throws for a file that cannot be a store, then enables a write-ahead log if `configuration`
  /// says so.
  private func prepare(_ connection: Connection) throws -> PreparedJournal {
    // All checks come before the first change to the file.
    let encoding = try connection.firstRow("PRAGMA encoding") { try $0.text(at: 0) }
    guard encoding == "UTF-8" else {
      throw StoreError(
        .unsupportedSchema,
        "The database stores text as \(encoding ?? "unknown"); a store needs UTF-8.")
    }
    if let pageSize = try connection.firstRow("PRAGMA page_size", { try $0.integer(at: 0) }),
      file.isCutOff(pageSize: pageSize)
    {
      throw StoreError(
        .corrupt,
        "\(file.path) ends in the middle of a page, so a part of it is missing. Restore a backup, or run sqlite3 FILE .recover."
      )
    }
    let found = try connection.journalMode()
    guard configuration.access != .readOnly else {
      return PreparedJournal(usesWriteAheadLog: found == "wal")
    }
    guard !connection.isFileReadOnly else { throw notWritable }
    let isEmpty = try connection.schemaVersion() == 0
    guard
      try found == "wal" || isEmpty || configuration.journalMode == .writeAheadLog
        || isMember(connection)
    else {
      // DELETE mode would delete the journal file, so another user could create one.
      if file.isExposed { try connection.execute("PRAGMA journal_mode = TRUNCATE") }
      return PreparedJournal(usesWriteAheadLog: false)
    }
    let isOtherPrograms = try found != "wal" && !isEmpty && !hasCatalog(connection)
    let mode = try connection.enterWAL()
    guard mode == "wal" else {
      throw StoreError(
        .unsafeLocation,
        "SQLite cannot use a write-ahead log here (journal mode \(mode ?? "unknown")).")
    }
    return PreparedJournal(
      usesWriteAheadLog: true,
      notice: isOtherPrograms ? changedJournal(from: found ?? "unknown") : nil)
  }

  /// Whether the file is a member of a shared store, which needs a write-ahead log. A file that
  /// began from a snapshot has a rollback journal first.
  private func isMember(_ connection: Connection) throws -> Bool {
    guard configuration.ledger != nil else { return false }
    return try MemberRecord(reading: connection) != nil
  }

  private func hasCatalog(_ connection: Connection) throws -> Bool {
    try connection.firstRow(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = \(CatalogEntries.models.table)"
    ) { try $0.integer(at: 0) } != nil
  }

  private func changedJournal(from mode: String) -> StoreError {
    StoreError(
      .configurationConflict,
      "\(file.path) had a rollback journal (journal mode \(mode)); the store changed it to a write-ahead log. To keep the mode of existing files, set StoreConfiguration.journalMode to asFound."
    )
  }
}
