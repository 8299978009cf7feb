internal import Dispatch
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The part of this process in a shared store: it takes turns for the store's writes, and follows
/// what other members commit.
///
/// Several processes may use one member's file. Each has a membership of its own; the file says
/// which commit it has (``MemberRecord``), and SQLite's lock orders the processes.
final class Membership: Sendable {
  /// The ledger, and the name of the store in it.
  let ledger: any CommitLedger
  let name: String
  private let path: String
  /// Publishes snapshots.
  let snapshots: SnapshotKeeper
  private let policy: Connection.Policy
  /// How long a write waits for other members.
  private let patience: Duration
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "modelstore.member", qos: .userInitiated)

  private struct State {
    var isMember = false
    /// Whether this process is making the file an ordinary one. A look may find that half done.
    var isLeaving = false
    var hasEnded = false
    /// Whether the latest attempt to follow reached the ledger's head.
    var isNearHead = false
    /// A commit whose outcome is unknown. Nothing is written before the ledger has resolved it.
    var unresolved: TransactionID?
    var isRung = false
    var timer: (any DispatchSourceTimer)?
    var bell: (any Doorbell)?
    /// What the ledger last noted of this member, and when.
    var noted: (number: CommitNumber, at: ContinuousClock.Instant)?
    /// The failures of following that were reported since it succeeded last.
    var failures: Set<StoreError.Code> = []
    /// The schema in the version in which it was read.
    var schema: (version: Int64, schema: SharedSchema)?
  }

  /// Applies commits on one thread at a time.
  private let applier = BargingMutex<CommitApplier?>(nil)

  init(_ shared: SharedLedger, path: String, policy: Connection.Policy, patience: Duration) throws {
    ledger = try shared.open()
    name = shared.name
    self.path = path
    self.policy = policy
    self.patience = patience
    snapshots = SnapshotKeeper(of: ledger, path: path, byteCountMin: shared.snapshotByteCountMin)
  }

  /// Whether the file is a member. Writes take turns from then on.
  var isActive: Bool { state.withLock { $0.isMember } }

  private var isNearHead: Bool { state.withLock { $0.isNearHead } }

  // Turns

  /// Waits until this process may make the next commit of the store, and applies what it missed.
  ///
  /// - Returns: nil while the file is not a member.
  /// - Throws: ``StoreError`` with code `busy` if other members write for longer than the busy
  ///   timeout, `ledgerUnavailable`, `memberDiverged` or `ledgerLostCommits`.
  func beginTurn() throws -> MemberTurn? {
    guard isActive else { return nil }
    do {
      let (turn, member) = try takeTurn()
      return MemberTurn(turn, of: self, after: member)
    } catch {
      throw Self.storeError(error)
    }
  }

  /// As ``beginTurn()``, for a file that no store has open.
  ///
  /// - Returns: The turn, and the record of the file, which has every commit.
  /// - Throws: Also ``LedgerError`` and ``SchemaChanged``.
  func takeTurn() throws -> (turn: any LedgerTurn, member: MemberRecord) {
    try resolve()
    // A turn holds back all members, so only few commits may be missed when it begins.
    let number = try isNearHead ? applying { try $0.standing().number } : catchUp()
    let turn = try ledger.turn(after: number, deadline: patience)
    do {
      let member = try apply(turn.missed)
      try check(member, against: turn.head)
      return (turn, member)
    } catch {
      turn.pass()
      throw error
    }
  }

  /// - Throws: ``StoreError`` if the file and the ledger do not have the same commits.
  private func check(_ member: MemberRecord, against head: LedgerStanding) throws {
    guard member.epoch == head.epoch else {
      throw StoreError.otherEpoch(path, name)
    }
    guard member.number != head.number || member.hash != head.hash else { return }
    throw lostCommits
  }

  /// Checks that the ledger still has the newest commit of the file.
  ///
  /// - Throws: ``StoreError`` with code `ledgerLostCommits` if it does not.
  private func checkLedgerHasCommits() throws {
    let member = try applying { try $0.standing() }
    let hash = try ledger.hash(of: member.number)
    guard hash != member.hash else { return }
    // A ledger does not keep its oldest commits for ever.
    if hash == nil, let head = try ledger.standing(), head.number > member.number { return }
    throw lostCommits
  }

  private var lostCommits: StoreError { .lostCommits(path, name) }

  /// The schema of the file, as the transaction on `connection` sees it.
  func schema(on connection: Connection) throws -> SharedSchema {
    let version = try connection.schemaVersion()
    if let known = state.withLock({ $0.schema }), known.version == version { return known.schema }
    let schema = try SharedSchema(reading: connection)
    state.withLock { $0.schema = (version, schema) }
    return schema
  }

  /// - Throws: ``StoreError`` with code `memberDiverged` if the file has not the schema of `head`.
  func check(_ schema: SharedSchema, against head: LedgerStanding) throws {
    guard schema.digest != head.schema else { return }
    throw StoreError.otherSchema(path, name)
  }

  // Outcomes

  /// Asks the ledger about a commit whose outcome is unknown.
  private func resolve() throws {
    guard let transaction = state.withLock({ $0.unresolved }) else { return }
    _ = try ledger.resolve(transaction, deadline: patience)
    // If the ledger has it, it is applied as a commit that the file missed.
    state.withLock { $0.unresolved = nil }
  }

  /// Returns whether the ledger has a commit that was on its way when the connection broke. It asks
  /// until it knows, or until the busy timeout.
  ///
  /// - Parameter commit: The commit in question.
  func hasCommitted(_ commit: LedgerCommit) throws -> Bool {
    state.withLock { $0.unresolved = commit.transaction }
    let start = ContinuousClock.now
    while true {
      do {
        let number = try ledger.resolve(commit.transaction, deadline: patience)
        if number == nil { try checkIsKept(commit.number) }
        state.withLock { $0.unresolved = nil }
        return number != nil
      } catch let error as LedgerError {
        guard start.duration(to: .now) < patience else { throw error }
        usleep(50_000)
      }
    }
  }

  /// - Throws: ``LedgerError`` if the ledger has removed the commit with `number`, so that it no
  ///   longer knows which one that was.
  private func checkIsKept(_ number: CommitNumber) throws {
    guard try ledger.hash(of: number) == nil, let head = try ledger.standing(),
      head.number >= number
    else { return }
    throw LedgerError.mismatch("The ledger no longer keeps the commit \(number).")
  }

  // Following

  /// Applies what other members have committed.
  ///
  /// - Returns: The newest commit of the file.
  private func catchUp() throws -> CommitNumber {
    var number = try applying { try $0.standing().number }
    while true {
      let commits = try ledger.commits(after: number, limit: Self.pageCount)
      guard !commits.isEmpty else {
        if !isNearHead {
          try checkLedgerHasCommits()
          state.withLock { $0.isNearHead = true }
        }
        return number
      }
      number = try apply(commits).number
    }
  }

  /// Runs ``catchUp()`` if the file is a member, and throws the errors that callers see.
  func refresh() throws {
    guard isActive else { return }
    do {
      _ = try catchUp()
      try checkLedgerHasCommits()
    } catch {
      throw Self.storeError(error)
    }
  }

  /// Applies what the file missed if the schema has changed since. While the ledger cannot be
  /// reached, it does nothing.
  ///
  /// - Throws: As ``checkFits()``.
  func checkSchema() throws {
    do {
      guard let head = try ledger.standing(),
        try applying({ try $0.standing().epoch }) != head.epoch
      else { return }
      _ = try catchUp()
    } catch is LedgerError {
      return
    }
  }

  /// Applies what the file missed, and compares the file with the ledger. While the ledger cannot
  /// be reached, it does nothing.
  ///
  /// - Throws: ``StoreError`` with code `memberDiverged`, `memberOutdated` or `ledgerLostCommits`.
  ///   ``SchemaChanged``.
  func checkFits() throws {
    do {
      _ = try catchUp()
      guard let head = try ledger.standing() else { return }
      let found = try applying { [path] in try MemberCheck(reading: $0.connection, of: path) }
      // The schema may have changed since.
      if let found, found.record.epoch != head.epoch { _ = try catchUp() }
      try found?.check(against: head, in: ledger)
    } catch is LedgerError {
      // The store can be read, and the next opening asks again.
      return
    }
  }

  /// The most commits that are applied in one transaction.
  private static let pageCount = 500

  private func apply(_ commits: [LedgerCommit]) throws -> MemberRecord {
    try applying { applier in
      guard let last = commits.last?.number else { return try applier.standing() }
      while true {
        let applied = try applier.apply(commits)
        snapshots.count(
          commits.filter { $0.number <= applied.member.number }.suffix(applied.count))
        // It stops before a commit that changes the schema, which the next call reports.
        if applied.member.number >= last { return applied.member }
      }
    }
  }

  func applying<Result: Sendable>(
    _ body: (CommitApplier) throws -> Result
  ) throws -> Result {
    try applier.withLockUnchecked { applier in
      guard !state.withLock({ $0.hasEnded }) else {
        throw StoreError(.misuse, "The store is closed.")
      }
      let present = try applier ?? CommitApplier(path: path, policy: policy)
      applier = present
      return try body(present)
    }
  }

  /// Begins to take turns and to follow, because the file is a member.
  ///
  /// - Parameters:
  ///   - didApply: Called after other members' commits were applied, with the length of the log in
  ///     pages.
  ///   - copy: Copies the file for a snapshot; returns nil if the store is closed.
  ///   - report: Receives each failure of following once until it succeeds again, and failures of
  ///     publishing a snapshot.
  func activate(
    didApply: @escaping @Sendable (_ pageCount: Int) -> Void,
    copying copy: @escaping @Sendable () throws -> MemberSnapshot?,
    report: @escaping @Sendable (StoreError) -> Void
  ) {
    let isFirst = state.withLock { state in
      guard !state.isMember, !state.hasEnded else { return false }
      state.isMember = true
      return true
    }
    guard isFirst else { return }
    let look: @Sendable () -> Void = { [weak self] in
      guard let self, self.look(didApply, report) else { return }
      snapshots.start(copying: copy) { error in
        report(StoreError(reporting: Membership.storeError(error)))
      }
    }
    var bell: (any Doorbell)?
    do {
      bell = try ledger.listen { [weak self, queue] in
        guard let self, self.isNextRing() else { return }
        queue.async { look() }
      }
    } catch {
      // The timer finds commits, too.
      report(StoreError(reporting: Self.storeError(error)))
    }
    state.withLock { [bell] state in
      state.bell = bell
      let timer = DispatchSource.makeTimerSource(queue: queue)
      timer.schedule(
        deadline: .now(), repeating: .milliseconds(Self.pause),
        leeway: .milliseconds(Self.pause / 5))
      timer.setEventHandler(handler: look)
      timer.activate()
      state.timer = timer
    }
  }

  /// How long a commit of another member may stay unseen if the ledger does not ring, in
  /// milliseconds.
  private static let pause = 250

  /// Whether no look is queued yet.
  private func isNextRing() -> Bool {
    state.withLock { state in
      defer { state.isRung = true }
      return !state.isRung && !state.hasEnded
    }
  }

  /// - Returns: Whether the file has what the ledger had.
  private func look(
    _ didApply: @Sendable (_ pageCount: Int) -> Void, _ report: @Sendable (StoreError) -> Void
  ) -> Bool {
    let isToLook = state.withLock { state in
      state.isRung = false
      return !state.hasEnded
    }
    guard isToLook else { return false }
    do {
      let before = try applying { try $0.standing().number }
      let after = try catchUp()
      state.withLock { $0.failures = [] }
      if after != before { didApply(try applying { $0.connection.hooks.walFrameCount }) }
      try note(after)
      return true
    } catch let error as SQLiteError where error.code.primary == .busy {
      // A program writes to the file. The next look tries again.
      return false
    } catch {
      let failure = StoreError(reporting: Self.storeError(error))
      let isNew = state.withLock { state in
        state.isNearHead = false
        return state.failures.insert(failure.code).inserted && !state.hasEnded && !state.isLeaving
      }
      if isNew { report(failure) }
      return false
    }
  }

  /// Has the ledger note which commit the file has: each minute, and soon after new commits.
  private func note(_ number: CommitNumber) throws {
    let isDue = state.withLock { state in
      guard let noted = state.noted else { return true }
      let pause = noted.number == number ? Self.notePauseMax : Self.notePause
      return noted.at.duration(to: .now) >= pause
    }
    guard isDue else { return }
    let member = try applying { try $0.standing() }
    try ledger.note(member.member, at: member.number)
    state.withLock { $0.noted = (member.number, .now) }
  }

  private static let notePause = Duration.seconds(10)
  private static let notePauseMax = Duration.seconds(60)

  /// Ends following. It returns when no commit is being applied any more.
  func end() {
    let bell = state.withLock { state in
      state.hasEnded = true
      state.timer.take()?.cancel()
      return state.bell.take()
    }
    bell?.end()
    snapshots.end()
    applier.withLockUnchecked { $0 = nil }
  }

  /// Runs `body`, which makes the file an ordinary one, and takes turns no longer.
  func leaving<Result>(_ body: () throws -> Result) throws -> Result {
    state.withLock { $0.isLeaving = true }
    do {
      let result = try body()
      end()
      state.withLock { $0.isMember = false }
      return result
    } catch {
      state.withLock { $0.isLeaving = false }
      throw error
    }
  }

  // Errors

  /// The error that callers see.
  static func storeError(_ error: any Error) -> any Error {
    switch error {
    case let error as LedgerError: error.storeError
    case let changed as SchemaChanged: StoreError.schemaChanged(changed.number)
    case let failure as ConnectionFailure: failure.storeError
    case let error as SQLiteError: StoreError(error)
    default: error
    }
  }
}

