/// Rebuilds the file of an open store without free pages.
struct Compacting {
  let engine: StoreEngine

  /// Runs VACUUM on a connection of its own, while the writer's turn is held.
  ///
  /// To the store, it is a commit of another connection that changed the schema: observers refetch,
  /// and so do those of other processes.
  func run() throws -> (byteCountBefore: Int64, byteCountAfter: Int64) {
    try engine.configuration.checkWritable()
    return try engine.turns.take { writer in
      try writer.checkReady()
      let before = try engine.foreignSync.atPublishedState(&writer) { writer in
        try checkRowNumbers(on: writer.connection)
        return try writer.connection.pageCounts()
      }
      try checkSpace((before.all - before.free) * before.size)
      let after = try rebuild(&writer)
      engine.foreignSync.refetch(&writer)
      engine.maintenance.checkpoint(&writer)
      return (before.all * before.size, after.all * after.size)
    }
  }

  private func rebuild(
    _ writer: inout Writer
  ) throws -> (all: Int64, free: Int64, size: Int64) {
    let worker = try engine.openWorker()
    do {
      return try writer.connection.blockingCheckpoints {
        try worker.stoppingWithCall { try worker.vacuum() }
        // From here on, the work is done.
        engine.connections.writer.shield()
        return try worker.pageCounts()
      }
    } catch {
      throw writer.failure(error)
    }
  }

  /// - Throws: ``StoreError`` with code `outOfSpace`.
  private func checkSpace(_ byteCount: Int64) throws {
    guard !engine.file.isInMemory, let free = FreeSpace.byteCount(beside: engine.file.path),
      free < byteCount
    else { return }
    throw StoreError(
      .outOfSpace,
      "Compacting \(engine.file.path) needs \(byteCount) bytes beside it, and as many in the directory for temporary files; \(free) are free. Nothing was changed."
    )
  }

  // Row numbers

  /// Refuses a table whose row numbers VACUUM would change, if something refers to them.
  ///
  /// VACUUM may number the rows of a table without INTEGER PRIMARY KEY again, from 1:
  /// <https://sqlite.org/lang_vacuum.html>. They are keys of adopted models without another key,
  /// and full-text tables refer to the rows of their content by number.
  private func checkRowNumbers(on connection: Connection) throws {
    let models = engine.models.schema.models.filter(\.hasHiddenRowID).map(\.table.asciiFolded)
    let virtual = try connection.rows(
      "SELECT sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%'"
    ) { try $0.text(at: 0).asciiFolded }
    let catalog = try Catalog(reading: connection)
    let changed = try catalog.tables.filter { table in
      let name = table.name.asciiFolded
      guard table.kind == .table, !table.isWithoutRowID, table.rowIDColumn == nil,
        !table.name.hasPrefix("_ms_"),
        models.contains(name) || virtual.contains(where: { $0.contains(name) })
      else { return false }
      return try hasGaps(table, connection)
    }
    guard changed.isEmpty else {
      let names = changed.map(\.name).sorted().joined(separator: ", ")
      throw StoreError(
        .conflict,
        "Compacting would give the rows of \(names) new numbers, which are keys of records or of a full-text table. Nothing was changed. Give the table an INTEGER PRIMARY KEY. Or close every program, run VACUUM with sqlite3, and rebuild the full-text table."
      )
    }
  }

  /// Whether the rows of a table are not numbered from 1 without gaps.
  private func hasGaps(_ table: TableFacts, _ connection: Connection) throws -> Bool {
    guard let number = TableFacts.rowIDName(besides: table.columns.map(\.name)) else { return true }
    let text = SQLText(
      sql:
        "SELECT count(*), ifnull(min(\(number)), 1), ifnull(max(\(number)), 0) FROM \(SQLText.quoted(table.name))"
    )
    return try connection.firstRow(text) { row in
      try row.integer(at: 1) != 1 || row.integer(at: 0) != row.integer(at: 2)
    } ?? true
  }
}

extension StoreEngine {
  /// Opens a writing connection for work that needs settings of its own. The caller has the
  /// writer's turn.
  func openWorker() throws -> Connection {
    try file.checkPresence()
    let worker = try Connection(
      path: file.path, role: .writer, policy: configuration.connectionPolicy)
    // Another file may have taken the name in between.
    try file.checkPresence()
    // The file has one already; the connection then knows of it.
    if connections.usesWriteAheadLog { try worker.enterWAL() }
    return worker
  }
}
