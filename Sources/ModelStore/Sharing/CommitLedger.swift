/// Keeps the commits of a shared store in one order, for every member.
///
/// A ledger knows nothing of SQLite: a commit is bytes to it. It decides which member makes the
/// next commit, and it has a commit as soon as ``LedgerTurn/append(_:)`` returns. `MemoryLedger`
/// serves tests. `PostgresLedger` is a product of its own.
///
/// Every call blocks, and any thread may make it. Each throws ``LedgerError``.
package protocol CommitLedger: Sendable {
  /// Returns the newest commit of the store; nil while no member has founded it.
  func standing() throws -> LedgerStanding?

  /// Creates the store in the ledger, with the snapshot from which other members begin.
  ///
  /// - Parameter standing: What ``standing()`` returns from now on. The ledger sets the durability
  ///   itself.
  /// - Returns: Whether this call created it. Otherwise another member was faster, and nothing was
  ///   changed.
  func found(_ standing: LedgerStanding, snapshot: any SnapshotSource) throws -> Bool

  /// Waits until this member may make the next commit. Then reads what the member has missed, in
  /// this order, so that no commit is missed.
  ///
  /// - Parameters:
  ///   - number: The newest commit that the member has.
  ///   - deadline: How long to wait for other members; as long again if the turn is taken again.
  /// - Throws: ``LedgerError/timedOut(_:)`` after the deadline, ``LedgerError/unreachable(_:)`` if
  ///   the server may have been replaced meanwhile.
  func turn(after number: CommitNumber, deadline: Duration) throws -> any LedgerTurn

  /// Returns the commits after `number`, in order, without waiting for a turn. If the ledger no
  /// longer keeps the next one, the first commit that it returns has a later number. If the ledger
  /// has a standby, the standby has each commit that is returned. That need not be so for
  /// ``standing()`` and ``hash(of:)``.
  ///
  /// - Parameter limit: The most commits to return. A page may be shorter although more follow: the
  ///   ledger bounds its bytes, and a commit may not be certain yet. It is empty only if nothing
  ///   follows.
  func commits(after number: CommitNumber, limit: Int) throws -> [LedgerCommit]

  /// Returns the hash of the commit with `number`; nil if the ledger no longer keeps it.
  func hash(of number: CommitNumber) throws -> CommitHash?

  /// Returns what ``hash(of:)`` and then ``standing()`` say, from the primary. A server that was
  /// replaced and does not know it yet may answer any other call, so ask this before you say that
  /// the ledger lacks a commit. It waits for the standby.
  ///
  /// - Throws: ``LedgerError``, for example ``LedgerError/unreachable(_:)``, if no server can say
  ///   for certain.
  func confirm(_ number: CommitNumber) throws -> (hash: CommitHash?, head: LedgerStanding?)

  /// Returns the number of the commit that contains the transaction; nil if it never became one, or
  /// if the ledger no longer keeps the commit.
  ///
  /// It waits until a running turn has ended, so that a commit on its way is decided first, and
  /// until the standby has what it returns.
  func resolve(_ transaction: TransactionID, deadline: Duration) throws -> CommitNumber?

  /// Calls `ring` soon after each commit, from a thread of the ledger, with the commit's number if
  /// the ledger knows it. It may call twice for one commit, and once for several, and it may miss
  /// one: poll every 250 ms as well. A ledger may notify other members only while it listens,
  /// too.
  func listen(_ ring: @escaping @Sendable (CommitNumber?) -> Void) throws -> any Doorbell

  /// Returns the newest snapshot; nil while there is none.
  func snapshot() throws -> (any SnapshotReader)?

  /// Asks whether this member should publish the next snapshot. It waits for no other member, and
  /// holds back no writer.
  ///
  /// - Parameter byteCount: The bytes of records after the newest snapshot from which the next one
  ///   is due.
  func snapshotTurn(from byteCount: Int64) throws -> SnapshotAnswer

  /// Notes that a member has the commit with `number`, for people who look after the store.
  func note(_ member: MemberID, at number: CommitNumber) throws

  /// Returns the members that were noted, the newest note first.
  func members() throws -> [MemberStanding]
}

/// The right to make the next commit. It ends once: by ``append(_:)``, ``append(_:changingTo:)`` or
/// ``pass()``. A second call is a programming error.
package protocol LedgerTurn: AnyObject {
  /// The newest commit. It stays the newest until the turn ends.
  var head: LedgerStanding { get }
  /// The commits after the member's own, in order, up to ``head``. If the ledger has a standby, the
  /// standby has them.
  var missed: [LedgerCommit] { get }

  /// Makes the next commit, and ends the turn.
  ///
  /// - Throws: ``LedgerError``. After ``LedgerError/outcomeUnknown(_:)`` the ledger may have the
  ///   commit: ask ``CommitLedger/resolve(_:deadline:)``. After every other error it does not.
  func append(_ commit: LedgerCommit) throws

  /// Gives the turn the time that a change of the schema takes: 10 minutes until its snapshot is
  /// sent. Sending that may take longer.
  ///
  /// - Throws: ``LedgerError``. The turn goes on.
  func extend() throws

  /// As ``append(_:)``, for a commit that changes the schema. The ledger has the new schema and the
  /// snapshot as soon as it has the commit. It removes no commits, so that a member which lacks
  /// several changes meets the first one.
  func append(_ commit: LedgerCommit, changingTo schema: LedgerSchema) throws

  /// Ends the turn without a commit. If the ledger cannot be reached, the turn ends by itself.
  func pass()
}

/// Another schema for all members of a shared store.
package struct LedgerSchema {
  /// As ``LedgerStanding/epoch`` and ``LedgerStanding/schema``.
  package let epoch: Int64
  package let digest: [UInt8]
  /// The store with this schema. Members begin again from it.
  package let snapshot: any SnapshotSource

  package init(epoch: Int64, digest: [UInt8], snapshot: any SnapshotSource) {
    self.epoch = epoch
    self.digest = digest
    self.snapshot = snapshot
  }
}

