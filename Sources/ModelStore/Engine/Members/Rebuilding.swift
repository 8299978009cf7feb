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
  let path: String
  let configuration: StoreConfiguration

  private var policy: Connection.Policy { configuration.connectionPolicy }

  /// Waits up to the busy timeout until no program uses the file, and replaces it.
  ///
  /// - Parameter unfit: Why the file does not fit.
  /// - Returns: What was done, for the store that opens the file. nil if nothing was kept of the
  ///   earlier file, because the ledger has all of it, or if another process was faster.
  /// - Throws: ``StoreError`` with code `busy` if another program uses the file, `misuse` if this
  ///   process does. ``LedgerError``. The file is unchanged then.
  func run(because unfit: UnfitMember) throws -> StoreError? {
    guard let target = try target(of: unfit.member) else { return nil }
    guard let file = try joining.file(for: target) else { throw unfit.reason }
    // The new name comes first, so that there is always a file with everything.
    let kept = try keep(target.path)
    do {
      // Others may have begun to open the file since.
      _ = try waiting(for: unfit.member) {
        try StoreEngines.withoutOpening { try file.publish() }
      }
    } catch {
      guard try isReplaced(unfit.member) else {
        unlink(kept)
        throw error
      }
    }
    // Another process has replaced the file, and its name for the earlier one stays.
    guard !hasAnotherName(kept) else {
      unlink(kept)
      return nil
    }
    // No program can change the earlier file any more.
    guard try !losesNothing(kept, unfit) else {
      unlink(kept)
      return nil
    }
    let reason = unfit.schema == nil ? unfit.reason : .otherSchema(path, shared.name)
    var notice = StoreError(
      reason.code,
      "\(target.path) began again from the ledger's snapshot, because its earlier content no longer fits the shared store \(shared.name). The earlier file is \(kept); delete it when you do not need it. The reason was: \(reason.message)"
    )
    notice.sqliteCode = reason.sqliteCode
    return notice
  }

  /// Waits up to the busy timeout until no program uses the file.
  ///
  /// - Throws: ``StoreError`` with code `busy` if another program uses it, `misuse` if this process
  ///   does.
  func waitUntilUnused() throws { _ = try target(of: nil) }

  private var joining: Joining { Joining(shared: shared, path: path, policy: policy) }

  /// - Parameter member: The member whose file is to be replaced.
  /// - Returns: nil if another process has replaced it.
  private func target(of member: MemberID?) throws -> CopyTarget? {
    try waiting(for: member) {
      try CopyTarget(
        path, existing: .replace, isOpen: StoreEngines.isOpen, storePaths: StoreEngines.openPaths)
    }
  }

  /// Runs `body` again, up to the busy timeout, until no program uses the file.
  ///
  /// - Returns: nil if another process has replaced the file of `member`.
  private func waiting<Result>(
    for member: MemberID?, _ body: () throws -> Result
  ) throws -> Result? {
    let start = ContinuousClock.now
    while true {
      if let member, try isReplaced(member) { return nil }
      do {
        try emptyLog()
        return try body()
      } catch let error as StoreError where [.busy, .misuse].contains(error.code) {
        guard start.duration(to: .now) < configuration.busyTimeout else { throw error }
        usleep(Self.pause)
      }
    }
  }

  /// Between two attempts, in microseconds.
  private static let pause: UInt32 = 20_000

  /// Whether the file is another member's by now: each that begins gets a number of its own.
  private func isReplaced(_ member: MemberID) throws -> Bool {
    try MemberRecord(reading: connection(to: path))?.member != member
  }

  private func hasAnotherName(_ kept: String) -> Bool {
    var status = stat()
    return lstat(kept, &status) == 0 && status.st_nlink > 1
  }

  /// Whether the ledger has everything that the file at `kept` has.
  private func losesNothing(_ kept: String, _ unfit: UnfitMember) throws -> Bool {
    guard let schema = unfit.schema else { return false }
    do {
      return try SharedSchema(reading: connection(to: kept)).digest == schema
    } catch let error as StoreError where error.code == .unsupportedSchema {
      // Another program has made a table that cannot be shared.
      return false
    }
  }

  private func connection(to path: String) throws(StoreError) -> Connection {
    do {
      return try Connection(path: path, role: .applier, policy: policy)
    } catch {
      throw StoreError(error)
    }
  }

  /// Moves what is in the log into the file. SQLite removes the log with its last connection.
  private func emptyLog() throws(StoreError) {
    let connection = try connection(to: path)
    do {
      try connection.checkpointPassively()
    } catch {
      throw StoreError(error)
    }
  }

  /// Gives the file a second name, which stays when the new file gets the first one.
  ///
  /// - Returns: That name: the path with `.diverged-` and the first number that is free.
  private func keep(_ path: String) throws(StoreError) -> String {
    for number in 1...Self.keptCountMax {
      let kept = "\(path).diverged-\(number)"
      if link(path, kept) == 0 { return kept }
      guard errno == EEXIST else {
        throw DatabaseFile.Problem.refused(path: kept, errno: errno).storeError
      }
    }
    throw StoreError(
      .fileExists,
      "\(path) began again \(Self.keptCountMax) times. Find out why its content changes without the ledger, and delete the files \(path).diverged-1 and so on."
    )
  }

  private static let keptCountMax = 100
}
