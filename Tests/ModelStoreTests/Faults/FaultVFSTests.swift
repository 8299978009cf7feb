import CFaultVFS
import CSQLite
import Glibc
import Testing

/// The fault-injecting VFS does what it promises, and SQLite's behaviour under it is what the
/// design relies on.
@Suite(.tags(.unit)) struct FaultVFSTests {
  @Test func aFailedSyncOfACommitCanComeBackAfterAKill() throws {
    for effect in [fault_vfs_effect.none, .full] {
      let directory = try TemporaryDirectory()
      let path = directory.path + "/store.db"
      let copy = directory.path + "/killed.db"
      let database = try Database(path)
      #expect(database.run("CREATE TABLE t(x); INSERT INTO t VALUES (1)") == SQLITE_OK)
      let fault = fault_vfs_arm(.sync, path + "-wal", 1, ioErrorFsync, effect, .once)
      #expect(fault > 0)

      #expect(database.run("BEGIN IMMEDIATE; INSERT INTO t VALUES (2)") == SQLITE_OK)
      #expect(database.run("COMMIT") == ioErrorFsync)
      #expect(fault_vfs_fired(fault) == 1)
      #expect(database.integer("SELECT count(*) FROM t") == 1)

      #expect(fault_vfs_snapshot(path, copy) == 0)
      #expect(try Database(copy).integer("SELECT count(*) FROM t") == 2)
      fault_vfs_disarm(fault)
    }
  }

  @Test func anUnguardedCheckpointLosesCommitsUnlessTheLibraryIsFixed() throws {
    let (outcome, report) = try walReset(guarded: false)
    print(report)
    let fixed = sqlite3_libversion_number() >= 3_051_003
    #expect(outcome == (fixed ? .survived : .damaged), "\(report)")
  }

  @Test func aCheckpointUnderTheWriteLockExcludesTheRival() throws {
    let (outcome, report) = try walReset(guarded: true)
    print(report)
    #expect(outcome == .excluded, "\(report)")
  }

  @Test func anotherCheckpointCanBeRaced() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store.db"
    let database = try Database(path)
    #expect(database.run("CREATE TABLE t(x)") == SQLITE_OK)
    var bytes = [CChar](repeating: 0, count: 2048)
    let checkpoint: fault_vfs_checkpoint = {
      sqlite3_wal_checkpoint_v2(.init($0), nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
    let outcome = fault_vfs_wal_reset_scenario_around(
      path, checkpoint, UnsafeMutableRawPointer(database.handle), &bytes, bytes.count)
    #expect(outcome == .damaged || outcome == .survived)
  }

  @Test func theNthWriteFailsForItsFileOnly() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/a.db"
    let database = try Database(path)
    let other = try Database(directory.path + "/b.db")
    #expect(database.run("CREATE TABLE t(x)") == SQLITE_OK)
    #expect(other.run("CREATE TABLE t(x)") == SQLITE_OK)
    let counter = fault_vfs_arm(.write, path + "-wal", 0, SQLITE_OK, .none, .once)
    let fault = fault_vfs_arm(.write, path + "-wal", 2, SQLITE_FULL, .half, .sticky)
    let insert = "INSERT INTO t VALUES (randomblob(9000))"
    #expect(other.run(insert) == SQLITE_OK)
    #expect(database.run(insert) == SQLITE_FULL)
    #expect(database.run(insert) == SQLITE_FULL)
    #expect(fault_vfs_seen(counter) == fault_vfs_seen(fault))
    #expect(fault_vfs_fired(fault) == fault_vfs_seen(fault) - 1)
    fault_vfs_disarm(fault)
    fault_vfs_disarm(counter)
    #expect(fault_vfs_seen(fault) == -1)
    #expect(database.run(insert) == SQLITE_OK)
    #expect(database.integer("SELECT count(*) FROM t") == 1)
  }

  @Test func aHookRunsBeforeTheCall() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store.db"
    let database = try Database(path)
    #expect(database.run("CREATE TABLE t(x)") == SQLITE_OK)
    let before = fault_vfs_count(.sync)
    let calls = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    defer { calls.deallocate() }
    calls.initialize(to: 0)
    let hook = fault_vfs_add_hook(
      .sync, path + "-wal", { $0?.assumingMemoryBound(to: Int.self).pointee += 1 }, calls)
    #expect(database.run("INSERT INTO t VALUES (1)") == SQLITE_OK)
    fault_vfs_disarm(hook)
    #expect(database.run("INSERT INTO t VALUES (1)") == SQLITE_OK)
    #expect(calls.pointee == 1)
    #expect(fault_vfs_count(.sync) >= before + 2)
  }

  @Test func rulesThatCannotWorkAreRefused() {
    #expect(fault_vfs_arm(.write, nil, 1, SQLITE_OK, .none, .once) == 0)
    #expect(fault_vfs_arm(.write, nil, -1, SQLITE_FULL, .none, .once) == 0)
    #expect(fault_vfs_arm(.shmBarrier, nil, 1, SQLITE_IOERR, .none, .once) == 0)
    #expect(fault_vfs_snapshot("/nonexistent/store.db", "/nonexistent/copy.db") == ENOENT)
  }
}

/// SQLITE_IOERR_FSYNC, a macro that Swift does not import.
private let ioErrorFsync: CInt = SQLITE_IOERR | (4 << 8)

private func walReset(guarded: Bool) throws -> (fault_vfs_wal_reset, String) {
  let directory = try TemporaryDirectory()
  var bytes = [CChar](repeating: 0, count: 2048)
  let outcome = fault_vfs_wal_reset_scenario(
    directory.path + "/store.db", guarded ? 1 : 0, &bytes, bytes.count)
  let text = bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
  return (outcome, String(decoding: text, as: UTF8.self))
}

private struct SetupFailure: Error {
  let reason: String
}

private final class Database {
  let handle: OpaquePointer

  init(_ path: String) throws {
    guard fault_vfs_register() == SQLITE_OK else { throw SetupFailure(reason: "register") }
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    let code = sqlite3_open_v2(path, &opened, flags, "fault")
    guard code == SQLITE_OK, let opened else { throw SetupFailure(reason: "open: \(code)") }
    handle = opened
    sqlite3_extended_result_codes(handle, 1)
    _ = run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0")
  }

  deinit { sqlite3_close(handle) }

  func run(_ sql: String) -> CInt { sqlite3_exec(handle, sql, nil, nil, nil) }

  func integer(_ sql: String) -> Int64? {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK,
      sqlite3_step(statement) == SQLITE_ROW
    else { return nil }
    return sqlite3_column_int64(statement, 0)
  }
}
