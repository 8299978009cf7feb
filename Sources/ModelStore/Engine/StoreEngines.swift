internal import Synchronization

/// The engines of this process, by file.
enum StoreEngines {
  private struct Entry {
    weak var engine: StoreEngine?
    let presence: StoreEngine.Presence
    /// How many stores are open on it.
    var leaseCount = 1
  }

  /// Held while a file is checked and opened: what the check creates and closes again must not be
  /// a file on which another thread has SQLite's locks already.
  ///
  /// It is one lock for all files, because one file can have several paths. So an opening that
  /// waits for another process, up to the busy timeout, also holds up openings of other files. It
  /// never holds up reads, writes and closing. It is taken before ``engines``, and no code of the
  /// caller runs under it but SQL functions that the file's schema calls, and a stop request's
  /// question. Neither may open a store.
  private static let opening = Mutex(())

  /// Held for moments only.
  private static let engines = Mutex<[DatabaseFile.Identity: Entry]>([:])

  /// A lease of the engine for the file at `path`: of the one in use, or of a new one.
  ///
  /// - Throws: ``DatabaseFile/Problem`` when no store may live there; ``StoreError`` with code
  ///   `configurationConflict` when the engine in use was opened differently, `forked` when it was
  ///   open in the process that this one was forked from: SQLite here still believes that it holds
  ///   the locks of then, which stayed with the parent.
  static func lease(
    at path: String, configuration: StoreConfiguration,
    report: @escaping @Sendable (StoreError) -> Void
  ) throws -> StoreLease {
    var notices: [StoreError] = []
    // Outside the lock: a report may open another store.
    defer { for notice in notices { report(notice) } }
    let engine = try opening.withLock { _ in
      let file = try DatabaseFile(
        path: path, access: configuration.access, sharing: configuration.sharing)
      if let doubt = file.doubt { notices.append(doubt.storeError) }
      if let engine = try present(for: file, configuration) { return engine }
      let engine = try StoreEngine(file: file, configuration: configuration)
      engines.withLock { engines in
        engines = engines.filter { $0.value.presence.isOpen }
        engines[file.identity] = Entry(engine: engine, presence: engine.presence)
      }
      if let notice = engine.connections.openingNotice { notices.append(notice) }
      return engine
    }
    return StoreLease(engine, report: report)
  }

  /// A lease of a new engine in memory, which no other store shares.
  ///
  /// - Throws: ``StoreError`` with code `configurationConflict` for a read-only configuration.
  static func leaseInMemory(
    _ configuration: StoreConfiguration, report: @escaping @Sendable (StoreError) -> Void
  ) throws -> StoreLease {
    guard configuration.access != .readOnly else {
      throw StoreError(
        .configurationConflict,
        "A store in memory is empty when it opens, so it cannot be read-only. Set StoreConfiguration.access to readWriteCreate."
      )
    }
    var configuration = configuration
    configuration.fileSystem = MemoryFileSystem.name
    let file = DatabaseFile(MemoryDatabase.make())
    return StoreLease(try StoreEngine(file: file, configuration: configuration), report: report)
  }

  /// The engine in use for `file`, with one more lease; nil when there is none.
  private static func present(
    for file: DatabaseFile, _ configuration: StoreConfiguration
  ) throws -> StoreEngine? {
    try engines.withLock { engines in
      if let presence = engines[file.identity]?.presence, presence.isOpen {
        try presence.process.check()
      }
      guard let engine = engines[file.identity]?.engine else { return nil }
      guard engine.configuration.isCompatible(with: configuration) else {
        throw StoreError(
          .configurationConflict,
          "\(file.path) is already open in this process with another configuration.")
      }
      engines[file.identity]?.leaseCount += 1
      return engine
    }
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
