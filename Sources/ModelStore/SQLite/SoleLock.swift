internal import CSQLite

/// SQLite's lock that a connection has for itself, on an existing file that is not read.
///
/// A connection to a database with a write-ahead log shares the lock from its first read until it
/// is closed. Another connection shares it while it reads or writes. So taking the lock shows
/// whether any program uses the file, and keeps other programs from beginning to.
final class SoleLock {
  enum Refusal: Error {
    /// A connection of this or another program has a lock of the file.
    case inUse
    /// The file or its file system does not allow locks.
    case unknown
  }

  private var lock = csqlite_sole_lock()

  /// Locks the file at `path`, without waiting.
  init(_ path: String) throws(Refusal) {
    let code = csqlite_lock_alone(path, &lock)
    guard code == SQLITE_OK else { throw code & 0xFF == SQLITE_BUSY ? .inUse : .unknown }
  }

  deinit { csqlite_unlock_alone(&lock) }
}