/// The turn of this process, from before BEGIN to the end of its transaction.
final class MemberTurn {
  private let turn: any LedgerTurn
  private let membership: Membership
  /// The commit before.
  private let member: MemberRecord
  private var log: RowLog?
  private var hasSequences = false
  private var headerNumbers: [Int64] = []
  private var sequences: [CommitRecord.Sequence] = []
  private var hasEnded = false
  /// The commit that the ledger has, until the file has it, too.
  private(set) var appended: LedgerCommit?

  fileprivate init(_ turn: any LedgerTurn, of membership: Membership, after member: MemberRecord) {
    self.turn = turn
    self.membership = membership
    self.member = member
  }

  /// Checks the file's schema, and begins to note rows.
  ///
  /// - Precondition: A write transaction is open, and nothing was changed in it.
  /// - Throws: ``StoreError`` with code `memberDiverged`.
  func start(on connection: Connection) throws {
    let schema = try membership.schema(on: connection)
    try membership.check(schema, against: turn.head)
    let log = RowLog(of: schema.tables)
    self.log = log
    hasSequences = schema.tables.hasSequences
    sequences = try sequences(on: connection)
    headerNumbers = try Self.headerNumbers(on: connection)
    connection.hooks.onEveryRow { row in log.note(row) }
  }

