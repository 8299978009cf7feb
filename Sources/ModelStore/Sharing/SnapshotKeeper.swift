internal import Dispatch
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A copy of a member's file, to be published.
struct MemberSnapshot {
  let record: MemberRecord
  /// The digest of its schema.
  let schema: [UInt8]
  let source: any SnapshotSource
}

/// Publishes a new snapshot of the store when many commits follow the newest one, so that a new
/// member begins soon and the ledger does not grow for ever.
///
/// Every member counts the bytes of the commits that it makes and applies. So it asks the ledger
/// only when a snapshot is probably due, and the ledger decides which member publishes it. No
/// member waits for a snapshot.
final class SnapshotKeeper: Sendable {
  private let ledger: any CommitLedger
  private let path: String
  /// The bytes of commits for which a snapshot of a small file is not worth while.
  private let byteCountMin: Int64
  private let queue = DispatchQueue(label: "modelstore.snapshot", qos: .utility)
  private let state = Mutex(State())

  private struct State {
    /// The bytes of commits since the ledger was asked.
    var byteCount: Int64 = 0
    /// At how many bytes the ledger is asked. The first commit asks, because other members may have
    /// made many before.
    var byteCountToAsk: Int64 = 1
    var isRunning = false
    var hasEnded = false
  }

  init(of ledger: any CommitLedger, path: String, byteCountMin: Int64) {
    self.ledger = ledger
    self.path = path
    self.byteCountMin = byteCountMin
  }

  /// Counts commits that this process has made or applied.
  func count(_ commits: some Sequence<LedgerCommit>) {
    let byteCount = commits.reduce(0) { $0 + Int64($1.record.count) }
    state.withLock { $0.byteCount += byteCount }
  }

  /// Begins to publish a snapshot on another thread, if one may be due.
  ///
  /// - Parameters:
  ///   - copy: Copies the member's file. It throws if the work is stopped.
  ///   - report: Receives the reason for which no snapshot was published.
  func start(
    copying copy: @escaping @Sendable () throws -> MemberSnapshot?,
    report: @escaping @Sendable (any Error) -> Void
  ) {
    let mayBeDue = state.withLock { state in
      guard state.byteCount >= state.byteCountToAsk, !state.isRunning, !state.hasEnded else {
        return false
      }
      state.isRunning = true
      return true
    }
    guard mayBeDue else { return }
    queue.async { [self] in
      defer { state.withLock { $0.isRunning = false } }
      do {
        try publishIfDue(copying: copy)
      } catch {
        if !hasEnded { report(error) }
      }
    }
  }

  /// Publishes a snapshot if one is due and no other member publishes one.
  ///
  /// - Returns: Whether the ledger has a new snapshot.
  @discardableResult
  func publishIfDue(copying copy: () throws -> MemberSnapshot?) throws -> Bool {
    let limit = max(byteCountMin, fileByteCount)
    // After a failure, too: the next attempt follows after more commits.
    ask(after: byteCountMin)
    switch try ledger.snapshotTurn(from: limit) {
    case .taken: return false
    case .notDue(let byteCount):
      ask(after: limit - byteCount)
      return false
    case .granted(let turn):
      let copied: MemberSnapshot?
      do {
        copied = try copy().flatMap { try mayBegin(from: $0) ? $0 : nil }
      } catch {
        turn.pass()
        throw error
      }
      guard let copied else {
        turn.pass()
        return false
      }
      try turn.publish(
        StoppableSource(copied.source, of: self), at: copied.record.number,
        hash: copied.record.hash)
      return true
    }
  }

  private func ask(after byteCount: Int64) {
    state.withLock { state in
      state.byteCount = 0
      state.byteCountToAsk = byteCount
    }
  }

  /// Whether other members may begin from the copy. They may not if the schema has changed since.
  ///
  /// - Throws: ``StoreError`` with code `memberDiverged` if another program has changed its schema.
  private func mayBegin(from copied: MemberSnapshot) throws -> Bool {
    guard let head = try ledger.standing() else { return true }
    guard head.epoch == copied.record.epoch else { return false }
    guard head.schema != copied.schema else { return true }
    throw StoreError(
      .memberDiverged,
      "The schema of \(path) is not that of the shared store \(copied.record.store), so no snapshot of it was published."
    )
  }

  private var fileByteCount: Int64 {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }

  /// Whether running work is to stop.
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Stops what runs soon, without waiting for it.
  func end() { state.withLock { $0.hasEnded = true } }

  /// Fails between two parts when the keeper has ended.
  private final class StoppableSource: SnapshotSource {
    private let source: any SnapshotSource
    private let keeper: SnapshotKeeper

    init(_ source: any SnapshotSource, of keeper: SnapshotKeeper) {
      self.source = source
      self.keeper = keeper
    }

    func next() throws -> [UInt8]? {
      guard !keeper.hasEnded else { throw StoreError(.misuse, "The store is closed.") }
      return try source.next()
    }
  }
}
