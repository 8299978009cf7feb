import Dispatch
package import ModelStore
import Synchronization

/// A store in a ledger, for the time of one law. It is not founded yet.
package struct LedgerWorld: Sendable {
  /// Returns the ledger for one more member.
  package let member: @Sendable () throws -> any CommitLedger
  /// How many commits each of eight threads makes.
  package let commitCount: Int

  package init(
    commitCount: Int = 200, member: @escaping @Sendable () throws -> any CommitLedger
  ) {
    self.commitCount = commitCount
    self.member = member
  }

  /// The state in which a store is founded.
  package static func founding(_ number: Int64 = 0, epoch: Int64 = 1) -> LedgerStanding {
    LedgerStanding(
      number: CommitNumber(rawValue: number), hash: CommitHash(of: [UInt8(epoch)]), epoch: epoch,
      schema: [1, 2, 0, 255], durability: .none)
  }

  /// Founds the store with a snapshot of one part.
  package func founded() throws -> any CommitLedger {
    let ledger = try member()
    try expect(
      try ledger.found(Self.founding(), snapshot: PartsSource([[7]])), equals: true, "founded")
    return ledger
  }

  /// Runs `body` at the same time on that many threads.
  package static func onThreads(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> Void
  ) throws {
    let failure = Mutex<(any Error)?>(nil)
    let group = DispatchGroup()
    for thread in 0..<count {
      // A serial queue always gets a thread.
      DispatchQueue(label: "member \(thread)").async(group: group) {
        do {
          try body(thread)
        } catch {
          failure.withLock { $0 = $0 ?? error }
        }
      }
    }
    group.wait()
    if let failure = failure.withLock({ $0 }) { throw failure }
  }
}

/// Parts that a snapshot is made of.
package final class PartsSource: SnapshotSource {
  private var rest: ArraySlice<[UInt8]>

  package init(_ parts: [[UInt8]]) { rest = parts[...] }

  package func next() throws -> [UInt8]? { rest.popFirst() }
}

extension SnapshotSource {
  /// All parts to the end.
  package func rest() throws -> [[UInt8]] {
    var parts: [[UInt8]] = []
    while let part = try next() { parts.append(part) }
    return parts
  }
}

extension LedgerStanding {
  /// The commit after this one. Its record begins with the hash of the commit before.
  package func next(_ content: [UInt8] = [], transaction: TransactionID = .make(first: nil))
    -> LedgerCommit
  {
    let record = hash.bytes + content
    return LedgerCommit(
      number: number.next, transaction: transaction, hash: CommitHash(of: record), record: record)
  }
}

extension CommitLedger {
  /// Makes a commit whose record ends with `content`.
  @discardableResult
  package func commit(
    _ content: [UInt8] = [], transaction: TransactionID = .make(first: nil),
    deadline: Duration = .seconds(60)
  ) throws -> LedgerCommit {
    let turn = try turn(after: .founding, deadline: deadline)
    let commit = turn.head.next(content, transaction: transaction)
    try turn.append(commit)
    return commit
  }

  /// Publishes a snapshot although none may be due.
  package func publish(
    _ snapshot: any SnapshotSource, at number: CommitNumber, hash: CommitHash
  ) throws {
    guard case .granted(let turn) = try snapshotTurn(from: 0) else {
      throw LedgerLaw.Breach(description: "another member publishes a snapshot")
    }
    try turn.publish(snapshot, at: number, hash: hash)
  }
}

extension SnapshotAnswer {
  /// What the ledger answered, in a word.
  package var word: String {
    switch self {
    case .granted: "granted"
    case .notDue(let byteCount): "not due after \(byteCount) bytes"
    case .taken: "taken"
    }
  }
}
