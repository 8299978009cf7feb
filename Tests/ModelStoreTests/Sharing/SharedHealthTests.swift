import Dispatch
import Synchronization
import Testing

@testable import ModelStore

/// A store says how its file takes part in a shared store.
@Suite(.tags(.unit), .timeLimit(.minutes(30))) struct SharedHealthTests {
  private static func health(
    commit: Int64, lag: Int64?, obstacle: String? = nil, durability: String? = "local"
  ) -> MemberHealth {
    MemberHealth(
      store: "music", member: "", commitNumber: commit, lag: lag, obstacle: obstacle,
      durability: durability, memberLags: [:])
  }

  /// Without the members that the ledger noted, which come when they follow.
  private static func found(_ store: Store) throws -> MemberHealth? {
    try store.memberHealth().map { health in
      MemberHealth(
        store: health.store, member: "", commitNumber: health.commitNumber, lag: health.lag,
        obstacle: health.obstacle, durability: health.durability, memberLags: [:])
    }
  }

  @Test func aFileOfItsOwnIsNoMember() throws {
    let store = try Store.inMemory(models: Artist.self)
    #expect(try store.health().member == nil)
  }

  @Test func aMemberSaysWhichCommitItHas() throws {
    let world = try SharedWorld()
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    #expect(try Self.found(world.members[0]) == Self.health(commit: 1, lag: 0))
    #expect(try world.members[0].health().isWritable)
    while try world.members[0].health().member?.memberLags.count != 2 {}
    let health = try #require(try world.members[0].memberHealth())
    #expect(health.memberLags[health.member] != nil)
  }

  @Test func aProgramThatKeepsTheWriteLockIsReportedOnce() throws {
    let polled = DispatchSemaphore(value: 0)
    let world = try SharedWorld(
      ledger: MemoryLedger { step in if step == .commits { polled.signal() } })
    world.close(1)
    let member = try world.member(1, busyTimeout: .milliseconds(1))
    defer { member.close() }
    let program = try PlainDatabase(world.path(1))
    try program.execute("BEGIN IMMEDIATE")
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    world.close(0)
    while world.reports.events.isEmpty {}
    // When a poll begins, those before it have ended.
    while polled.wait(timeout: .now()) == .success {}
    for _ in 0..<3 { #expect(polled.wait(timeout: .now() + .seconds(60)) == .success) }
    #expect(world.reports.events.map(\.code) == [.busy])
    #expect(world.reports.events.first?.message.contains(world.path(1)) == true)
    try program.execute("ROLLBACK")
    while try member.find(Artist.self, 1) == nil {}
    #expect(world.reports.events.count == 1)
  }

  @Test func aMemberThatIsBehindSaysHowFar() throws {
    let world = try SharedWorld()
    world.close(1)
    for id in 1...3 as ClosedRange<Int64> {
      try world.members[0].write { tx in _ = try tx.insert(Artist(id: id, name: "Ada")) }
    }
    var configuration = StoreConfiguration(access: .readOnly)
    configuration.ledger = world.shared
    let reader = try world.open(1, configuration)
    #expect(try Self.found(reader) == Self.health(commit: 0, lag: 3))
  }

  @Test func aMemberWithoutItsLedgerSaysThatItCannotWrite() throws {
    let world = try SharedWorld()
    world.close(1)
    let alone = try world.open(1, StoreConfiguration())
    let health = try alone.health()
    let obstacle = try #require(health.member?.obstacle)
    #expect(
      try Self.found(alone)
        == Self.health(commit: 0, lag: nil, obstacle: obstacle, durability: nil))
    #expect(obstacle.contains("StoreConfiguration.ledger"))
    #expect(health.obstacle == obstacle)
  }

  @Test func aLedgerThatIsAwayIsTheObstacle() throws {
    let isAway = Mutex(false)
    let ledger = MemoryLedger(durability: .replicated) { step in
      if step == .standing, isAway.withLock({ $0 }) { throw LedgerError.unreachable("cut.") }
    }
    let world = try SharedWorld(ledger: ledger)
    #expect(
      try Self.found(world.members[0])
        == Self.health(commit: 0, lag: 0, durability: "replicated"))
    isAway.withLock { $0 = true }
    #expect(
      try Self.found(world.members[0])
        == Self.health(
          commit: 0, lag: nil,
          obstacle: "The ledger cannot be reached: cut. Nothing was changed; try again.",
          durability: nil))
  }

  @Test func aFileThatDoesNotFitSaysWhy() throws {
    let world = try SharedWorld()
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    try world.checkEqual()
    world.close(1)
    func obstacle() throws -> String {
      var configuration = StoreConfiguration(access: .readOnly)
      configuration.ledger = world.shared
      let reader = try world.open(1, configuration)
      defer { reader.close() }
      return try reader.memberHealth()?.obstacle ?? ""
    }
    #expect(try obstacle() == "")
    try PlainDatabase(world.path(1)).execute("CREATE INDEX other ON Plain (b)")
    #expect(try obstacle().contains("are not those of the shared store music"))
    try PlainDatabase(world.path(1)).execute("DROP INDEX other; UPDATE _ms_member SET number = 9")
    #expect(try obstacle().contains("has commits of the shared store music"))
    try PlainDatabase(world.path(1)).execute("UPDATE _ms_member SET number = 1")
    for id in 2...5 as ClosedRange<Int64> {
      try world.members[0].write { tx in _ = try tx.insert(Artist(id: id, name: "Bo")) }
      try world.publishSnapshot(of: 0)
    }
    #expect(try obstacle().contains("the ledger keeps only commits from 4 on"))
  }
}
