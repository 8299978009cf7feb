/// Replaces the content of a store by that of a backup.
struct Restoring {
  /// The engine of the store.
  let engine: StoreEngine
  /// The engine of the backup, which only reads.
  let backup: StoreEngine

  /// Copies the backup into the store, as one write transaction.
  ///
  /// Other processes may have the store open: SQLite's locks order the transaction with theirs. To
  /// them it is a commit that changed the schema. A crash leaves the earlier content or the new
  /// one, as with every transaction.
  func run(onProgress: (_ done: Int, _ all: Int) throws -> Void) throws -> Backup {
    try engine.checkHasOwnSchema()
    return try backup.connections.copies.sync { source in
      try source.inOneState {
        try checkMode(source)
        try checkIsNoMember(source)
        try check(source)
        let position = try JournalReader.end(on: source) ?? 0
        let pages = try source.pageCounts()
        let content = try newContent(from: source)
        // Only from here on, the writes of others wait.
        try engine.turns.take { writer in
          try writer.checkReady()
          try replaceContent(&writer, by: content, onProgress)
          engine.foreignSync.refetch(&writer)
          engine.maintenance.checkpoint(&writer)
        }
        return Backup(
          path: backup.file.path, position: JournalPosition(rawValue: position),
          byteCount: pages.all * pages.size)
      }
    }
  }

  private func replaceContent(
    _ writer: inout Writer, by source: Connection,
    _ onProgress: (_ done: Int, _ all: Int) throws -> Void
  ) throws {
    do {
      try checkFit(source, in: writer.connection)
      let worker = try engine.openWorker()
      try writer.connection.blockingCheckpoints {
        try worker.stoppingWithCall {
          try PageCopy(source: source, target: worker).run(onProgress: onProgress)
        }
        // From here on, the backup is in place.
        engine.connections.writer.shield()
      }
    } catch {
      throw writer.failure(error)
    }
  }

  /// - Throws: ``StoreError`` with code `corrupt` for a damaged backup.
  private func check(_ source: Connection) throws {
    let damage = try source.stoppingWithCall { try IntegrityCheck.pageDamage(on: source) }
    if let first = damage.first {
      throw StoreError(
        .corrupt,
        "\(backup.file.path) is damaged: \(first) Nothing was restored. Use another backup.")
    }
  }

  /// Whether the content of `source` is that of a store.
  static func checkIsStore(_ source: Connection, _ path: String) throws {
    let found = try source.firstRow(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = \(CatalogEntries.models.table)"
    ) { _ in true }
    guard found == nil else { return }
    throw StoreError(
      .unsupportedSchema,
      "\(path) is not a backup of a store: it has no catalog. Nothing was restored."
    )
  }

  /// - Throws: ``StoreError`` with code `unsupportedSchema` for a backup of a member. Its commits
  ///   are those of a ledger.
  private func checkIsNoMember(_ source: Connection) throws {
    guard let record = try MemberRecord(reading: source) else { return }
    throw StoreError(
      .unsupportedSchema,
      "\(backup.file.path) is a backup of a member of the shared store \(record.store), so it cannot replace the content of another store. Copy it to a free path, and open it there with the ledger. Nothing was restored."
    )
  }

  /// - Throws: ``StoreError`` with code `unsupportedSchema` if the backup has a log and the store
  ///   none. The copy would give the store a log, which its open connections do not know.
  private func checkMode(_ source: Connection) throws {
    guard try engine.connections.usesWriteAheadLog || source.journalMode() != "wal" else {
      throw StoreError(
        .unsupportedSchema,
        "\(backup.file.path) has a write-ahead log and \(engine.file.path) has none. Make a backup of \(backup.file.path) with backup(to:), and restore that."
      )
    }
  }

  /// - Throws: ``StoreError`` with code `unsupportedSchema` if the pages have another size,
  ///   `outOfSpace`.
  private func checkFit(_ source: Connection, in target: Connection) throws {
    let (pages, size) = (try source.pageCounts(), try target.pageCounts().size)
    guard size == pages.size else {
      throw StoreError(
        .unsupportedSchema,
        "The pages of \(backup.file.path) have \(pages.size) bytes, those of \(engine.file.path) \(size), so the one cannot replace the other in place. Close every program that has the store open, move it away with its log, and restore to the free name."
      )
    }
    guard let free = FreeSpace.byteCount(beside: engine.file.path), free < pages.all * pages.size
    else { return }
    throw StoreError(
      .outOfSpace,
      "Restoring needs \(pages.all * pages.size) bytes beside \(engine.file.path), and \(free) are free. Nothing was changed."
    )
  }

  /// Returns the content for the store: the backup, or a temporary copy with a new epoch for each
  /// consumer of its journal and without what is recorded about the states of its schema.
  ///
  /// A batch that was read before the restoration has positions of the earlier content. It must
  /// never be acknowledged afterwards, so the epochs change in the same transaction.
  private func newContent(from source: Connection) throws -> Connection {
    let hasJournal = try JournalReader.end(on: source) != nil
    let cursors = try hasJournal ? JournalConsumers(connection: source).all() : []
    guard try !cursors.isEmpty || FiledCatalog.isRecorded(on: source) else { return source }
    let copy = try Connection.temporary(policy: backup.configuration.connectionPolicy)
    try copy.stoppingWithCall {
      try PageCopy(source: source, target: copy).run { _, _ in }
    }
    let consumers = JournalConsumers(connection: copy)
    try copy.inTransaction {
      try FiledCatalog.forget(on: copy)
      for (name, cursor) in cursors {
        try consumers.put(name, at: cursor.position, time: WritingProgram.now)
      }
    }
    return copy
  }
}
