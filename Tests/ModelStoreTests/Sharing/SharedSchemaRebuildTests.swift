import Foundation
import Synchronization
import Testing

@testable import ModelStore

/// Members whose files have an earlier schema than the shared store begin again.
@Suite(.tags(.unit), .timeLimit(.minutes(30))) struct SharedSchemaRebuildTests {
  private typealias World = SharedSchemaWorld

  /// The ledger has everything of its file, so the program need not ask for it.
  @Test func aMemberWithTheEarlierSchemaBeginsAgainWhenItIsOpened() throws {
    let (world, members) = try World.started()
    for member in members { member.close() }
    try world.open(0, version: 2, rebuilds: false).close()
    let store = try world.open(1, version: 2, rebuilds: false)
    #expect(try world.rows(store) == World.sized)
    store.close()
    #expect(try world.files() == ["0.store", "1.store"])
    #expect(world.reports.events.isEmpty)
    // A change that the program does not declare, too.
    #expect(try World.addRule(0, in: world) == 1)
    let again = try world.open(1, version: 2, rebuilds: false)
    #expect(try again.rules().count == 1)
    try world.insert(3, "third", in: again)
    again.close()
    #expect(try world.ledger.standing()?.epoch == 3)
  }

  /// Another program has changed its schema, so the file may have more than the ledger.
  @Test(arguments: [true, false])
  func aFileThatMayHaveMoreIsKept(_ rebuilds: Bool) throws {
    let (world, members) = try World.started()
    for member in members { member.close() }
    try PlainDatabase(world.path(1)).execute("CREATE TABLE Own AS SELECT 5 AS x")
    try world.open(0, version: 2).close()
    let code = SharedWorld.code { try world.open(1, version: 2, rebuilds: rebuilds).close() }
    #expect(code == (rebuilds ? nil : .memberDiverged))
    let kept = world.path(1) + (rebuilds ? ".diverged-1" : "")
    #expect(try PlainDatabase(kept).rows("SELECT x FROM Own") == [[.integer(5)]])
    // A member that stays may also find it out while it follows.
    let codes = Set(world.reports.events.map(\.code))
    #expect(codes == [.memberDiverged] || !rebuilds && codes.isEmpty)
    #expect(
      try world.files() == ["0.store", "1.store"] + (rebuilds ? ["1.store.diverged-1"] : []))
  }

  /// It had everything when the snapshot was asked for.
  @Test func aFileThatChangesWhileTheSnapshotArrivesIsKept() throws {
    let path = Mutex<String?>(nil)
    let ledger = MemoryLedger { step in
      guard step == .snapshot, let path = path.withLock({ $0.take() }) else { return }
      try PlainDatabase(path).execute("CREATE TABLE Own AS SELECT 5 AS x")
    }
    let (world, members) = try World.started(ledger)
    for member in members { member.close() }
    try world.open(0, version: 2).close()
    path.withLock { $0 = world.path(1) }
    let store = try world.open(1, version: 2)
    #expect(try world.rows(store) == World.sized)
    store.close()
    let kept = try PlainDatabase(world.path(1) + ".diverged-1")
    #expect(try kept.rows("SELECT x FROM Own") == [[.integer(5)]])
    #expect(world.reports.events.map(\.code) == [.memberDiverged])
  }

  /// It lacks commits before the change that the ledger has removed.
  @Test(arguments: [true, false])
  func aMemberThatIsFarBehindAChangeIsKept(_ rebuilds: Bool) throws {
    let (world, members) = try World.started()
    members[1].close()
    for id in 3...6 as ClosedRange<Int64> {
      try world.insert(id, "more", in: members[0])
      let engine = members[0].engine
      let keeper = SnapshotKeeper(of: world.ledger, path: "", byteCountMin: 0)
      #expect(try keeper.publishIfDue { try MemberCopying(engine: engine).copy(for: nil) })
    }
    members[0].close()
    try world.open(0, version: 2).close()
    let code = SharedWorld.code { try world.open(1, version: 2, rebuilds: rebuilds).close() }
    #expect(code == (rebuilds ? nil : .memberOutdated))
    #expect(FileManager.default.fileExists(atPath: world.path(1) + ".diverged-1") == rebuilds)
    let rows = try PlainDatabase(world.path(1)).rows("SELECT count(*) FROM Note")
    #expect(rows == [[.integer(rebuilds ? 6 : 2)]])
  }

  /// The ledger has everything of the file, which has the schema from before the change. The change
  /// comes before the file has followed the ledger, after that, or during the comparison.
  @Test(arguments: [(MemoryLedger.Step.commits, 1), (.hash, 1), (.commits, 2)])
  func aChangeDuringTheCheckOfAFileIsNoReasonToKeepIt(
    _ step: MemoryLedger.Step, _ place: Int
  ) throws {
    let change = Mutex<(place: Int, work: @Sendable () throws -> Void)?>(nil)
    let ledger = MemoryLedger { reached in
      guard reached == step else { return }
      let due = change.withLock { change in
        change?.place -= 1
        return change?.place == 0 ? change.take() : nil
      }
      try due?.work()
    }
    let (world, members) = try World.started(ledger)
    for member in members { member.close() }
    change.withLock { $0 = (place, { try world.open(0, version: 2).close() }) }
    let store = try world.open(1, version: 2)
    #expect(change.withLock { $0 == nil })
    #expect(try world.rows(store) == World.sized)
    store.close()
    #expect(try world.files() == ["0.store", "1.store"])
    #expect(world.reports.events.isEmpty)
  }

  /// The ledger keeps the commits before several changes.
  @Test func aMemberThatLacksSeveralChangesBeginsAgainOnce() throws {
    let (world, members) = try World.started()
    for member in members { member.close() }
    try world.open(0, version: 2).close()
    for _ in 0..<3 {
      _ = try World.addRule(0, in: world)
      _ = try world.ledger.shared(as: "notes").changeCatalog(
        of: world.path(0), declaring: Declarations(), StoreConfiguration(), report: { _ in }
      ) { try $0.dropRule("note.text") }
    }
    #expect(try world.ledger.standing()?.epoch == 8)
    let store = try world.open(1, version: 2, rebuilds: false)
    #expect(try world.rows(store) == World.sized)
    try world.insert(3, "third", in: store)
    store.close()
    #expect(world.reports.events.isEmpty)
    #expect(try world.files() == ["0.store", "1.store"])
  }

  /// Another command may have changed the schema, and replaced the file, while this one waited.
  @Test func aChangeForAnotherSchemaIsNotMade() throws {
    let (world, members) = try World.started()
    for member in members { member.close() }
    try world.open(0, version: 2).close()
    func change(seen: Int64) throws {
      _ = try world.ledger.shared(as: "notes").changeCatalog(
        of: world.path(0), seen: seen, declaring: Declarations(), StoreConfiguration(),
        report: { _ in }
      ) { try $0.add(Rule("note.text", of: "Note", fields: ["text"], .immutable)) }
    }
    #expect(SharedWorld.code { try change(seen: 1) } == .memberOutdated)
    #expect(try world.ledger.standing()?.epoch == 2)
    try change(seen: 2)
    #expect(try world.ledger.standing()?.epoch == 3)
  }

  /// One process replaces the file, and the others wait and find it replaced.
  @Test func threadsThatOpenOneFileAtOnceAllBeginAgain() throws {
    let (world, members) = try World.started()
    for member in members { member.close() }
    try world.open(0, version: 2).close()
    let found = Mutex<[[[SQLValue]]]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      do {
        let store = try world.open(1, version: 2, rebuilds: false)
        let rows = try world.rows(store)
        found.withLock { $0.append(rows) }
        store.close()
      } catch {
        Issue.record(error)
      }
    }
    #expect(found.withLock { $0 } == Array(repeating: World.sized, count: 4))
    #expect(try world.ledger.standing()?.epoch == 2)
    #expect(try world.files() == ["0.store", "1.store"])
    #expect(world.reports.events.isEmpty)
  }

  /// It is another member's file by then, and may have commits of its own.
  @Test func aFileThatAnotherProcessReplacedIsNotReplacedAgain() throws {
    let (world, members) = try World.started()
    let record = try members[1].engine.look { try MemberRecord(reading: $0) }
    let unfit = UnfitMember(
      reason: .notAMember, member: try #require(record).member,
      coverage: .unknown)
    for member in members { member.close() }
    try world.open(0, version: 2).close()
    try world.open(1, version: 2).close()
    let ledger = world.ledger.shared(as: "notes")
    #expect(try ledger.rebuild(world.path(1), StoreConfiguration(), because: unfit) == nil)
    #expect(try world.files() == ["0.store", "1.store"])
  }

  /// A table that cannot be shared is another program's.
  @Test(arguments: [true, false])
  func aFileWithAVirtualTableIsKept(_ rebuilds: Bool) throws {
    let (world, members) = try World.started()
    for member in members { member.close() }
    try PlainDatabase(world.path(1)).execute("CREATE VIRTUAL TABLE Found USING fts5(text)")
    try world.open(0, version: 2).close()
    let store = try world.open(1, version: rebuilds ? 2 : 1, rebuilds: rebuilds)
    #expect(try world.rows(store).count == 2)
    store.close()
    let kept = try PlainDatabase(world.path(1) + (rebuilds ? ".diverged-1" : ""))
    #expect(try kept.rows("SELECT count(*) FROM Found") == [[.integer(0)]])
  }

  /// Its snapshot would bring the earlier schema back.
  @Test func aMemberWithTheEarlierSchemaPublishesNoSnapshot() throws {
    let (world, members) = try World.started()
    let engine = members[1].engine
    members[0].close()
    try world.open(0, version: 2).close()
    let keeper = SnapshotKeeper(of: world.ledger, path: "", byteCountMin: 0)
    #expect(try !keeper.publishIfDue { try MemberCopying(engine: engine).copy(for: nil) })
    members[1].close()
    let store = try world.open(2, version: 2)
    #expect(try world.rows(store) == World.sized)
    store.close()
  }
}
