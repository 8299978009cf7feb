import Testing

@testable import ModelStore

/// Another process with the same file, or a turn, may have applied commits of the new server before
/// this member's connection leads there. Nothing is lost then.
@Suite(.tags(.unit), .timeLimit(.minutes(30)))
struct ReplacedLedgerTests {
  private let world: SharedWorld
  private let ledger: ReplacedLedger
  private let store: Store

  init() throws { try self.init(busyTimeout: .seconds(60)) }

  /// A member with two commits, of which a server that was replaced has the first.
  private init(busyTimeout: Duration) throws {
    let memory = MemoryLedger()
    world = try SharedWorld(memberCount: 1, ledger: memory)
    ledger = ReplacedLedger(memory)
    store = try Self.member(of: world, ledger, busyTimeout: busyTimeout)
    try store.write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    try ledger.replace()
    try store.write { tx in _ = try tx.insert(Artist(id: 2, name: "Bo")) }
    // From now on, following does not ask for the newest commit of the file.
    try store.refresh()
  }

  private static func member(
    of world: SharedWorld, _ ledger: ReplacedLedger, busyTimeout: Duration = .seconds(60),
    rebuilds: Bool = false
  ) throws -> Store {
    var configuration = StoreConfiguration(busyTimeout: busyTimeout, changeJournal: .full)
    configuration.ledger = ledger.shared
    configuration.ledger?.rebuildsMembers = rebuilds
    return try world.open(1, configuration)
  }

  /// The code of the error that the next write throws; nil if it throws none.
  private func writeCode() -> StoreError.Code? {
    SharedWorld.code { try store.write { tx in _ = try tx.insert(Artist(id: 3, name: "Cy")) } }
  }

  @Test func aTurnOfAServerThatWasReplacedIsTakenAgain() throws {
    ledger.leadBack()
    try store.write { tx in _ = try tx.insert(Artist(id: 3, name: "Cy")) }
    #expect(ledger.counts == [1, 1])
    #expect(try world.ledger.standing()?.number.rawValue == 3)
    #expect(try store.fetch(Artist.all).map { $0.name }.sorted() == ["Ada", "Bo", "Cy"])
    #expect(world.reports.events.isEmpty)
  }

  /// Another server may be found only after the busy timeout.
  @Test func aTurnIsTakenAgainWithoutABusyTimeout() throws {
    try ReplacedLedgerTests(busyTimeout: .zero).aTurnOfAServerThatWasReplacedIsTakenAgain()
  }

  /// And be replaced at once.
  @Test(arguments: [2, 3])
  func aTurnOfSeveralServersThatWereReplacedIsNoAlarm(_ count: Int) throws {
    ledger.leadBack(turnCount: count)
    #expect(writeCode() == (count == 2 ? nil : .ledgerUnavailable))
    #expect(ledger.counts == [1, count])
    #expect(try store.count(Artist.all) == (count == 2 ? 3 : 2))
  }

  /// With a standby, no server that was replaced gives such a commit.
  @Test func aTurnWhoseCommitDoesNotFollowIsNotTakenAgain() throws {
    let other = CommitRecord(
      number: CommitNumber(rawValue: 3), previous: CommitHash(of: [0]),
      transaction: TransactionID(rawValue: 0), tables: [], sequences: [])
    ledger.giveTurn(missed: other.ledgerCommit)
    #expect(writeCode() == .ledgerLostCommits)
    #expect(ledger.counts == [0, 1])
    #expect(try store.count(Artist.all) == 2)
  }

  @Test func refreshingAsksThePrimary() throws {
    ledger.leadBack()
    try store.refresh()
    #expect(ledger.counts == [1, 0])
    #expect(world.reports.events.isEmpty)
  }

  @Test func aServerThatProvesNothingIsNoReasonForAnAlarm() throws {
    ledger.leadBack(isAlone: true)
    #expect(SharedWorld.code { try store.refresh() } == .ledgerUnavailable)
    ledger.leadBack(isAlone: true)
    #expect(writeCode() == .ledgerUnavailable)
    #expect(ledger.counts == [1, 1])
    #expect(try store.count(Artist.all) == 2)
  }

  @Test func anOpeningThatMayReplaceTheFileAsksThePrimary() throws {
    store.close()
    ledger.leadBack()
    let again = try Self.member(of: world, ledger, rebuilds: true)
    #expect(try again.count(Artist.all) == 2)
    #expect(ledger.counts[0] == 1)
    #expect(!world.exists(1, ".diverged-1"))
    #expect(world.reports.events.isEmpty)
  }

  @Test func healthAsksThePrimary() throws {
    ledger.leadBack()
    let health = try #require(try store.engine.memberHealth())
    #expect(health.obstacle == nil)
    #expect(ledger.counts == [1, 0])
  }
}
