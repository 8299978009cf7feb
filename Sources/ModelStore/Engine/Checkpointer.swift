/// Copies the WAL into the database without running into SQLite's WAL-reset bug.
///
/// Up to SQLite 3.51.2 a checkpoint that races with another one and a writer can lose frames. With
/// the write lock held, no writer can reset the WAL meanwhile, so the race cannot happen. Only
/// PASSIVE is used: the other modes become an unguarded PASSIVE when the lock is busy.
/// See <https://sqlite.org/wal.html#walresetbug>.
struct Checkpointer {
  private let connection: Connection

  init(path: String, policy: Connection.Policy) throws(SQLiteError) {
    connection = try Connection(path: path, role: .checkpointer, policy: policy)
  }

  /// Takes the write lock on `writer`, checkpoints on its own connection, and releases the lock.
  ///
  /// - Precondition: `writer` is not in a transaction.
  /// - Throws: ``SQLiteError``; ``ConnectionFailure`` if the lock could not be released.
  func run(holdingLockOf writer: Connection) throws {
    try writer.execute("BEGIN IMMEDIATE")
    do {
      try connection.checkpointPassively()
      try writer.rollBack()
    } catch {
      throw writer.rollBack(after: error)
    }
  }
}
