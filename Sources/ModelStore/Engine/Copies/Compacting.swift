/// Rebuilds the file of an open store without free pages.
struct Compacting {
  let engine: StoreEngine

  /// Runs VACUUM on a connection of its own, while the writer's turn is held.
  ///
  /// To the store, it is a commit of another connection that changed the schema: observers refetch,
  /// and so do those of other processes.
  func run() throws -> (byteCountBefore: Int64, byteCountAfter: Int64) {
    try engine.configuration.checkWritable()
    try engine.checkHasOwnSchema()
    return try engine.turns.take { writer in
      try writer.checkReady()
      let before = try engine.foreignSync.atPublishedState(&writer) { writer in
        try writer.connection.pageCounts()
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
    do {
      let worker = try engine.openWorker()
      return try writer.connection.blockingCheckpoints {
        try worker.stoppingWithCall { try vacuum(worker) }
        // From here on, the work is done.
        engine.connections.writer.shield()
        return try worker.pageCounts()
      }
    } catch {
      throw writer.failure(error)
    }
  }

  /// Runs VACUUM if it changes no row number on which something depends. Another program may commit
  /// between the check and VACUUM; then both begin again.
  private func vacuum(_ worker: Connection) throws {
    let keyless = engine.models.schema.models.filter(\.hasHiddenRowID).map(\.table.asciiFolded)
    try worker.hooks.waitingOnce {
      try worker.hooks.retryingWhileBusy {
        let version = try worker.inOneState {
          try UsedRowNumbers(on: worker, keysOf: Set(keyless)).check()
          return worker.contentVersion
        }
        try worker.vacuum(content: version)
      }
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
