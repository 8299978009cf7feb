import CFaultVFS
import CSQLite
import Testing

@testable import ModelStore

/// Commits that fail in the file system: rolled back, or unknown until the store is opened again.
@Suite(.tags(.unit)) struct FailedCommitTests {
  private struct Shop: Sendable {
    let directory: TemporaryDirectory
    let path: String
    let store: Store
    let recorder = Recorder<String>()
    private let subscription: ObservationToken

    init() throws {
      #expect(fault_vfs_register() == SQLITE_OK)
      directory = try TemporaryDirectory()
      path = directory.file("fault.store")
      store = try Self.open(path)
      try store.write { tx in _ = try tx.insert(Artist(id: 1, name: "a")) }
      subscription = try store.observe(Artist.self) { [recorder] in
        recorder.add($0.changes.map(\.change.line).joined(separator: "; "))
      }
    }

    static func open(_ path: String) throws -> Store {
      var configuration = StoreConfiguration()
      configuration.fileSystem = "fault"
      return try Store(at: path, models: Artist.self, configuration: configuration)
    }

    /// The names after a kill at this moment.
    func namesAfterKill(_ copy: String) throws -> [String] {
      #expect(fault_vfs_snapshot(path, directory.file(copy)) == 0)
      return try Store(at: directory.file(copy), models: Artist.self).fetch(Artist.all).map(\.name)
    }
  }

  @Test(arguments: [fault_vfs_effect.none, .full])
  func aFailedSyncLeavesTheOutcomeUnknown(_ effect: fault_vfs_effect) throws {
    let shop = try Shop()
    let fault = fault_vfs_arm(.sync, shop.path + "-wal", 1, SQLITE_IOERR | (4 << 8), effect, .once)
    let error = failure {
      try shop.store.write { tx in try tx.set(\Artist.name, to: "b", for: 1) }
    }
    #expect(fault_vfs_fired(fault) == 1)
    fault_vfs_disarm(fault)
    #expect(error?.code == .outcomeUnknown)
    #expect(error?.sqliteCode == SQLITE_IOERR | (4 << 8))
    // What a kill leaves is what reopening decides by: all of it or nothing.
    let names = try shop.namesAfterKill("killed.store")
    #expect(names == ["a"] || names == ["b"])

    for _ in 0..<2 {
      #expect(failure { try shop.store.write { _ in } }?.code == .outcomeUnknown)
      #expect(failure { try shop.store.preview { _ in } }?.code == .outcomeUnknown)
      #expect(failure { try shop.store.checkpoint() }?.code == .outcomeUnknown)
    }
    shop.store.waitForDelivery()
    #expect(shop.recorder.events == [])

    shop.store.close()
    let again = try Shop.open(shop.path)
    let kept = try again.fetch(Artist.all).map(\.name)
    #expect(kept == ["a"] || kept == ["b"])
    try again.write { tx in try tx.set(\Artist.name, to: "c", for: 1) }
    #expect(try again.fetch(Artist.all).map(\.name) == ["c"])
    #expect(try again.checkIntegrity() == [])
  }

  @Test func aFullDiskRollsBackAndTheNextWriteWorks() throws {
    let shop = try Shop()
    let fault = fault_vfs_arm(.write, shop.path + "-wal", 1, SQLITE_FULL, .half, .sticky)
    let error = failure {
      try shop.store.write { tx in
        try tx.set(\Artist.name, to: String(repeating: "b", count: 100), for: 1)
      }
    }
    #expect(fault_vfs_fired(fault) >= 1)
    fault_vfs_disarm(fault)
    #expect(error?.code == .outOfSpace)
    #expect(try shop.store.fetch(Artist.all).map(\.name) == ["a"])
    #expect(try shop.namesAfterKill("killed.store") == ["a"])
    try shop.store.write { tx in try tx.set(\Artist.name, to: "c", for: 1) }
    shop.store.waitForDelivery()
    #expect(shop.recorder.events == ["update Artist 1 (name: 'a' → 'c' user)"])
    #expect(try shop.store.checkIntegrity() == [])
  }

  @Test func aFailedReadRollsBackAndTheNextWriteWorks() throws {
    let shop = try Shop()
    let error = failure {
      try shop.store.write { tx in
        try tx.set(\Artist.name, to: "b", for: 1)
        throw StoreError(.ioFailure, "as if a read had failed")
      }
    }
    #expect(error?.code == .ioFailure)
    try shop.store.write { tx in try tx.set(\Artist.name, to: "c", for: 1) }
    #expect(try shop.store.fetch(Artist.all).map(\.name) == ["c"])
  }
}
