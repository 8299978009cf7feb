internal import Synchronization

/// The engines of this process, by file.
enum StoreEngines {
  private struct Entry {
    weak var engine: StoreEngine?
    let presence: StoreEngine.Presence
    /// How many stores are open on it.
    var leaseCount = 1
  }

  private static let engines = Mutex<[DatabaseFile.Identity: Entry]>([:])

  /// A lease of the engine for `file`: of the one in use, or of a new one.
  ///
  /// - Throws: ``StoreError`` with code `configurationConflict` when the one in use was opened
  ///   differently, `forked` when it was open in the process that this one was forked from: SQLite
  ///   here still believes that it holds the locks of then, which stayed with the parent.
  static func lease(
    for file: DatabaseFile, configuration: StoreConfiguration,
    report: @escaping @Sendable (StoreError) -> Void
  ) throws -> StoreLease {
    let (engine, notice) = try engines.withLock { engines -> (StoreEngine, StoreError?) in
      if let presence = engines[file.identity]?.presence, presence.isOpen {
        try presence.process.check()
      }
      if let engine = engines[file.identity]?.engine {
        guard engine.configuration.isCompatible(with: configuration) else {
          throw StoreError(
            .configurationConflict,
            "\(file.path) is already open in this process with another configuration.")
        }
        engines[file.identity]?.leaseCount += 1
        return (engine, nil)
      }
      let engine = try StoreEngine(file: file, configuration: configuration)
      engines = engines.filter { $0.value.presence.isOpen }
      engines[file.identity] = Entry(engine: engine, presence: engine.presence)
      return (engine, engine.connections.openingNotice)
    }
    if let notice { report(notice) }
    return StoreLease(engine, report: report)
  }

  /// Gives a lease back. After the last one the engine is forgotten, so that its file can be opened
  /// again.
  ///
  /// - Returns: Whether it was the last one.
  static func release(_ engine: StoreEngine) -> Bool {
    engines.withLock { engines in
      guard let entry = engines[engine.file.identity], entry.engine === engine else { return true }
      guard entry.leaseCount == 1 else {
        engines[engine.file.identity]?.leaseCount -= 1
        return false
      }
      engines[engine.file.identity] = nil
      return true
    }
  }
}