/// What a ledger answers a member that may publish a snapshot.
package enum SnapshotAnswer {
  /// A snapshot is due, and no other member publishes one until the turn ends.
  case granted(any SnapshotTurn)
  /// The records after the newest snapshot have only so many bytes.
  case notDue(byteCount: Int64)
  /// Another member publishes one.
  case taken
}

/// The right to publish the next snapshot. Members write and read meanwhile. The right ends by one
/// of its two methods, when it is released, or with the process.
package protocol SnapshotTurn: AnyObject {
  /// Keeps a snapshot of the store at `number`, and ends the right. When the snapshot is complete,
  /// the ledger removes earlier ones, and the commits before the snapshot that was the newest one.
  /// A member that began from that snapshot therefore finds every commit that it needs.
  ///
  /// If the ledger has a snapshot of `number` or later, nothing changes.
  ///
  /// - Throws: ``LedgerError``, or the error of `snapshot`. The earlier snapshot stays then.
  func publish(_ snapshot: any SnapshotSource, at number: CommitNumber, hash: CommitHash) throws

  /// Ends the right without a snapshot.
  func pass()
}

/// Ends a listening. It also ends when the last reference goes.
package protocol Doorbell: AnyObject, Sendable {
  func end()
}

/// The bytes of a store's file, in parts.
package protocol SnapshotSource {
  /// Returns the next part, at most ``SnapshotPart/byteCountMax`` bytes; nil after the last.
  func next() throws -> [UInt8]?
}

/// A snapshot that a ledger keeps.
package protocol SnapshotReader: SnapshotSource {
  /// The commit whose state it has.
  var number: CommitNumber { get }
  /// The hash of that commit.
  var hash: CommitHash { get }
}

package enum SnapshotPart {
  /// The most bytes in a part of a snapshot.
  package static let byteCountMax = 1 << 20
}

/// The place of a commit in a shared store: 1 for the first, then without gaps. 0 is the state in
/// which the store was founded.
package struct CommitNumber: RawRepresentable, Hashable, Comparable, Sendable, Codable {
  package let rawValue: Int64

  package init(rawValue: Int64) { self.rawValue = rawValue }

  package static let founding = CommitNumber(rawValue: 0)
  /// No commit is after it.
  static let last = CommitNumber(rawValue: .max)

  package var next: CommitNumber { CommitNumber(rawValue: rawValue + 1) }

  package static func < (left: CommitNumber, right: CommitNumber) -> Bool {
    left.rawValue < right.rawValue
  }
}

extension CommitNumber: CustomStringConvertible {
  package var description: String { "\(rawValue)" }
}

/// SHA-256 of a commit's bytes, which contain the hash of the commit before it. So two members with
/// the same hash have taken the same commits.
package struct CommitHash: Hashable, Sendable {
  /// 32 bytes.
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// The hash of these bytes.
  package init(of bytes: [UInt8]) {
    var digest = SHA256()
    digest.update(bytes)
    self.bytes = digest.finish()
  }
}

extension CommitHash: CustomStringConvertible {
  /// 64 hexadecimal digits.
  package var description: String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0\(digits)" : digits
    }.joined()
  }
}

/// A commit as the ledger keeps it.
package struct LedgerCommit: Hashable, Sendable {
  package let number: CommitNumber
  /// Identifies the commit while its outcome is unknown. A ledger has each id once.
  package let transaction: TransactionID
  package let hash: CommitHash
  /// A `CommitRecord`. ``hash`` is the hash of these bytes.
  package let record: [UInt8]

  package init(
    number: CommitNumber, transaction: TransactionID, hash: CommitHash, record: [UInt8]
  ) {
    self.number = number
    self.transaction = transaction
    self.hash = hash
    self.record = record
  }
}

/// Where a shared store stands in its ledger.
package struct LedgerStanding: Hashable, Sendable {
  package var number: CommitNumber
  package var hash: CommitHash
  /// Another number each time that the schema changed, so that members begin from a new snapshot.
  package var epoch: Int64
  /// A digest of the tables, indexes, triggers and views. A member with another one takes no turn.
  package var schema: [UInt8]
  /// How well the ledger keeps a commit.
  package var durability: LedgerDurability

  package init(
    number: CommitNumber, hash: CommitHash, epoch: Int64, schema: [UInt8],
    durability: LedgerDurability
  ) {
    self.number = number
    self.hash = hash
    self.epoch = epoch
    self.schema = schema
    self.durability = durability
  }
}

/// What a commit survives once the ledger has it.
package enum LedgerDurability: String, Hashable, Sendable, Codable {
  /// The loss of the ledger's machine: another machine has each commit first.
  case replicated
  /// A crash of the ledger's machine, but not the loss of its disk.
  case local
  /// Nothing: a crash may lose commits.
  case none
}

/// Names a member: one file that takes part in a shared store.
package struct MemberID: RawRepresentable, Hashable, Sendable, Codable {
  package let rawValue: Int64

  package init(rawValue: Int64) { self.rawValue = rawValue }

  package static func make() -> MemberID { MemberID(rawValue: .random(in: 1...Int64.max)) }
}

/// What the ledger last heard of a member.
package struct MemberStanding: Hashable, Sendable {
  package let member: MemberID
  package let number: CommitNumber
  /// Microseconds since 1970-01-01 00:00:00 UTC, on the ledger's clock.
  package let seenAt: Int64

  package init(member: MemberID, number: CommitNumber, seenAt: Int64) {
    self.member = member
    self.number = number
    self.seenAt = seenAt
  }
}