  /// Puts the transaction into the ledger, if it changed anything. After that, only a failure of
  /// the disk can keep it from the file.
  ///
  /// From here to ``end(on:)``, nothing stops the statements of `connection`.
  ///
  /// - Precondition: What could refuse the COMMIT was checked.
  /// - Throws: ``StoreError``. The ledger does not have the transaction, unless the code is
  ///   `outcomeUnknown`.
  func append(_ transaction: TransactionID, on connection: Connection) throws {
    guard let log else { preconditionFailure("A turn begins before it ends.") }
    connection.hooks.onEveryRow(nil)
    connection.hooks.setStops(.refused)
    let tables = try log.changes(on: connection)
    let sequences = try sequences(on: connection)
    guard !tables.isEmpty || sequences != self.sequences else { return pass() }
    let commit = CommitRecord(
      number: member.number.next, previous: member.hash, transaction: transaction, tables: tables,
      sequences: sequences
    ).ledgerCommit
    try MemberRecord.advance(to: commit.number, commit.hash, on: connection)
    hasEnded = true
    do {
      try turn.append(commit)
    } catch LedgerError.outcomeUnknown {
      try resolve(commit)
    } catch {
      throw Membership.storeError(error)
    }
    appended = commit
    membership.snapshots.count(CollectionOfOne(commit))
  }

