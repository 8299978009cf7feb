#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Replaces a member's file that no longer fits its shared store by one that begins from the
/// ledger's snapshot. The earlier file stays beside it if it may have more than the ledger.
struct Rebuilding {
  let shared: SharedLedger
  /// Without symbolic links, as SQLite opens it.
  let path: String
  let configuration: StoreConfiguration

  private var policy: Connection.Policy { configuration.connectionPolicy }

  /// Another process has replaced the file.
  private struct Replaced: Error {}

  /// Waits up to the busy timeout until no program uses the file, and replaces it.
  ///
  /// - Parameter unfit: Why the file does not fit.
  /// - Returns: What was done, for the store that opens the file. nil if nothing was kept of the
  ///   earlier file, because the ledger has all of it, or if another process was faster.
  /// - Throws: ``StoreError`` with code `busy` if another program uses the file, `misuse` if this
  ///   process does. ``LedgerError``. The file is unchanged then.
  func run(because unfit: UnfitMember) throws -> StoreError? {
    do {
      let (place, earlier) = try waiting { () throws -> (CopyTarget, DatabaseFile.Identity) in
        let earlier = try identity()
        guard try isMember(unfit.member) else { throw Replaced() }
        return (try target(), earlier)
      }
      guard let file = try joining.file(for: place) else { throw unfit.reason }
      return try replace(earlier, by: file, unfit)
    } catch is Replaced {
      return nil
    }
  }

  /// - Returns: As ``run(because:)``.
  private func replace(
    _ earlier: DatabaseFile.Identity, by file: PartialFile, _ unfit: UnfitMember
  ) throws -> StoreError? {
    var link: String?
    var failure: StoreError?
    func publish() throws {
      try file.publish {
        // No process can replace it now.
        guard try identity() == earlier else { throw Replaced() }
        link = try linkEarlier()
      } undo: {
        if let link { unlink(link) }
      }
    }
    do {
      try waiting {
        // Others may have opened the file since. The last one that is closed removes the log.
        _ = try record(at: path)
        try StoreEngines.withoutOpening(publish)
      }
    } catch {
      guard file.isPublished else { throw error }
      // Its name may not be on the disk yet, so the earlier file stays.
      failure = StoreError(reporting: error)
    }
    guard let link else { preconditionFailure("A file that is published has replaced another.") }
    // No program can change the earlier file any more.
    guard failure != nil || !losesNothing(link, unfit) else {
      unlink(link)
      return nil
    }
    var reason = failure ?? unfit.reason
    if failure == nil, case .schema = unfit.coverage { reason = .otherSchema(path, shared.name) }
    var notice = StoreError(
      reason.code,
      "\(path) began again from the ledger's snapshot, because its earlier content no longer fits the shared store \(shared.name). The earlier file is \(link); delete it when you do not need it. The reason was: \(reason.messageWithoutRemedy)"
    )
    notice.sqliteCode = reason.sqliteCode
    return notice
  }

  /// Waits up to the busy timeout until no program uses the file.
  ///
  /// - Throws: ``StoreError`` with code `busy` if another program uses it, `misuse` if this process
  ///   does.
  func waitUntilUnused() throws {
    _ = try waiting {
      // The last connection that is closed empties the log and removes it.
      _ = try record(at: path)
      return try target()
    }
  }

  private var joining: Joining { Joining(shared: shared, path: path, policy: policy) }

  private func target() throws -> CopyTarget {
    try CopyTarget(
      path, existing: .replace, isOpen: StoreEngines.isOpen, storePaths: StoreEngines.openPaths)
  }

  /// Runs `body` again, up to the busy timeout, until no program uses the file.
  private func waiting<Result>(_ body: () throws -> Result) throws -> Result {
    let start = ContinuousClock.now
    while true {
      do {
        return try body()
      } catch let error as StoreError where [.busy, .misuse].contains(error.code) {
        guard start.duration(to: .now) < configuration.busyTimeout else { throw error }
        usleep(Self.pause)
      }
    }
  }

  /// Between two attempts, in microseconds.
  private static let pause: UInt32 = 20_000

  /// Which file has the path: each replacement is another one.
  private func identity() throws(StoreError) -> DatabaseFile.Identity {
    do throws(DatabaseFile.Problem) {
      guard let status = try DatabaseFile.status(of: path) else { throw .notFound(path: path) }
      return DatabaseFile.Identity(status)
    } catch {
      throw error.storeError
    }
  }

  /// Whether the file is that of `member`; each that begins gets a number of its own.
  private func isMember(_ member: MemberID?) throws -> Bool {
    try record(at: path)?.member == member
  }

  private func record(at path: String) throws -> MemberRecord? {
    do {
      return try MemberRecord(
        reading: Connection(path: path, role: .applier, policy: policy))
    } catch let error as SQLiteError {
      throw StoreError(error)
    }
  }

  /// Whether the ledger has everything that the file at `path` has.
  private func losesNothing(_ path: String, _ unfit: UnfitMember) -> Bool {
    do {
      let connection = try Connection(path: path, role: .applier, policy: policy)
      return switch unfit.coverage {
      case .unknown: false
      case .schema(let digest): try SharedSchema(reading: connection).digest == digest
      case .unused: try MemberRecord.isUnused(connection)
      }
    } catch {
      // For example, another program has made a table that cannot be shared. The file stays.
      return false
    }
  }

  /// Gives the file a second name, which stays when the new file gets the first one.
  ///
  /// - Returns: That name: the path with `.diverged-` and the first number that is free.
  private func linkEarlier() throws(StoreError) -> String {
    for number in 1...Self.linkCountMax {
      let name = Self.name(number, of: path)
      if link(path, name) == 0 { return name }
      guard errno == EEXIST else {
        throw DatabaseFile.Problem.refused(path: name, errno: errno).storeError
      }
    }
    throw StoreError(
      .fileExists,
      "\(path) began again \(Self.linkCountMax) times. Find out why its content changes without the ledger, and delete the files \(Self.name(1, of: path)) and so on."
    )
  }

  private static let linkCountMax = 100

  private static func name(_ number: Int, of path: String) -> String {
    "\(path).diverged-\(number)"
  }

  /// Removes the second name of a file whose replacement ended between the two steps, because the
  /// program or the machine failed. While a replacement is under way, it waits.
  func removeLeftName() throws {
    try waiting {
      var status = stat()
      guard lstat(path, &status) == 0, status.st_nlink > 1 else { return }
      let same = (1...Self.linkCountMax).map { Self.name($0, of: path) }.first { name in
        var other = stat()
        return lstat(name, &other) == 0
          && DatabaseFile.Identity(other) == DatabaseFile.Identity(status)
      }
      guard let same else { return }
      let lock: SoleLock
      do throws(SoleLock.Refusal) {
        lock = try SoleLock(path)
      } catch {
        // Without locks it is unknown whether a replacement is under way.
        guard error == .inUse else { return }
        throw StoreError(.busy, "A program uses \(path), which has a second name \(same).")
      }
      // The file may have been replaced before it was locked: then the name is the earlier file's.
      var locked = stat()
      guard lstat(path, &locked) == 0, locked.st_ino == status.st_ino else { return }
      unlink(same)
      withExtendedLifetime(lock) {}
    }
  }
}

extension SharedLedger {
  /// The path without symbolic links, as SQLite opens it.
  static func realPath(_ path: String) throws(StoreError) -> String {
    do throws(DatabaseFile.Problem) {
      return try RealPath(path, user: geteuid(), membership: .system).path
    } catch {
      throw error.storeError
    }
  }
}
