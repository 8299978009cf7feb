internal import CSQLite

/// The state of the database before a transaction that must write a link.
struct LogStart {
  let link: LogLink?
  /// The digest of the header in the database's own file; nil if the transaction cannot begin a
  /// log.
  let header: [UInt8]?
  /// The number of rows that the connection had changed.
  let changeCount: Int64
}

// A log states which state of the database it continues: its first transaction writes a row with
// the log's salts. SQLite chooses the salts when it writes the first frame. So the transaction
// flushes its pages to the log before COMMIT, reads the salts, and writes the row as its last page.
extension Connection {
  /// Records the state of the database if the transaction may begin a log, or if the database has
  /// no link yet. Rolls back if that fails.
  ///
  /// - Parameter mayBeginLog: Whether the transaction may begin a log.
  func noteLogStart(mayBeginLog: Bool) throws {
    guard mayBeginLog || !isLinked else { return }
    do {
      let link = try hasLinkTable() ? try storedLink() : nil
      isLinked = link != nil
      guard mayBeginLog || !isLinked, let header = try unloggedHeader() else { return }
      logStart = LogStart(
        link: link, header: mayBeginLog ? LogLink.digest(ofHeader: header) : nil,
        changeCount: totalChangeCount)
    } catch {
      throw rollBack(after: error)
    }
  }

  /// Writes the row if the running transaction has changed rows and has begun a log, or if it is
  /// the first transaction that has the table.
  ///
  /// - Throws: ``SQLiteError``; the transaction is open, or SQLite has rolled it back.
  func linkLog() throws {
    guard let start = logStart, isInTransaction else { return }
    logStart = nil
    guard totalChangeCount != start.changeCount, try hasLinkTable() else { return }
    let code = sqlite3_db_cacheflush(handle)
    // COMMIT writes a page that a running statement reads.
    guard code == SQLITE_OK || code == SQLITE_BUSY else {
      var error = SQLiteError(code: code, database: handle)
      // This call does not update the connection's own error number.
      if error.code == .ioWrite { error.systemErrno = csqlite_log_errno(handle) }
      throw error
    }
    guard let log = try logSalts(), log != start.link?.log else { return }
    let link = LogLink(log: log, previous: start.link, header: start.header)
    // Observers must not receive this change.
    try hooks.lent {
      hooks.onRowChange(nil)
      hooks.onProgramStart(nil)
      try run(
        "INSERT OR REPLACE INTO main._ms_log (id, link) VALUES (1, \(SQLValue.blob(link.bytes)))")
    }
    isLinked = true
  }

  private func hasLinkTable() throws -> Bool {
    try firstRow(
      """
      SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = \(LogLink.table)
        AND EXISTS (
          SELECT 1 FROM pragma_table_info(\(LogLink.table), 'main') WHERE name = 'link')
      """
    ) { _ in true } ?? false
  }

  private func storedLink() throws -> LogLink? {
    let value = try firstRow("SELECT link FROM main._ms_log WHERE id = 1") { try $0.value(at: 0) }
    guard case .blob(let bytes) = value else { return nil }
    return LogLink(bytes)
  }

  /// The header in the database's own file; nil for an empty file.
  private func unloggedHeader() throws -> [UInt8]? {
    try read(LogLink.headerByteCount) { csqlite_read_file(handle, $0, $1) }
  }

  /// The salts in the header of the log; nil while it is empty.
  private func logSalts() throws -> [UInt8]? {
    try read(LogHeader.byteCount) { csqlite_read_log(handle, $0, $1) }.map { Array($0[16..<24]) }
  }

  private func read(
    _ count: Int, _ body: (UnsafeMutableRawPointer?, Int32) -> Int32
  ) throws(SQLiteError) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let code = bytes.withUnsafeMutableBytes { body($0.baseAddress, Int32($0.count)) }
    if code == LogHeader.shortRead { return nil }
    guard code == SQLITE_OK else { throw SQLiteError(code: code, database: handle) }
    return bytes
  }
}
