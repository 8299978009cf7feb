import Foundation
import LedgerConformance
import Synchronization
import Testing

@testable import ModelStore

/// Members publish snapshots, so that new members begin soon and the ledger stays small.
@Suite(.tags(.unit), .ownThreads, .timeLimit(.minutes(30))) struct SharedSnapshotTests {
  /// The number of the ledger's newest snapshot.
  private static func newest(_ world: SharedWorld) throws -> Int64 {
    try #require(try world.ledger.snapshot()).number.rawValue
  }

  /// Changes one large value, so that the commits become larger than the file.
  private static func write(_ store: Store) throws {
    try store.write { tx in
      try tx.execute("INSERT OR IGNORE INTO Plain (a, b) VALUES ('x', 0)")
      try tx.execute("UPDATE Plain SET b = b + 1, c = randomblob(30000)")
    }
  }

  /// Writes until a member has published a snapshot.
  private static func writeUntilSnapshot(_ world: SharedWorld, by store: Store) throws {
    let before = try newest(world)
    while try newest(world) == before { try write(store) }
  }

  /// Publishes a snapshot of a member's file now.
  @discardableResult
  private static func publish(_ store: Store, in ledger: any CommitLedger) throws -> Bool {
    try SnapshotKeeper(of: ledger, path: "", byteCountMin: 0)
      .publishIfDue { try MemberCopying(engine: store.engine).copy(for: nil) }
  }

  @Test func membersPublishSnapshotsAndTheLedgerRemovesOldCommits() throws {
    let world = try SharedWorld(snapshotByteCountMin: 1)
    try Self.writeUntilSnapshot(world, by: world.members[0])
    let former = try Self.newest(world)
    try Self.writeUntilSnapshot(world, by: world.members[1])
    let first = try #require(try world.ledger.commits(after: .founding, limit: 1).first)
    #expect(first.number.rawValue >= former)
    try world.join()
    try world.checkEqual()
    #expect(world.reports.events == [])
  }

  @Test func aSnapshotIsPublishedWhenTheCommitsAreLargerThanTheFile() throws {
    let world = try SharedWorld(memberCount: 1)
    let (file, size) = (world.directory.file("large"), 250_000)
    try Data(count: size).write(to: URL(fileURLWithPath: file))
    let keeper = SnapshotKeeper(of: world.ledger, path: file, byteCountMin: 0)
    var counts = [0]
    while try !keeper.publishIfDue(copying: {
      try MemberCopying(engine: world.members[0].engine).copy(for: nil)
    }) {
      try Self.write(world.members[0])
      let commits = try world.ledger.commits(after: .founding, limit: 100)
      counts.append(commits.reduce(0) { $0 + $1.record.count })
    }
    #expect(counts.filter { $0 >= size } == counts.suffix(1), "\(counts)")
  }

  @Test func aMemberThatIsTooOldSaysSoAndStillReads() throws {
    let world = try SharedWorld()
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    try world.checkEqual()
    world.close(1)
    for id in 2...5 as ClosedRange<Int64> {
      try world.members[0].write { tx in _ = try tx.insert(Artist(id: id, name: "Bo")) }
      #expect(try Self.publish(world.members[0], in: world.ledger))
    }
    let old = try world.member(1)
    #expect(SharedWorld.code { try old.refresh() } == .memberOutdated)
    let code = SharedWorld.code {
      try old.write { tx in _ = try tx.insert(Artist(id: 9, name: "Cy")) }
    }
    #expect(code == .memberOutdated)
    #expect(try old.fetch(Artist.all).map { $0.name } == ["Ada"])
  }

  @Test func aMemberOfTheSnapshotBeforeCatchesUp() throws {
    let world = try SharedWorld()
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    try world.checkEqual()
    #expect(try Self.publish(world.members[0], in: world.ledger))
    world.close(1)
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 2, name: "Bo")) }
    #expect(try Self.publish(world.members[0], in: world.ledger))
    try world.reopen(1)
    try world.checkEqual()
    #expect(try world.members[1].count(Artist.all) == 2)
  }

  /// The ledger has removed the commits after the snapshot that was read.
  @Test func aMemberBeginsAgainIfSnapshotsAreReplacedWhileItJoins() throws {
    let replacing = Mutex<(@Sendable () throws -> Void)?>(nil)
    let ledger = MemoryLedger { step in
      if step == .commits { try replacing.withLock { $0.take() }?() }
    }
    let world = try SharedWorld(memberCount: 1, ledger: ledger)
    let files = Mutex<[(record: MemberRecord, bytes: [[UInt8]])]>([])
    for id in 1...3 as ClosedRange<Int64> {
      try world.members[0].write { tx in _ = try tx.insert(Artist(id: id, name: "Ada")) }
      let copy = try MemberCopying(engine: world.members[0].engine).copy(for: nil)
      let bytes = try copy.source.rest()
      files.withLock { $0.append((copy.record, bytes)) }
    }
    world.close(0)
    replacing.withLock { replacing in
      replacing = {
        for file in files.withLock({ $0 }) {
          try ledger.publish(
            PartsSource(file.bytes), at: file.record.number, hash: file.record.hash)
        }
      }
    }
    try world.join()
    try world.members[1].refresh()
    #expect(try world.members[1].count(Artist.all) == 3)
    #expect(world.reports.events == [])
  }

  @Test func aFailureIsReportedAndTheEarlierSnapshotStays() throws {
    let isFailing = Mutex(true)
    let ledger = MemoryLedger { step in
      if step == .publish, isFailing.withLock({ $0 }) { throw LedgerError.outOfSpace("full") }
    }
    let world = try SharedWorld(memberCount: 1, ledger: ledger, snapshotByteCountMin: 1)
    while world.reports.events.isEmpty { try Self.write(world.members[0]) }
    #expect(world.reports.events.first?.code == .outOfSpace)
    #expect(try Self.newest(world) == 0)
    isFailing.withLock { $0 = false }
    try Self.writeUntilSnapshot(world, by: world.members[0])
    try world.join()
    try world.checkEqual()
  }

  @Test func aFileWithAnotherSchemaIsNotPublished() throws {
    let world = try SharedWorld()
    try Self.write(world.members[0])
    try PlainDatabase(world.path(1)).execute("CREATE INDEX other ON Plain (b)")
    #expect(
      SharedWorld.code { try Self.publish(world.members[1], in: world.ledger) } == .memberDiverged)
    #expect(try Self.newest(world) == 0)
    #expect(try Self.publish(world.members[0], in: world.ledger))
  }

  /// The ledger no longer knows which commit had the number.
  @Test func theOutcomeOfARemovedCommitStaysUnknown() throws {
    let transaction = Mutex<TransactionID?>(nil)
    let others = Mutex<(@Sendable () throws -> Void)?>(nil)
    let ledger = MemoryLedger { step in
      switch step {
      case .appended:
        if let id = transaction.withLock({ $0.take() }) { throw LedgerError.outcomeUnknown(id) }
      case .resolve: try others.withLock { $0.take() }?()
      default: break
      }
    }
    let world = try SharedWorld(ledger: ledger)
    world.close(0)
    let store = try world.member(0, busyTimeout: .milliseconds(50))
    let other = world.members[1]
    let shared = world.ledger
    let code = SharedWorld.code {
      try store.write { tx in
        try tx.insert(Artist(id: 1, name: "Ada"))
        transaction.withLock { $0 = tx.id }
        others.withLock { others in
          others = {
            for id in 2...4 as ClosedRange<Int64> {
              try other.write { tx in _ = try tx.insert(Artist(id: id, name: "Bo")) }
              _ = try Self.publish(other, in: shared)
            }
          }
        }
      }
    }
    #expect(code == .outcomeUnknown)
  }

  @Test func theLedgerKnowsItsMembers() throws {
    let world = try SharedWorld()
    while try world.ledger.members().count < 2 {}
    let members = Set(try world.ledger.members().map(\.number.rawValue))
    #expect(members == [0])
  }

  /// Members join while others write and snapshots replace each other. Snapshots come so often that
  /// a member can be left behind. It then begins again.
  @Test(.tags(.law), arguments: 0..<3 as Range<UInt64>)
  func membersThatJoinUnderLoadHaveEqualFiles(seed: UInt64) throws {
    let world = try SharedWorld(snapshotByteCountMin: 1)
    let isOver = Mutex(false)
    let writers = (0..<2).map { number in
      let store = world.members[number]
      return WaitingThread {
        var generator = SeededGenerator(seed: seed &* 2 &+ UInt64(number))
        while !isOver.withLock({ $0 }) {
          guard try Self.fits({ try Self.write(store) }) else { return }
          let statement = SharedStoreLawTests.statement(&generator)
          guard try Self.fits({ try store.write { tx in try tx.execute(statement) } }) else {
            return
          }
        }
      }
    }
    var snapshots: Set<Int64> = []
    while snapshots.count < 8 {
      let number = try Self.newest(world)
      guard snapshots.insert(number).inserted else { continue }
      try world.join()
    }
    isOver.withLock { $0 = true }
    for writer in writers { try writer.join() }
    world.rebuildsMembers(true)
    var againCount = 0
    for number in world.members.indices
    where try !Self.fits({ try world.members[number].refresh() }) {
      world.close(number)
      try world.reopen(number)
      againCount += 1
    }
    try world.checkEqual()
    #expect(world.reports.events.allSatisfy { $0.code == .memberOutdated }, "seed \(seed)")
    print(
      "seed \(seed): \(try Self.newest(world)) commits, members of \(snapshots.sorted()),"
        + " \(againCount) began again")
  }

  /// Whether the member was not left behind. A statement that a rule refuses changes nothing.
  private static func fits(_ body: () throws -> Void) throws -> Bool {
    do {
      try body()
    } catch let error as StoreError where [.rejected, .memberOutdated].contains(error.code) {
      return error.code == .rejected
    }
    return true
  }
}
