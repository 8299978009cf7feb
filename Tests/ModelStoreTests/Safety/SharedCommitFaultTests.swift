import CFaultVFS
import CSQLite
import Testing

@testable import ModelStore

/// The disk under writes that share a COMMIT.
@Suite(.tags(.unit), .timeLimit(.minutes(30))) struct SharedCommitFaultTests {
  private static func insert(
    _ ids: ClosedRange<Int64>
  ) -> [@Sendable (borrowing WriteTransaction) throws -> Void] {
    ids.map { id in { tx in try tx.insert(Artist(id: id, name: "a")) } }
  }

  private static func ids(_ store: Store) throws -> [Int64] {
    try store.fetch(Artist.all).map(\.id)
  }

  @Test func waitingWritesHaveOneSync() async throws {
    let faulty = try FaultyStore()
    let store = try faulty.open(checkpointFrameCount: .max)
    try await store.write { tx in try tx.insert(Artist(id: 100, name: "first")) }
    let syncs = fault_vfs_arm(.sync, faulty.path + "-wal", 0, SQLITE_IOERR, .none, .sticky)
    try await store.write { tx in try tx.insert(Artist(id: 101, name: "alone")) }
    #expect(fault_vfs_seen(syncs) == 1)
    let errors = await HeldWriter.run(on: store, Self.insert(1...64))
    #expect(errors.allSatisfy { $0 == nil })
    #expect(fault_vfs_seen(syncs) == 2)
    fault_vfs_disarm(syncs)
    #expect(try Self.ids(faulty.afterKill()) == Array(1...64) + [100, 101])
  }

  @Test func aFailedSyncLeavesTheOutcomeOfEachUnknown() async throws {
    let faulty = try FaultyStore()
    let store = try faulty.open()
    try await store.changeJournal.enable()
    let seen = Recorder<Int>()
    let token = try store.observe(Artist.self) { seen.add($0.changes.count) }
    let fault = fault_vfs_arm(.sync, faulty.path + "-wal", 1, ExtendedCode.ioSync, .full, .once)
    let errors = await HeldWriter.run(on: store, Self.insert(1...3)).map { $0 as? StoreError }
    #expect(fault_vfs_fired(fault) == 1)
    fault_vfs_disarm(fault)
    #expect(errors.map { $0?.code } == [.outcomeUnknown, .outcomeUnknown, .outcomeUnknown])
    let transactions = errors.compactMap { $0?.transaction }
    #expect(Set(transactions).count == 3)
    #expect(failure { try store.write { _ in } }?.code == .outcomeUnknown)
    await store.waitForDelivery()
    #expect(seen.events == [])
    token.cancel()
    // A crash brings all of them back.
    let killed = try faulty.afterKill()
    #expect(try Self.ids(killed) == [1, 2, 3])
    for id in transactions { #expect(try await killed.changeJournal.outcome(of: id) == .committed) }
  }

  @Test func aFullDiskAtCommitUndoesAllAndTheNextSucceed() async throws {
    let faulty = try FaultyStore()
    let store = try faulty.open()
    let seen = Recorder<Int>()
    let token = try store.observe(Artist.self) { seen.add($0.changes.count) }
    let fault = fault_vfs_arm(.write, faulty.path + "-wal", 1, SQLITE_FULL, .none, .once)
    let errors = await HeldWriter.run(on: store, Self.insert(1...3)).map { $0 as? StoreError }
    #expect(fault_vfs_fired(fault) == 1)
    fault_vfs_disarm(fault)
    #expect(errors.map { $0?.code } == [.outOfSpace, .outOfSpace, .outOfSpace])
    #expect(try Self.ids(faulty.afterKill()) == [])
    let again = await HeldWriter.run(on: store, Self.insert(1...3))
    #expect(again.allSatisfy { $0 == nil })
    await store.waitForDelivery()
    #expect(seen.events == [1, 1, 1])
    token.cancel()
    #expect(try Self.ids(store) == [1, 2, 3])
  }
}
