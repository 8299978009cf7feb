import CSQLite
import Testing

@testable import ModelStore

/// A write waits for all its locks together no longer than the busy timeout.
@Suite(.tags(.unit)) struct BusyTimeoutTests {
  private func exhaust(_ hooks: ConnectionHooks) -> Int {
    var attempt = 0
    while hooks.waitForLock(attempt: attempt) { attempt += 1 }
    return attempt
  }

  /// BEGIN waits for the write lock and then for another program's checkpoint, in turn.
  @Test func aSecondLockDoesNotBeginTheWaitAgain() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    try PlainDatabase(path).execute("CREATE TABLE t (a)")
    let connection = try Connection(
      path: path, role: .writer, policy: .scratch(busyTimeout: .milliseconds(30)))
    let hooks = connection.hooks
    hooks.waitingOnce {
      #expect(exhaust(hooks) > 0)
      #expect(exhaust(hooks) == 0)
    }
    // The next write has its own time, and so has each statement outside.
    hooks.waitingOnce { #expect(exhaust(hooks) > 0) }
    #expect(exhaust(hooks) > 0)
    #expect(exhaust(hooks) > 0)
    withExtendedLifetime(directory) {}
  }

  /// The checkpoint lock stays with another program: the write ends with busy and leaves no
  /// transaction open.
  @Test func aCheckpointThatDoesNotEndMakesAWriteBusy() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a.store")
    try PlainDatabase(path).execute("CREATE TABLE t (a)")
    let policy = Connection.Policy.scratch(busyTimeout: .milliseconds(30))
    let holder = try Connection(path: path, role: .writer, policy: policy)
    try holder.enterWAL()
    try holder.execute("INSERT INTO t VALUES (1)")
    // Only a write that may restart the log needs the lock.
    try holder.checkpointPassively()
    let writer = try Connection(path: path, role: .writer, policy: policy)
    try writer.enterWAL()
    #expect(csqlite_checkpoint_lock(holder.handle, 1) == SQLITE_OK)
    let error = #expect(throws: SQLiteError.self) { try writer.beginWriting() }
    #expect(error?.code.primary == .busy)
    #expect(!writer.isInTransaction)
    #expect(csqlite_checkpoint_lock(holder.handle, 0) == SQLITE_OK)
    try writer.beginWriting()
    try writer.rollBack()
    withExtendedLifetime(directory) {}
  }
}
