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
  func run(
    verification: CopyVerification, onProgress: (_ done: Int, _ all: Int) throws -> Void
  ) throws -> Backup {
    try engine.turns.take { writer in
      try writer.checkReady()
      let worker = try engine.openWorker()
      let restored = try backup.connections.copies.sync { source in
        try source.inOneState {
          if verification == .full { try Self.check(source, backup.file.path) }
          let position = try JournalReader.end(on: source) ?? 0
          let pages = try source.pageCounts()
          try checkFit(pages, in: writer.connection)
          do {
            try writer.connection.blockingCheckpoints {
              try PageCopy(source: source, target: worker).run(onProgress: onProgress)
            }
          } catch {
            throw writer.failure(error)
          }
          return Backup(
            path: backup.file.path, position: JournalPosition(rawValue: position),
            byteCount: pages.all * pages.size)
        }
      }
      // From here on, the backup is in place.
      engine.connections.writer.shield()
      try invalidateBatches(worker)
      try engine.foreignSync.atPublishedState(&writer) { _ in }
      return restored
    }
  }

  /// - Throws: ``StoreError`` with code `corrupt` for a damaged backup, `unsupportedSchema` for a
  ///   database of another program.
  static func check(_ source: Connection, _ path: String) throws {
    if let first = try IntegrityCheck.pageDamage(on: source).first {
      throw StoreError(
        .corrupt, "\(path) is damaged: \(first) Nothing was restored. Use another backup.")
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

  /// - Throws: ``StoreError`` with code `unsupportedSchema` if the pages have another size,
  ///   `outOfSpace`.
  private func checkFit(
    _ pages: (all: Int64, free: Int64, size: Int64), in target: Connection
  ) throws {
    let size = try target.pageCounts().size
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

  /// Prevents that a batch which a consumer read before is acknowledged now. Its positions belong to
  /// the earlier content.
  private func invalidateBatches(_ worker: Connection) throws {
    do {
      guard try JournalReader.end(on: worker) != nil else { return }
      try worker.inTransaction {
        let consumers = JournalConsumers(connection: worker)
        for (name, cursor) in try consumers.all() {
          try consumers.put(name, at: cursor.position, time: WritingProgram.now)
        }
      }
    } catch {
      throw StoreError(reporting: error)
        .following("The backup is in place; renewing the consumers of its change journal failed")
    }
  }
}
