internal import Dispatch
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A ledger in the memory of this process, for tests and simulations. It ends with the process.
///
/// All members use the same object. Turns go to threads in the order in which they asked.
package final class MemoryLedger: CommitLedger {
  /// A place at which a ledger can fail.
  package enum Step: Hashable, Sendable, CaseIterable {
    case standing, found, turn, commits, hash, confirm, resolve, listen
    case snapshot, snapshotTurn, publish, note, members
    /// Before an appended commit is in the ledger.
    case append
    /// After an appended commit is in the ledger, before its writer knows.
    case appended
  }

  private struct Store {
    var standing: LedgerStanding
    /// The commit in whose state the store was founded.
    let base: (number: CommitNumber, hash: CommitHash)
    /// The commits that the ledger keeps, up to the newest one.
    var commits: [LedgerCommit] = []
    var numbers: [TransactionID: CommitNumber] = [:]
    var snapshot: Parts
    var members: [MemberStanding] = []

    func hash(of number: CommitNumber) -> CommitHash? {
      if number == base.number { return base.hash }
      guard let first = commits.first?.number, first <= number else { return nil }
      return commits.dropFirst(Int(number.rawValue - first.rawValue)).first?.hash
    }

    func commits(after number: CommitNumber) -> ArraySlice<LedgerCommit> {
      guard let first = commits.first?.number else { return [] }
      return commits.dropFirst(Int(max(0, number.next.rawValue - first.rawValue)))
    }

    mutating func removeCommits(before number: CommitNumber) {
      let removed = commits.prefix { $0.number < number }
      for commit in removed { numbers[commit.transaction] = nil }
      commits.removeFirst(removed.count)
    }
  }

  fileprivate struct Parts: Sendable {
    let number: CommitNumber
    let hash: CommitHash
    let bytes: [[UInt8]]

    init(_ source: any SnapshotSource, number: CommitNumber, hash: CommitHash) throws {
      self.number = number
      self.hash = hash
      var bytes: [[UInt8]] = []
      while let part = try source.next() { bytes.append(part) }
      self.bytes = bytes
    }
  }

  private struct State {
    var store: Store?
    var isTaken = false
    var isPublishing = false
    /// Threads that wait for the turn, in order of arrival.
    var waiting: [DispatchSemaphore] = []
    var bells: [Int: @Sendable (CommitNumber?) -> Void] = [:]
    var bellCount = 0
  }

  private let state = Mutex(State())
  private let ringing = DispatchQueue(label: "modelstore.memory-ledger")
  private let durability: LedgerDurability
  private let clock: @Sendable () -> Int64
  private let reach: @Sendable (Step) throws -> Void
  private let pageByteCountMax: Int

  /// - Parameters:
  ///   - durability: What ``LedgerStanding/durability`` says.
  ///   - pageByteCountMax: A page of ``commits(after:limit:)`` ends with the commit that brings its
  ///     records to this number of bytes.
  ///   - reach: Called at each step. If it throws ``LedgerError``, the call throws it: before the
  ///     step took place, but after it for ``Step/appended``.
  ///   - clock: Microseconds since 1970-01-01 00:00:00 UTC; nil for the system's clock.
  package init(
    durability: LedgerDurability = .local, pageByteCountMax: Int = 8 << 20,
    reach: (@Sendable (Step) throws -> Void)? = nil,
    clock: (@Sendable () -> Int64)? = nil
  ) {
    self.durability = durability
    self.clock = clock ?? Self.now
    self.reach = reach ?? { _ in }
    self.pageByteCountMax = pageByteCountMax
  }

  /// This ledger, for ``StoreConfiguration/ledger``.
  package func shared(as name: String) -> SharedLedger {
    SharedLedger(name: name, description: "memory \(ObjectIdentifier(self))") { self }
  }

  private static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }

  // Reading

  package func standing() throws -> LedgerStanding? {
    try reach(.standing)
    return state.withLock { $0.store?.standing }
  }

  package func commits(after number: CommitNumber, limit: Int) throws -> [LedgerCommit] {
    try reach(.commits)
    let commits = state.withLock { Array($0.store?.commits(after: number).prefix(limit) ?? []) }
    var byteCount = 0
    return Array(
      commits.prefix { commit in
        defer { byteCount += commit.record.count }
        return byteCount < pageByteCountMax
      })
  }

  package func hash(of number: CommitNumber) throws -> CommitHash? {
    try reach(.hash)
    return state.withLock { $0.store?.hash(of: number) }
  }

  package func confirm(
    _ number: CommitNumber
  ) throws -> (hash: CommitHash?, head: LedgerStanding?) {
    try reach(.confirm)
    return state.withLock { ($0.store?.hash(of: number), $0.store?.standing) }
  }

  package func members() throws -> [MemberStanding] {
    try reach(.members)
    // They are in the order of their notes, of which two may have the same time.
    return state.withLock { $0.store?.members ?? [] }.reversed()
  }

  // Founding, snapshots, members

  package func found(_ standing: LedgerStanding, snapshot: any SnapshotSource) throws -> Bool {
    try reach(.found)
    guard state.withLock({ $0.store == nil }) else { return false }
    let parts = try Parts(snapshot, number: standing.number, hash: standing.hash)
    var standing = standing
    standing.durability = durability
    return state.withLock { [standing] state in
      guard state.store == nil else { return false }
      state.store = Store(
        standing: standing, base: (standing.number, standing.hash), snapshot: parts)
      return true
    }
  }

  package func snapshot() throws -> (any SnapshotReader)? {
    try reach(.snapshot)
    return state.withLock { $0.store?.snapshot }.map(Reader.init)
  }

  package func snapshotTurn(from byteCount: Int64) throws -> SnapshotAnswer {
    try reach(.snapshotTurn)
    let found = try state.withLock { state -> Int64? in
      guard let store = state.store else { throw Self.unfounded }
      guard !state.isPublishing else { return nil }
      let found = store.commits(after: store.snapshot.number)
        .reduce(0) { $0 + Int64($1.record.count) }
      state.isPublishing = found >= byteCount
      return found
    }
    guard let found else { return .taken }
    return found >= byteCount ? .granted(Publication(of: self)) : .notDue(byteCount: found)
  }

  fileprivate func endPublishing() { state.withLock { $0.isPublishing = false } }

  fileprivate func publish(
    _ snapshot: any SnapshotSource, at number: CommitNumber, hash: CommitHash
  ) throws {
    try reach(.publish)
    let parts = try Parts(snapshot, number: number, hash: hash)
    let oldest = clock() - Self.memberAgeMax
    try change { store in
      guard store.hash(of: number) == hash else {
        throw LedgerError.mismatch("The ledger does not have commit \(number) with this hash.")
      }
      guard store.snapshot.number < number else { return }
      store.removeCommits(before: store.snapshot.number)
      store.snapshot = parts
      store.members.removeAll { $0.seenAt < oldest }
    }
  }

  /// Members that noted nothing for 30 days are forgotten, in microseconds.
  private static let memberAgeMax: Int64 = 30 * 86_400 * 1_000_000

  package func note(_ member: MemberID, at number: CommitNumber) throws {
    try reach(.note)
    let standing = MemberStanding(member: member, number: number, seenAt: clock())
    try change { store in
      store.members.removeAll { $0.member == member }
      store.members.append(standing)
    }
  }

  private func change(_ body: (inout Store) throws -> Void) throws {
    try state.withLock { state in
      guard var store = state.store.take() else { throw Self.unfounded }
      defer { state.store = store }
      try body(&store)
    }
  }

  private static let unfounded = LedgerError.mismatch("The ledger does not have this store.")

  // Turns

  package func turn(after number: CommitNumber, deadline: Duration) throws -> any LedgerTurn {
    try reach(.turn)
    try take(deadline)
    guard let store = state.withLock({ $0.store }) else {
      endTurn()
      throw Self.unfounded
    }
    return Turn(
      of: self, head: store.standing, missed: Array(store.commits(after: number)))
  }

  package func resolve(
    _ transaction: TransactionID, deadline: Duration
  ) throws -> CommitNumber? {
    try reach(.resolve)
    try take(deadline)
    defer { endTurn() }
    guard let store = state.withLock({ $0.store }) else { throw Self.unfounded }
    return store.numbers[transaction]
  }

  private func take(_ deadline: Duration) throws {
    let semaphore = DispatchSemaphore(value: 0)
    let isFree = state.withLock { state in
      guard state.isTaken else {
        state.isTaken = true
        return true
      }
      state.waiting.append(semaphore)
      return false
    }
    guard !isFree, semaphore.wait(timeout: .now() + deadline.interval) == .timedOut else { return }
    let isWaiting = state.withLock { state in
      let place = state.waiting.firstIndex { $0 === semaphore }
      if let place { state.waiting.remove(at: place) }
      return place != nil
    }
    // Otherwise the turn was handed over after the deadline.
    guard isWaiting else { return }
    throw LedgerError.timedOut("Other members kept the turn for \(deadline).")
  }

  fileprivate func endTurn() {
    state.withLock { state in
      if state.waiting.isEmpty {
        state.isTaken = false
      } else {
        state.waiting.removeFirst().signal()
      }
    }
  }

  fileprivate func append(_ commit: LedgerCommit, changingTo schema: LedgerSchema?) throws {
    defer { endTurn() }
    try reach(.append)
    let parts = try schema.map {
      try Parts($0.snapshot, number: commit.number, hash: commit.hash)
    }
    try change { store in
      guard commit.number == store.standing.number.next else {
        throw LedgerError.mismatch(
          "Commit \(commit.number) does not follow commit \(store.standing.number).")
      }
      guard store.numbers.updateValue(commit.number, forKey: commit.transaction) == nil else {
        throw LedgerError.mismatch("The ledger already has transaction \(commit.transaction).")
      }
      store.commits.append(commit)
      store.standing.number = commit.number
      store.standing.hash = commit.hash
      guard let schema, let parts else { return }
      store.standing.epoch = schema.epoch
      store.standing.schema = schema.digest
      // Commits stay, so that a member which lacks several changes meets the first one.
      store.snapshot = parts
    }
    let bells = state.withLock { Array($0.bells.values) }
    if !bells.isEmpty { ringing.async { for ring in bells { ring(commit.number) } } }
    try reach(.appended)
  }

  // Listening

  package func listen(
    _ ring: @escaping @Sendable (CommitNumber?) -> Void
  ) throws -> any Doorbell {
    try reach(.listen)
    let bell = state.withLock { state in
      state.bellCount += 1
      state.bells[state.bellCount] = ring
      return state.bellCount
    }
    return Bell(number: bell, ledger: self)
  }

  private final class Bell: Doorbell {
    private let number: Int
    private let ledger: MemoryLedger

    init(number: Int, ledger: MemoryLedger) {
      self.number = number
      self.ledger = ledger
    }

    deinit { end() }

    func end() {
      // Released outside the lock: it may hold the last reference of anything.
      let ring = ledger.state.withLock { $0.bells.removeValue(forKey: number) }
      withExtendedLifetime(ring) {}
    }
  }

  private final class Turn: LedgerTurn {
    let head: LedgerStanding
    let missed: [LedgerCommit]
    private let ledger: MemoryLedger
    private var isOver = false

    init(of ledger: MemoryLedger, head: LedgerStanding, missed: [LedgerCommit]) {
      self.ledger = ledger
      self.head = head
      self.missed = missed
    }

    deinit { if !isOver { ledger.endTurn() } }

    func extend() throws {}

    func append(_ commit: LedgerCommit) throws {
      end()
      try ledger.append(commit, changingTo: nil)
    }

    func append(_ commit: LedgerCommit, changingTo schema: LedgerSchema) throws {
      end()
      try ledger.append(commit, changingTo: schema)
    }

    func pass() {
      end()
      ledger.endTurn()
    }

    private func end() {
      precondition(!isOver, "A turn ends once.")
      isOver = true
    }
  }

  private final class Publication: SnapshotTurn {
    private let ledger: MemoryLedger
    private var isOver = false

    init(of ledger: MemoryLedger) { self.ledger = ledger }

    deinit { if !isOver { ledger.endPublishing() } }

    func publish(
      _ snapshot: any SnapshotSource, at number: CommitNumber, hash: CommitHash
    ) throws {
      defer { pass() }
      try ledger.publish(snapshot, at: number, hash: hash)
    }

    func pass() {
      precondition(!isOver, "The right to publish ends once.")
      isOver = true
      ledger.endPublishing()
    }
  }

  private final class Reader: SnapshotReader {
    let number: CommitNumber
    let hash: CommitHash
    private var rest: ArraySlice<[UInt8]>

    init(_ parts: Parts) {
      number = parts.number
      hash = parts.hash
      rest = parts.bytes[...]
    }

    func next() throws -> [UInt8]? { rest.popFirst() }
  }
}

extension Duration {
  /// For Dispatch, at most a day.
  fileprivate var interval: DispatchTimeInterval {
    let seconds = min(max(self, .zero), .seconds(86_400)) / .seconds(1)
    return .microseconds(Int(seconds * 1_000_000))
  }
}
