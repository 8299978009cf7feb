import Synchronization
import Testing

@testable import ModelStore

/// A ledger in memory that a member may reach through a server that was replaced. Such a server
/// answers with what it had then, as long as it need not prove that it is the primary.
final class ReplacedLedger: CommitLedger {
  private struct State {
    /// The newest commit of the server that was replaced.
    var old: LedgerStanding?
    /// What its turns bring.
    var missed: [LedgerCommit] = []
    /// Whether the member's connection leads there.
    var isOld = false
    /// Whether no other server can be reached.
    var isAlone = false
    /// How many turns such a server gives, also if another one has proved something meanwhile.
    var turnCount = 0
    var confirmCount = 0
    var passCount = 0
  }

  private let ledger: MemoryLedger
  private let state = Mutex(State())

  init(_ ledger: MemoryLedger) { self.ledger = ledger }

  /// This ledger, for a store's configuration.
  var shared: SharedLedger {
    SharedLedger(name: "music", description: "replaced \(ObjectIdentifier(self))") { self }
  }

  /// Replaces the server: it gets no later commits. Its schema is an earlier one.
  func replace() throws {
    var standing = try #require(try ledger.standing())
    standing.epoch -= 1
    state.withLock { [standing] in $0.old = standing }
  }

  /// Has the member's connection lead to the server that was replaced, until it is to prove
  /// something.
  func leadBack(isAlone: Bool = false, turnCount: Int = 1) {
    state.withLock {
      $0 = State(old: $0.old, isOld: true, isAlone: isAlone, turnCount: turnCount)
    }
  }

  /// Has the next turn bring a commit.
  func giveTurn(missed commit: LedgerCommit) {
    state.withLock { state in
      state = State(old: state.old, missed: [commit], turnCount: 1)
      state.old?.number = commit.number
      state.old?.hash = commit.hash
    }
  }

  /// How often a server was to prove something, and how many of its turns ended without a commit,
  /// since ``leadBack(isAlone:turnCount:)`` or ``giveTurn(missed:)``.
  var counts: [Int] { state.withLock { [$0.confirmCount, $0.passCount] } }

  private var old: LedgerStanding? { state.withLock { $0.isOld ? $0.old : nil } }

  func standing() throws -> LedgerStanding? { try old ?? ledger.standing() }

  func commits(after number: CommitNumber, limit: Int) throws -> [LedgerCommit] {
    let old = old
    return try ledger.commits(after: number, limit: limit).filter { commit in
      old.map { commit.number <= $0.number } ?? true
    }
  }

  func hash(of number: CommitNumber) throws -> CommitHash? {
    if let old, number > old.number { return nil }
    return try ledger.hash(of: number)
  }

  func confirm(_ number: CommitNumber) throws -> (hash: CommitHash?, head: LedgerStanding?) {
    let isAlone = state.withLock { state in
      state.confirmCount += 1
      state.isOld = false
      return state.isAlone
    }
    guard !isAlone else { throw LedgerError.unreachable("No standby.") }
    return try ledger.confirm(number)
  }

  func turn(after number: CommitNumber, deadline: Duration) throws -> any LedgerTurn {
    let (old, missed) = state.withLock { state in
      guard state.turnCount > 0 else { return (LedgerStanding?.none, [LedgerCommit]()) }
      state.turnCount -= 1
      return (state.old, state.missed)
    }
    guard let old else { return try ledger.turn(after: number, deadline: deadline) }
    return OldTurn(head: old, missed: missed) { [weak self] in
      self?.state.withLock { $0.passCount += 1 }
    }
  }

  private final class OldTurn: LedgerTurn {
    let head: LedgerStanding
    let missed: [LedgerCommit]
    private let didPass: () -> Void

    init(head: LedgerStanding, missed: [LedgerCommit], didPass: @escaping () -> Void) {
      self.head = head
      self.missed = missed
      self.didPass = didPass
    }

    func append(_ commit: LedgerCommit) throws {
      throw LedgerError.unreachable("The server was replaced.")
    }

    func append(_ commit: LedgerCommit, changingTo schema: LedgerSchema) throws {
      try append(commit)
    }

    func extend() throws {}

    func pass() { didPass() }
  }

  // As in the ledger

  func found(_ standing: LedgerStanding, snapshot: any SnapshotSource) throws -> Bool {
    try ledger.found(standing, snapshot: snapshot)
  }

  func resolve(_ transaction: TransactionID, deadline: Duration) throws -> CommitNumber? {
    try ledger.resolve(transaction, deadline: deadline)
  }

  func listen(_ ring: @escaping @Sendable (CommitNumber?) -> Void) throws -> any Doorbell {
    try ledger.listen(ring)
  }

  func snapshot() throws -> (any SnapshotReader)? { try ledger.snapshot() }

  func snapshotTurn(from byteCount: Int64) throws -> SnapshotAnswer {
    try ledger.snapshotTurn(from: byteCount)
  }

  func note(_ member: MemberID, at number: CommitNumber) throws {
    try ledger.note(member, at: number)
  }

  func members() throws -> [MemberStanding] { try ledger.members() }
}
