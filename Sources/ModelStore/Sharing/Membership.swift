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
    /// Whether this process is making the file an ordinary one. A poll may find that half done.
    var isLeaving = false
    var hasEnded = false
    /// Whether the latest attempt to follow reached the ledger's head.
    var isNearHead = false
    /// What the file said when this process last read it or wrote to it. The file may have later
    /// commits that another process applied, but not if the ledger has none.
    var record: MemberRecord?
    /// A commit whose outcome is unknown. Nothing is written before the ledger has resolved it.
    var unresolved: TransactionID?
    /// The commit after which the queued poll ends; nil if none is queued.
    var queuedPoll: CommitNumber?
    /// How many threads wait for a turn, or have it. A turn brings what other members have
    /// committed before, and no member can commit until it ends.
    var turnCount = 0
    var timer: (any DispatchSourceTimer)?
    var bell: (any Doorbell)?
    /// What the ledger last noted of this member, and when.
    var noted: (number: CommitNumber, at: ContinuousClock.Instant)?
    /// The failures of following that were reported since it succeeded last.
    var failures: Set<StoreError.Code> = []
    /// The schema in the version in which it was read.
    var schema: (version: Int64, schema: SharedSchema)?

    /// Notes a failure of following.
    ///
    /// - Returns: Whether it is to be reported.
    mutating func notesFailure(_ code: StoreError.Code) -> Bool {
      !hasEnded && !isLeaving && failures.insert(code).inserted
    }
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
  /// It waits for the busy timeout, and up to twice as long again if servers that were replaced
  /// gave turns.
  ///
  /// - Returns: nil while the file is not a member.
  /// - Throws: ``StoreError`` with code `busy` if other members write for longer,
  ///   `ledgerUnavailable`, `memberDiverged` or `ledgerLostCommits`.
  func beginTurn() throws -> MemberTurn? {
    guard isActive else { return nil }
    state.withLock { $0.turnCount += 1 }
    do {
      let (turn, member) = try takeTurn()
      return MemberTurn(turn, of: self, after: member)
    } catch {
      turnEnded()
      throw Self.storeError(error)
    }
  }

  /// As ``beginTurn()``, for a file that no store has open.
  ///
  /// - Returns: The turn, and the record of the file, which has every commit.
  /// - Throws: Also ``LedgerError`` and ``SchemaChanged``.
  func takeTurn() throws -> (turn: any LedgerTurn, member: MemberRecord) {
    try resolve()
    for _ in 1...Self.turnCountMax {
      do {
        return try takeFittingTurn()
      } catch is OtherHead {
        // If it has them, a server that was replaced gave the turn. Another one answers now.
        try checkLedgerHasCommits()
      }
    }
    throw LedgerError.unreachable("Its server was replaced.")
  }

  /// How many turns are taken if servers that were replaced give them.
  private static let turnCountMax = 3

  /// The file and the ledger that gave a turn do not have the same commits.
  private struct OtherHead: Error {}

  /// - Throws: Also ``OtherHead``.
  private func takeFittingTurn() throws -> (turn: any LedgerTurn, member: MemberRecord) {
    // A turn holds back all members, so only few commits may be missed when it begins.
    let number = try isNearHead ? known().number : catchUp()
    let turn = try ledger.turn(after: number, deadline: patience)
    do {
      let member = try known(at: turn.head) ?? apply(turn.missed)
      try check(member, against: turn.head)
      return (turn, member)
    } catch {
      turn.pass()
      remember(nil)
      throw error
    }
  }

  /// A commit that the file has; it may have later ones.
  private func known() throws -> MemberRecord {
    try state.withLock { $0.record } ?? applying { try $0.standing() }
  }

  /// The file's record if it is known to have every commit.
  private func known(at head: LedgerStanding) -> MemberRecord? {
    state.withLock { $0.record }.flatMap { record in
      record.number == head.number && record.hash == head.hash ? record : nil
    }
  }

  /// Remembers what the file says; nil if that is to be read.
  func remember(_ record: MemberRecord?) { state.withLock { $0.record = record } }

  /// - Throws: ``OtherHead``, ``StoreError`` with code `memberOutdated`.
  private func check(_ member: MemberRecord, against head: LedgerStanding) throws {
    guard member.number == head.number, member.hash == head.hash else {
      throw OtherHead()
    }
    guard member.epoch == head.epoch else { throw StoreError.otherEpoch(path, name) }
  }

  /// Checks that the ledger still has the newest commit of the file.
  ///
  /// - Throws: ``StoreError`` with code `ledgerLostCommits` if it does not.
  private func checkLedgerHasCommits() throws {
    try applying { try $0.standing() }.checkIsKept(by: ledger, path)
  }

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
    let confirmed = try ledger.confirm(number)
    guard confirmed.hash == nil, let head = confirmed.head, head.number >= number else { return }
    throw LedgerError.mismatch("The ledger no longer keeps the commit \(number).")
  }

  // Following

  /// Applies what other members have committed.
  ///
  /// - Parameter aim: The commit after which it ends; nil for the newest one after the first page.
  ///   Others may write without a pause.
  /// - Returns: The newest commit of the file.
  private func catchUp(to aim: CommitNumber? = nil) throws -> CommitNumber {
    var number = try applying { applier in
      // Another process may have applied or written commits.
      let record = try applier.standing()
      remember(record)
      return record.number
    }
    var aim = aim
    while aim.map({ number < $0 }) ?? true {
      let commits = try ledger.commits(after: number, limit: Self.pageCount)
      guard !commits.isEmpty else { break }
      number = try apply(commits).number
      if aim == nil { aim = try ledger.standing()?.number ?? number }
    }
    if !isNearHead {
      try checkLedgerHasCommits()
      state.withLock { $0.isNearHead = true }
    }
    return number
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
      do {
        try checkFit()
      } catch let error as StoreError where error.code == .memberOutdated {
        // The schema may have changed since the file was read.
        try checkFit()
      }
    } catch is LedgerError {
      // The store can be read, and the next opening asks again.
      return
    }
  }

  private func checkFit() throws {
    _ = try catchUp()
    let found = try applying { [path] in try MemberCheck(reading: $0.connection, of: path) }
    try found?.check(in: ledger)
  }

  /// The most commits that are applied in one transaction.
  private static let pageCount = 500

  private func apply(_ commits: [LedgerCommit]) throws -> MemberRecord {
    try applying { applier in
      guard let last = commits.last?.number else {
        let record = try applier.standing()
        remember(record)
        return record
      }
      while true {
        let applied = try applier.apply(commits)
        remember(applied.member)
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
    let poll: @Sendable (_ isQueued: Bool) -> Void = { [weak self] isQueued in
      guard let self, self.poll(isQueued, didApply, report) else { return }
      snapshots.start(copying: copy) { error in
        report(StoreError(reporting: Membership.storeError(error)))
      }
    }
    var bell: (any Doorbell)?
    do {
      bell = try ledger.listen { [weak self, queue] number in
        guard let self, self.isPollDue(after: number) else { return }
        queue.async { poll(true) }
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
      timer.setEventHandler { poll(false) }
      timer.activate()
      state.timer = timer
    }
  }

  /// How long a commit of another member may stay unseen if the ledger does not notify, in
  /// milliseconds.
  private static let pause = 250

  /// Whether a notification asks for a poll that is neither queued nor made by a turn. If the turn
  /// fails, the timer polls.
  func isPollDue(after number: CommitNumber?) -> Bool {
    state.withLock { state in
      let isKnown = state.record.flatMap { record in number.map { $0 <= record.number } } ?? false
      guard !state.hasEnded, state.turnCount == 0, !isKnown else { return false }
      let queued = state.queuedPoll
      state.queuedPoll = max(queued ?? .founding, number ?? .last)
      return queued == nil
    }
  }

  /// Counts the end of a turn of ``beginTurn()``.
  func turnEnded() { state.withLock { $0.turnCount -= 1 } }

  /// - Parameter isQueued: Whether a notification asked for it, so that it ends after its commit.
  ///   What follows brings its own notification.
  /// - Returns: Whether the file has these commits.
  private func poll(
    _ isQueued: Bool, _ didApply: @Sendable (_ pageCount: Int) -> Void,
    _ report: @Sendable (StoreError) -> Void
  ) -> Bool {
    let aim = state.withLock { state in
      let queued = isQueued ? state.queuedPoll.take() : nil
      return (commit: queued == .last ? nil : queued, isActive: !state.hasEnded)
    }
    guard aim.isActive else { return false }
    do {
      let before = try applying { try $0.standing().number }
      let after = try catchUp(to: aim.commit)
      if after != before { didApply(try applying { $0.connection.hooks.walFrameCount }) }
      try note(after)
      state.withLock { $0.failures = [] }
      return true
    } catch let error as SQLiteError where error.code.primary == .busy {
      // A program writes to the file. The next poll tries again. SQLite has waited for the busy
      // timeout if it has this code, and not one that extends it.
      if error.code == .busy, isNewFailure(.busy) { report(.locked(path)) }
      return false
    } catch {
      let failure = StoreError(reporting: Self.storeError(error))
      let isNew = state.withLock { state in
        state.isNearHead = false
        state.record = nil
        return state.notesFailure(failure.code)
      }
      if isNew { report(failure) }
      return false
    }
  }

  private func isNewFailure(_ code: StoreError.Code) -> Bool {
    state.withLock { $0.notesFailure(code) }
  }

  /// Has the ledger note which commit the file has: each minute, and soon after new commits.
  private func note(_ number: CommitNumber) throws {
    let isDue = state.withLock { state in
      guard let noted = state.noted else { return true }
      let pause = noted.number == number ? Self.notePauseMax : Self.notePause
      return noted.at.duration(to: .now) >= pause
    }
    guard isDue else { return }
    let noted = try noteStanding()
    state.withLock { $0.noted = (noted, .now) }
  }

  /// Has the ledger note which commit the file has now.
  private func noteStanding() throws -> CommitNumber {
    let member = try applying { try $0.standing() }
    try ledger.note(member.member, at: member.number)
    return member.number
  }

  /// Makes sure that the ledger has every commit of the store: a server that its cluster has
  /// replaced cannot note anything.
  ///
  /// - Throws: ``StoreError``, mostly with code `ledgerUnavailable`.
  func confirmLedger() throws {
    do {
      _ = try noteStanding()
    } catch {
      throw Self.storeError(error)
    }
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
      state.withLock { state in
        state.isMember = false
        state.record = nil
      }
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
