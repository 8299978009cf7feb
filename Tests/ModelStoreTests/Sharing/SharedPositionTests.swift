import Foundation
import Synchronization
import Testing

@testable import ModelStore

@Suite(.tags(.unit), .timeLimit(.minutes(30))) struct SharedPositionTests {
  @Test func aMemberThatLacksAPositionGetsIt() throws {
    let isAway = Mutex(false)
    let world = try SharedWorld(
      ledger: MemoryLedger { _ in
        if isAway.withLock({ $0 }) { throw LedgerError.unreachable("cut") }
      })
    let (first, second) = (world.members[0], world.members[1])
    try first.write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    let before = try #require(try first.sharedPosition())
    try second.refresh(atLeast: before)
    #expect(try second.fetch(Artist.all).map { $0.name } == ["Ada"])
    world.close(1)
    try first.write { tx in _ = try tx.insert(Artist(id: 2, name: "Bo")) }
    let after = try #require(try first.sharedPosition())
    #expect(after.number == before.number + 1 && after.store == "music")
    isAway.withLock { $0 = true }
    let late = try world.member(1)
    // The ledger is not asked for what the member has.
    try late.refresh(atLeast: before)
    #expect(SharedWorld.code { try late.refresh(atLeast: after) } == .ledgerUnavailable)
    isAway.withLock { $0 = false }
    try late.refresh(atLeast: after)
    #expect(try late.fetch(Artist.all).map { $0.name } == ["Ada", "Bo"])
    #expect(try late.sharedPosition() == after)
  }

  @Test func aPositionThatTheLedgerLacksIsRefused() async throws {
    let world = try SharedWorld(memberCount: 1)
    let member = world.members[0]
    let position = try #require(try await member.sharedPosition())
    try await member.refresh(atLeast: position)
    let later = SharedPosition(store: "music", number: position.number + 1)
    await #expect(throws: StoreError.self) { try await member.refresh(atLeast: later) }
    #expect(SharedWorld.code { try member.refresh(atLeast: later) } == .unknownPosition)
  }

  /// A connection for reading may lead to a server that its cluster has replaced.
  @Test func aPositionIsUnknownOnlyIfTheNewestServerLacksIt() throws {
    let isReplaced = Mutex(false)
    let world = try SharedWorld(
      memberCount: 1,
      ledger: MemoryLedger { step in
        if step == .note, isReplaced.withLock({ $0 }) { throw LedgerError.unreachable("cut") }
      })
    isReplaced.withLock { $0 = true }
    let later = SharedPosition(store: "music", number: 100)
    #expect(SharedWorld.code { try world.members[0].refresh(atLeast: later) } == .ledgerUnavailable)
  }

  @Test func aPositionOfAnotherStoreIsRefused() throws {
    let world = try SharedWorld(memberCount: 1)
    let other = SharedPosition(store: "films", number: 0)
    #expect(SharedWorld.code { try world.members[0].refresh(atLeast: other) } == .misuse)
    let alone = try Store.inMemory(models: [Artist.self])
    #expect(try alone.sharedPosition() == nil)
    #expect(SharedWorld.code { try alone.refresh(atLeast: other) } == .misuse)
  }

  @Test func aPositionSurvivesAsTextAndAsJSON() throws {
    let position = SharedPosition(store: "a:b", number: 42)
    #expect(position.description == "a:b:42")
    #expect(SharedPosition("a:b:42") == position)
    #expect(SharedPosition("a:-1") == SharedPosition(store: "a", number: -1))
    for text in ["", "42", "a:", "a:+1", "a:01", "a:1 ", "a:99999999999999999999"] {
      #expect(SharedPosition(text) == nil, "\(text)")
    }
    let data = try JSONEncoder().encode(position)
    #expect(try JSONDecoder().decode(SharedPosition.self, from: data) == position)
  }
}
