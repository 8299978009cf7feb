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
  let policy: Connection.Policy

  /// - Parameter unfit: Why the file does not fit.
  /// - Returns: What was done, for the store that opens the file; nil if nothing was kept of the
  ///   earlier one, because the ledger has all of it.
  /// - Throws: ``StoreError`` with code `busy` if another program uses the file, `misuse` if this
  ///   process does. ``LedgerError``. The file is unchanged then.
  func run(because unfit: UnfitMember) throws -> StoreError? {
    let target = try target()
    guard let file = try joining.file(for: target) else { throw unfit.reason }
    // Another program may have changed the file while the snapshot arrived.
    if try losesNothing(unfit) {
      try StoreEngines.withoutOpening { try file.publish() }
      return nil
    }
    let kept = try keep(target.path)
    do {
      try StoreEngines.withoutOpening { try file.publish() }
    } catch {
      unlink(kept)
      throw error
    }
    let reason = unfit.schema == nil ? unfit.reason : .otherSchema(path, shared.name)
    var notice = StoreError(
      reason.code,
      "\(target.path) began again from the ledger's snapshot, because its earlier content no longer fits the shared store \(shared.name). The earlier file is \(kept); delete it when you do not need it. The reason was: \(reason.message)"
    )
    notice.sqliteCode = reason.sqliteCode
    return notice
  }

  /// Whether the ledger has everything that the file has.
  private func losesNothing(_ unfit: UnfitMember) throws -> Bool {
    guard let schema = unfit.schema else { return false }
    let connection = try Connection(path: path, role: .applier, policy: policy)
    return try SharedSchema(reading: connection).digest == schema
  }

  /// - Throws: ``StoreError`` with code `busy` if another program uses the file, `misuse` if this
  ///   process does.
  func checkIsUnused() throws { _ = try target() }

  private var joining: Joining { Joining(shared: shared, path: path, policy: policy) }

  private func target() throws -> CopyTarget {
    try emptyLog()
    return try CopyTarget(
      path, existing: .replace, isOpen: StoreEngines.isOpen, storePaths: StoreEngines.openPaths)
  }

  /// Moves what is in the log into the file. SQLite removes the log with its last connection.
  private func emptyLog() throws {
    do {
      try Connection(path: path, role: .applier, policy: policy).checkpointPassively()
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
