#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The empty log that reading leaves beside a database, together with the log's index. SQLite
/// removes both when the last connection is closed, unless that connection can only read.
enum EmptyLog {
  /// Removes them if the log is empty and no program uses the database. Otherwise they stay, which
  /// is harmless.
  static func remove(beside path: String) {
    do {
      // While this lock is held, no connection can begin to use the log.
      let lock = try SoleLock(path)
      var status = stat()
      guard lstat(path + "-wal", &status) == 0, status.st_size == 0 else { return }
      // SQLite removes them in this order, too.
      unlink(path + "-wal")
      unlink(path + "-shm")
      withExtendedLifetime(lock) {}
    } catch {
      // Another program uses the file, or this user may not lock it.
      return
    }
  }
}
