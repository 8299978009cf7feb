import CFaultVFS
import CSQLite
import Foundation
import Testing

@testable import ModelStore

/// The write-ahead log is copied back, and never in the way that loses frames.
@Suite(.tags(.unit)) struct CheckpointTests {
  private final class Race {
    let writer: Connection
    let checkpointer: Checkpointer
    let unguarded: Connection

    init(path: String) throws {
      let policy = Connection.Policy.scratch(
        busyTimeout: .milliseconds(10), fileSystem: "fault")
      writer = try Connection(path: path, role: .writer, policy: policy)
      checkpointer = try Checkpointer(path: path, policy: policy)
      unguarded = try Connection(path: path, role: .checkpointer, policy: policy)
    }

    static func result(_ body: () throws -> Void) -> CInt {
      do {
        try body()
        return SQLITE_OK
      } catch let error as SQLiteError {
        return error.code.rawValue
      } catch {
        return SQLITE_ERROR
      }
    }
  }

  private func race(_ checkpoint: @escaping fault_vfs_checkpoint) throws -> fault_vfs_wal_reset {
    let faulty = try FaultyStore()
    try faulty.open().close()
    let race = try Race(path: faulty.path)
    var report = [CChar](repeating: 0, count: 2048)
    let outcome = withExtendedLifetime(race) {
      fault_vfs_wal_reset_scenario_around(
        faulty.path, checkpoint, Unmanaged.passUnretained(race).toOpaque(), &report, report.count)
    }
    print(String(decoding: report.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    return outcome
  }

  @Test func aCheckpointOfTheStoreExcludesOtherCheckpoints() throws {
    let outcome = try race { context in
      guard let context else { return SQLITE_MISUSE }
      let race = Unmanaged<Race>.fromOpaque(context).takeUnretainedValue()
      return Race.result { try race.checkpointer.run(holdingLockOf: race.writer) }
    }
    #expect(outcome == .excluded)
  }

  /// The negative control: without the lock the same connection damages the file on every library
  /// that has the bug, so the test above proves something.
  @Test func withoutTheLockTheResultDependsOnTheSQLiteVersion() throws {
    let outcome = try race { context in
      guard let context else { return SQLITE_MISUSE }
      let race = Unmanaged<Race>.fromOpaque(context).takeUnretainedValue()
      return Race.result { try race.unguarded.checkpointPassively() }
    }
    let isFixed = sqlite3_libversion_number() >= 3_051_003
    print(
      "SQLite \(String(cString: sqlite3_libversion())): the WAL-reset bug is \(isFixed ? "fixed" : "present")"
    )
    #expect(outcome == (isFixed ? .survived : .damaged))
  }

  /// Another program's checkpoint, which no store guards, races with a write of ours.
  private func raceOfOthers(_ write: @escaping fault_vfs_rival) throws -> fault_vfs_wal_reset {
    let faulty = try FaultyStore()
    try faulty.open().close()
    let writer = try Connection(
      path: faulty.path, role: .writer,
      policy: .scratch(busyTimeout: .milliseconds(10), fileSystem: "fault"))
    try writer.enterWAL()
    var report = [CChar](repeating: 0, count: 2048)
    let outcome = withExtendedLifetime(writer) {
      fault_vfs_wal_reset_scenario_against(
        faulty.path, write, Unmanaged.passUnretained(writer).toOpaque(), &report, report.count)
    }
    print(String(decoding: report.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    return outcome
  }

  @Test func aWriteOfOursWaitsForTheCheckpointOfAnotherProgram() throws {
    let outcome = try raceOfOthers { context, sql in
      guard let context else { return SQLITE_MISUSE }
      let writer = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
      return Race.result {
        try writer.inTransaction { try writer.execute(String(cString: sql)) }
      }
    }
    #expect(outcome == .excluded)
  }

  /// The negative control: the same connection without the lock for checkpoints.
  @Test func aWriteThatDoesNotWaitIsLostInSQLiteVersionsWithTheBug() throws {
    let outcome = try raceOfOthers { context, sql in
      guard let context else { return SQLITE_MISUSE }
      let writer = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
      return Race.result {
        try writer.execute("BEGIN IMMEDIATE; \(String(cString: sql)); COMMIT")
      }
    }
    #expect(outcome == (sqlite3_libversion_number() >= 3_051_003 ? .survived : .damaged))
  }

  @Test func otherProgramsCheckpointBetweenOurWritesOnly() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("shared.store")
    let store = try Store(at: path, models: Artist.self)
    let other = try PlainDatabase(path)
    // The first column says whether the checkpoint found the file busy.
    let isBusy = { try other.rows("PRAGMA wal_checkpoint(PASSIVE)").first?.first == .integer(1) }
    // Each write begins while every frame is copied, so it may restart the log.
    try store.checkpoint()
    try store.write { tx in
      try tx.insert(Artist(id: 1, name: "a"))
      #expect(try isBusy())
    }
    #expect(try !isBusy())
    // Every end of a transaction releases the lock.
    _ = try store.preview { tx in try tx.insert(Artist(id: 2, name: "b")) }
    #expect(try !isBusy())
    #expect(
      code { try store.write { tx in try tx.insert(Artist(id: 1, name: "taken")) } } == .rejected)
    #expect(try !isBusy())
    try store.write { tx in try tx.insert(Artist(id: 3, name: "c")) }
    store.close()
    #expect(try !isBusy())
  }

  /// Such a write only appends, whatever a checkpoint does in the meantime, so it blocks none.
  @Test func aWriteThatCannotRestartTheLogLetsOthersCheckpoint() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("shared.store")
    let store = try Store(at: path, models: Artist.self)
    try store.checkpoint()
    let other = try PlainDatabase(path)
    let isBusy = { try other.rows("PRAGMA wal_checkpoint(PASSIVE)").first?.first == .integer(1) }
    var wasBusy: [Bool] = []
    for id in 1...6 as ClosedRange<Int64> {
      try store.write { tx in
        try tx.insert(Artist(id: id, name: "before"))
        // Every second write finds the frames of the one before it, which this copies.
        wasBusy.append(try isBusy())
        try tx.update(Artist(id: id, name: "after"))
      }
      if id % 2 == 0 { #expect(try !isBusy()) }
    }
    #expect(wasBusy == [true, false, true, false, true, false])
    store.close()
    #expect(
      try other.rows("SELECT id, name FROM Artist ORDER BY id")
        == (1...6).map { [.integer($0), .text("after")] })
    #expect(try other.rows("PRAGMA integrity_check") == [[.text("ok")]])
  }

  @Test func theLogStaysSmallHoweverMuchIsWritten() throws {
    // Post-mortem: PRAGMA wal_autocheckpoint took the hook away that counts frames, so that the log
    // grew without end.
    let directory = try TemporaryDirectory()
    let path = directory.file("growing.store")
    var configuration = StoreConfiguration()
    configuration.durability = .normal
    configuration.checkpointFrameCount = 100
    let store = try Store(at: path, models: Artist.self, configuration: configuration)
    for round in 0..<300 {
      try store.write { tx in
        for id in 0..<40 {
          try tx.upsert(
            Artist(id: Int64(id * 7919 + round), name: String(repeating: "n", count: 100)))
        }
      }
    }
    let size = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
    #expect((size ?? .max) < 4 << 20)
    #expect(try store.checkIntegrity() == [])
  }

  @Test func anExplicitCheckpointEmptiesTheLogIntoTheDatabase() throws {
    let faulty = try FaultyStore()
    let store = try faulty.open()
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    let before = fault_vfs_arm(.write, faulty.path, 0, SQLITE_OK, .none, .once)
    try store.checkpoint()
    #expect(fault_vfs_seen(before) > 0)
    let after = fault_vfs_seen(before)
    try store.checkpoint()
    #expect(fault_vfs_seen(before) == after)
    fault_vfs_disarm(before)
  }

  @Test func noConnectionCheckpointsByItself() throws {
    let faulty = try FaultyStore()
    let store = try faulty.open(durability: .normal, checkpointFrameCount: .max)
    _ = try store.fetch(Artist.all)
    let writes = fault_vfs_arm(.write, faulty.path, 0, SQLITE_OK, .none, .once)
    for round in 0..<20 {
      try store.write { tx in
        for id in 0..<500 {
          try tx.upsert(
            Artist(id: Int64(id), name: String(repeating: "n", count: 100) + "\(round)"))
        }
      }
      _ = try store.fetch(Artist.all).count
    }
    #expect(fault_vfs_seen(writes) == 0)
    fault_vfs_disarm(writes)
  }
}
