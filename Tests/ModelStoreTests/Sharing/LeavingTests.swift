import Dispatch
import Synchronization
import Testing

@testable import ModelStore

/// Members that become ordinary stores again.
@Suite(.tags(.unit), .timeLimit(.minutes(30))) struct LeavingTests {
  @Test func aMemberLeavesWithEverythingThatOthersCommitted() throws {
    let world = try SharedWorld()
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    #expect(try world.members[1].sharedStoreName() == "music")
    #expect(try world.members[1].leaveSharedStore() == 1)
    #expect(try world.members[1].sharedStoreName() == nil)
    #expect(try world.members[1].fetch(Artist.all).map { $0.name } == ["Ada"])
    // Both go on alone.
    try world.members[1].write { tx in _ = try tx.insert(Artist(id: 2, name: "Own")) }
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 2, name: "Bo")) }
    try world.members[1].refresh()
    #expect(try world.members[1].fetch(Artist.all).map { $0.name } == ["Ada", "Own"])
    #expect(try world.members[1].checkIntegrity() == [])
    #expect(try world.ledger.standing()?.number.rawValue == 2)
  }

  @Test func everyProgramCanWriteIntoAFileThatLeftAndChangeItsSchema() throws {
    let world = try SharedWorld()
    try world.members[1].leaveSharedStore()
    world.close(1)
    try PlainDatabase(world.path(1)).execute(
      "INSERT INTO Plain (a) VALUES ('x'); ALTER TABLE Plain ADD COLUMN more TEXT")
    let store = try world.open(1, StoreConfiguration(changeJournal: .full))
    defer { store.close() }
    try store.write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    #expect(try store.changeJournal.status().drift == [])
    #expect(
      try PlainDatabase(world.path(1)).rows(
        "SELECT name FROM sqlite_schema WHERE name GLOB '_ms_member*'") == [])
  }

  @Test func aFileThatLeftDoesNotComeBackByItself() throws {
    let world = try SharedWorld()
    try world.members[1].leaveSharedStore()
    world.close(1)
    #expect(SharedWorld.code { try world.member(1).close() } == .configurationConflict)
    // Without the ledger it opens.
    try world.open(1, StoreConfiguration(changeJournal: .full)).close()
  }

  @Test func aFileWithoutItsLedgerKeepsWhatItHas() throws {
    let world = try SharedWorld()
    world.close(1)
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    let store = try world.open(1, StoreConfiguration(changeJournal: .full))
    defer { store.close() }
    #expect(try store.leaveSharedStore() == 0)
    try store.write { tx in _ = try tx.insert(Artist(id: 9, name: "Own")) }
    #expect(try store.fetch(Artist.all).map { $0.name } == ["Own"])
  }

  private final class Cut: Sendable {
    private let state = Mutex(false)
    var isOn: Bool {
      get { state.withLock { $0 } }
      set { state.withLock { $0 = newValue } }
    }
  }

  @Test func aMemberStaysOneWhileItsLedgerCannotBeReached() throws {
    let cut = Cut()
    let ledger = MemoryLedger { step in
      if step == .turn, cut.isOn { throw LedgerError.unreachable("cut") }
    }
    let world = try SharedWorld(ledger: ledger)
    cut.isOn = true
    #expect(SharedWorld.code { try world.members[1].leaveSharedStore() } == .ledgerUnavailable)
    cut.isOn = false
    try world.members[1].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    try world.checkEqual()
  }

  private struct Refusal: Error {}

  @Test func nothingIsReportedOfAFileThatIsHalfWayOut() throws {
    let cut = Cut()
    let polled = DispatchSemaphore(value: 0)
    let ledger = MemoryLedger { step in
      guard step == .commits, cut.isOn else { return }
      polled.signal()
      throw LedgerError.unreachable("cut")
    }
    let world = try SharedWorld(ledger: ledger)
    world.close(0)
    let membership = try #require(world.members[1].engine.membership)
    /// Lets one poll fail to its end.
    func fail() {
      cut.isOn = true
      while polled.wait(timeout: .now()) == .success {}
      for _ in 0..<2 { #expect(polled.wait(timeout: .now() + .seconds(60)) == .success) }
    }
    #expect(throws: Refusal.self) {
      try membership.leaving {
        fail()
        #expect(world.reports.events.isEmpty)
        throw Refusal()
      }
    }
    // It stays a member, so the same failure is reported.
    fail()
    #expect(world.reports.events.map(\.code) == [.ledgerUnavailable])
  }

  @Test func anotherProcessOfTheFileIsToldToOpenItAgain() throws {
    let world = try SharedWorld()
    world.close(1)
    // As another process has it: a membership of its own.
    let other = try world.member(1)
    defer { other.close() }
    try PlainDatabase(world.path(1)).execute("DROP TABLE _ms_member")
    let error = #expect(throws: StoreError.self) {
      try other.write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    }
    #expect(error?.message.contains("has left its shared store") == true)
    #expect(try other.fetch(Artist.all) == [])
  }

  @Test func anOrdinaryStoreCannotLeave() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("a.store"), models: Artist.self)
    #expect(SharedWorld.code { try store.leaveSharedStore() } == .misuse)
    #expect(try store.sharedStoreName() == nil)
  }

  @Test func whatCannotBeSharedIsKnownBefore() throws {
    let world = try SharedWorld()
    let directory = try TemporaryDirectory()
    let other = MemoryLedger().shared(as: "other")
    let store = try Store(at: directory.file("a.store"), models: Artist.self)
    try store.checkCanFound(other)
    #expect(try other.hasStore() == false)
    #expect(SharedWorld.code { try store.checkCanFound(world.shared) } == .configurationConflict)
    #expect(
      SharedWorld.code { try world.members[0].checkCanFound(world.shared) }
        == .configurationConflict)
    store.close()
    try PlainDatabase(directory.file("a.store")).execute(
      "CREATE VIRTUAL TABLE words USING fts5(word)")
    let again = try Store(at: directory.file("a.store"), models: Artist.self)
    #expect(SharedWorld.code { try again.checkCanFound(other) } == .unsupportedSchema)
  }
}
