internal import Synchronization

/// The engines of this process, by file.
enum StoreEngines {
  private struct Entry {
    weak var engine: StoreEngine?
    let presence: StoreEngine.Presence
    /// The number of stores that are open on it.
    var leaseCount = 1
  }

  /// Held while a file is checked and opened. The check creates and closes files. It must not do so
  /// to a file on which another thread already holds SQLite's locks.
  ///
  /// There is one lock for all files, because one file can have several paths. An opening that
  /// waits for another process, up to the busy timeout, therefore also delays openings of other
  /// files. It never delays reads, writes and closing.
  ///
  /// It is acquired before ``engines``. The only caller's code that runs under it is SQL functions
  /// in the file's schema, and the closure of a stop request. Neither may open a store.
  private static let opening = Mutex(())

  /// Held only briefly.
  private static let engines = Mutex<[DatabaseFile.Identity: Entry]>([:])

  /// Returns a lease of the engine for the file at `path`: of the engine in use, or of a new one.
  ///
  /// After a fork, SQLite in the child still believes that it holds the parent's locks. An engine
  /// that was open in the parent is therefore refused.
  ///
  /// - Throws: ``DatabaseFile/Problem`` if a store may not be at `path`. ``StoreError`` with code
  ///   `configurationConflict` if the engine in use has another configuration, or `forked` if it
  ///   was opened in the parent process.
  static func lease(
    at path: String, configuration: StoreConfiguration,
    report: @escaping @Sendable (StoreError) -> Void
  ) throws -> StoreLease {
    var notices: [StoreError] = []
    // Runs outside the lock: a report handler may open another store.
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
    let database = MemoryDatabase.make()
    // If opening fails before a connection has it, nothing else would free it.
    defer { database.discardUnused() }
    let file = DatabaseFile(database)
    return StoreLease(try StoreEngine(file: file, configuration: configuration), report: report)
  }

  /// Returns the engine in use for `file`, with one more lease; nil if there is none.
  private static func present(
    for file: DatabaseFile, _ configuration: StoreConfiguration
  ) throws -> StoreEngine? {
    try engines.withLock { engines in
      if let presence = engines[file.identity]?.presence, presence.isOpen {
        try presence.process.check()
      }
      guard let engine = engines[file.identity]?.engine else { return nil }
      guard engine.configuration.isCompatible(with: configuration) else {
        let difference = engine.configuration.difference(from: configuration)
        throw StoreError(
          .configurationConflict,
          "\(file.path) is already open in this process with \(difference.present); this store wants \(difference.wanted)."
        )
      }
      engines[file.identity]?.leaseCount += 1
      return engine
    }
  }

  /// Runs `body` while no store of this process is being opened. It may not open a store.
  static func withoutOpening<Result>(_ body: () throws -> Result) rethrows -> Result {
    try opening.withLock { _ in try body() }
  }

  /// Returns whether this process has a file open.
  static func isOpen(_ identity: DatabaseFile.Identity) -> Bool {
    engines.withLock { $0[identity]?.presence.isOpen == true }
  }

  /// The paths of the files that this process has open, and of the files beside them.
  static var openPaths: Set<String> {
    let files = engines.withLock { engines in engines.values.compactMap { $0.engine?.file.path } }
    let suffixes = [""] + DatabaseFile.companionSuffixes + ["-reserve"]
    return Set(files.flatMap { path in suffixes.map { path + $0 } })
  }

  /// Returns a lease. After the last one the engine is removed, so that its file can be opened
  /// again.
  ///
  /// - Returns: Whether it was the last lease.
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