  private func resolve(_ commit: LedgerCommit) throws {
    let hasCommitted: Bool
    do {
      hasCommitted = try membership.hasCommitted(commit)
    } catch {
      var error = StoreError(
        .outcomeUnknown,
        "The connection to the ledger broke while the transaction was on its way, and the ledger cannot be asked yet. The next write asks it first. If the ledger has the transaction, this file receives it."
      )
      error.transaction = commit.transaction
      throw error
    }
    guard hasCommitted else {
      throw LedgerError.unreachable(
        "The connection to the ledger broke before it had the transaction."
      ).storeError
    }
  }

  /// Ends the turn, if ``append(_:on:)`` has not. It does not change the transaction.
  func end(on connection: Connection) {
    connection.hooks.onEveryRow(nil)
    connection.hooks.setStops(.allowed)
    pass()
  }

  private func pass() {
    guard !hasEnded else { return }
    hasEnded = true
    turn.pass()
  }

  /// The error for a transaction that ended with `error`: it says so if the ledger has it.
  func failure(_ error: any Error) -> any Error {
    guard let appended else { return error }
    var failure = StoreError(
      .memberBehind,
      "The shared store has the transaction, but this file could not be written (\(StoreError(reporting: Membership.storeError(error)).message)). The file receives the transaction when it can be written again. Do not repeat it."
    )
    failure.transaction = appended.transaction
    return failure
  }

  /// - Throws: ``StoreError`` with code `unsupportedSchema` if the transaction changed one of the
  ///   numbers in the file's header. They are not rows, so no record has them.
  func checkHeaderNumbers(on connection: Connection) throws {
    guard try Self.headerNumbers(on: connection) != headerNumbers else { return }
    throw StoreError(
      .unsupportedSchema,
      "PRAGMA user_version and PRAGMA application_id cannot be set in a shared store, because they would reach no other member. Nothing was changed."
    )
  }

  private static func headerNumbers(on connection: Connection) throws -> [Int64] {
    try ["PRAGMA main.user_version", "PRAGMA main.application_id"].map { pragma in
      try connection.firstRow(SQLText(sql: pragma), { try $0.integer(at: 0) }) ?? 0
    }
  }

  private func sequences(on connection: Connection) throws -> [CommitRecord.Sequence] {
    hasSequences ? try CommitRecord.Sequence.all(on: connection) : []
  }
}
