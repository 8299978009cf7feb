import CFaultVFS
import CSQLite
import Testing

@testable import ModelStore

/// A COMMIT is kept, undone or unknown, and the store says which.
@Suite(.tags(.unit)) struct CommitOutcomeTests {
  @Test(arguments: [fault_vfs_effect.none, .full])
  func aFailedSyncLeavesTheOutcomeUnknownUntilReopening(effect: fault_vfs_effect) throws {
    let faulty = try FaultyStore()
    let store = try faulty.open()
    try store.write { tx in try tx.insert(Artist(id: 1, name: "kept")) }
    let seen = Recorder<Int>()
    let subscription = try store.observe(Artist.self) { changes in seen.add(changes.changes.count) }
    let fault = fault_vfs_arm(.sync, faulty.path + "-wal", 1, ExtendedCode.ioSync, effect, .once)

    let insert = { try store.write { tx in try tx.insert(Artist(id: 2, name: "unknown")) } }
    #expect(code(of: insert) == .outcomeUnknown)
    #expect(fault_vfs_fired(fault) == 1)
    fault_vfs_disarm(fault)
    // No second try, whatever is asked, though the disk works again.
    #expect(code { try store.write { _ in } } == .outcomeUnknown)
    #expect(code { try store.preview { _ in } } == .outcomeUnknown)
    #expect(code { try store.checkpoint() } == .outcomeUnknown)
    #expect(try store.fetch(Artist.all) == [Artist(id: 1, name: "kept")])
    store.waitForDelivery()
    #expect(seen.events == [])

    // A crash brings it back: that is what unknown means.
    let killed = try faulty.afterKill()
    #expect(try killed.fetch(Artist.all).map(\.id) == [1, 2])
    #expect(try killed.checkIntegrity() == [])

    subscription.cancel()
    store.close()
    let again = try faulty.open()
    let ids = try again.fetch(Artist.all).map(\.id)
    #expect(ids == [1] || ids == [1, 2])
    try again.write { tx in try tx.insert(Artist(id: 3, name: "after")) }
    #expect(try again.fetch(Artist.all).map(\.id) == ids + [3])
    #expect(try again.checkIntegrity() == [])
  }

  @Test func aFailureAfterTheSyncIsUnknownToo() throws {
    // The log's index is brought up to date when the commit frame is on the disk already. 1000
    // pages with text need a second part of the index.
    let faulty = try FaultyStore()
    let store = try faulty.open(checkpointFrameCount: .max)
    let fault = fault_vfs_arm(
      .shmMap, faulty.path, 1, ExtendedCode.ioSharedMemorySize, .none, .sticky)
    var failed: StoreError.Code?
    var committed: [Int64] = []
    for id in 1...40 where failed == nil {
      failed = code {
        try store.write { tx in
          try tx.execute("CREATE TABLE IF NOT EXISTS ballast(x)")
          try tx.execute("INSERT INTO ballast VALUES (zeroblob(500000))")
          try tx.insert(Artist(id: Int64(id), name: "a"))
        }
      }
      if failed == nil { committed.append(Int64(id)) }
    }
    fault_vfs_disarm(fault)
    #expect(failed == .outcomeUnknown)
    let ids = try faulty.afterKill().fetch(Artist.all).map(\.id)
    #expect(ids == committed || ids == committed + [Int64(committed.count + 1)])
  }

  @Test(arguments: [fault_vfs_effect.none, .half])
  func aFullDiskUndoesTheTransactionAndNothingElse(effect: fault_vfs_effect) throws {
    let faulty = try FaultyStore()
    let store = try faulty.open()
    try store.write { tx in try tx.insert(Artist(id: 1, name: "kept")) }
    let fault = fault_vfs_arm(.write, faulty.path + "-wal", 1, SQLITE_FULL, effect, .sticky)
    #expect(
      code { try store.write { tx in try tx.insert(Artist(id: 2, name: "lost")) } } == .outOfSpace)
    fault_vfs_disarm(fault)
    #expect(try faulty.afterKill().fetch(Artist.all).map(\.id) == [1])
    try store.write { tx in try tx.insert(Artist(id: 3, name: "next")) }
    #expect(try store.fetch(Artist.all).map(\.id) == [1, 3])
  }

  @Test func aFailedCheckpointKeepsEveryCommitAndStopsTheWriter() throws {
    let faulty = try FaultyStore()
    let reports = Recorder<StoreError.Code>()
    let store = try faulty.open(checkpointFrameCount: 1) { reports.add($0.code) }
    let fault = fault_vfs_arm(.sync, faulty.path, 1, ExtendedCode.ioSync, .none, .once)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "kept")) }
    #expect(fault_vfs_fired(fault) == 1)
    fault_vfs_disarm(fault)
    #expect(reports.events == [.ioFailure])
    #expect(code { try store.write { _ in } } == .ioFailure)
    #expect(code { try store.checkpoint() } == .ioFailure)
    #expect(try faulty.afterKill().fetch(Artist.all).map(\.id) == [1])
    store.close()
    let again = try faulty.open()
    try again.write { tx in try tx.insert(Artist(id: 2, name: "next")) }
    #expect(try again.fetch(Artist.all).map(\.id) == [1, 2])
  }

  @Test func aFullDiskAtACheckpointIsReportedOnceAndTheCommitIsKept() throws {
    // Post-mortem: the report said "nothing was changed" after a COMMIT that had succeeded.
    let faulty = try FaultyStore()
    let reports = Recorder<String>()
    let store = try faulty.open(checkpointFrameCount: 1) { reports.add("\($0)") }
    let sentence =
      "outOfSpace: The commit is complete; copying the write-ahead log into the database failed after it"
      + ": The disk is full. Free space, then try again."
    for round in 1...2 {
      let fault = fault_vfs_arm(.write, faulty.path, 1, SQLITE_FULL, .none, .sticky)
      for id in 1...3 {
        try store.write { tx in
          try tx.insert(Artist(id: Int64(round * 10 + id), name: "kept"))
        }
      }
      #expect(reports.events == Array(repeating: sentence, count: round))
      let error = thrownError { try store.checkpoint() } as? StoreError
      #expect(
        error?.message
          == "Every commit is complete; copying the write-ahead log into the database failed: "
          + "The disk is full. Free space, then try again.")
      fault_vfs_disarm(fault)
      try store.write { tx in try tx.insert(Artist(id: Int64(round * 10), name: "kept")) }
    }
    #expect(try store.fetch(Artist.all).map(\.id) == [10, 11, 12, 13, 20, 21, 22, 23])
    #expect(try faulty.afterKill().fetch(Artist.all).count == 8)
  }

  @Test func anotherStoresUnknownOutcomeDoesNotStopThisOne() throws {
    let faulty = try FaultyStore()
    let store = try faulty.open()
    #expect(
      code { try store.write { _ in throw StoreError(.outcomeUnknown, "of another store") } }
        == .outcomeUnknown)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    #expect(try store.fetch(Artist.all).map(\.id) == [1])
  }
}
