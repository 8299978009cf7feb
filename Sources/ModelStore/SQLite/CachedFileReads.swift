internal import CSQLite

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Lets a thread read files through SQLite without waiting for the disk: a read of something that
/// the system does not have in memory fails.
///
/// SQLite reads a file by `pread`, which waits. Its file system "unix" accepts another function
/// instead (<https://sqlite.org/c3ref/vfs.html>, `xSetSystemCall`). The one here is `pread` for
/// every thread, except inside ``limited(toByteCount:_:)``. It is set for the whole process, also
/// for other users of the library, and stays.
enum CachedFileReads {
  /// How a file system can be read.
  enum Support {
    /// By this process alone, in its memory, so no read waits.
    case memory
    /// Files, whose reads can be made not to wait.
    case files
  }

  /// Returns how the file of a connection can be read without waiting; nil if it cannot, for
  /// example because the program has set another file system.
  static func support(of database: OpaquePointer) -> Support? {
    var system: UnsafeMutablePointer<sqlite3_vfs>?
    let code = withUnsafeMutablePointer(to: &system) {
      sqlite3_file_control(database, "main", SQLITE_FCNTL_VFS_POINTER, $0)
    }
    guard code == SQLITE_OK, let name = system?.pointee.zName.map({ String(cString: $0) }) else {
      return nil
    }
    if name == MemoryFileSystem.name { return .memory }
    return name == replacedSystem && waitingRead != nil ? .files : nil
  }

  /// Runs `body` on the calling thread. SQLite fails to read, with the code of an I/O error, what
  /// is not in memory, and more than `byteCountMax` bytes.
  ///
  /// - Parameter byteCountMax: Counts what SQLite itself has not kept.
  static func limited<Result>(
    toByteCount byteCountMax: Int, _ body: () throws -> Result
  ) rethrows -> Result {
    var rest = byteCountMax
    return try withUnsafeMutablePointer(to: &rest) { rest in
      pthread_setspecific(allowance, rest)
      defer { pthread_setspecific(allowance, nil) }
      return try body()
    }
  }

  /// The calling thread's pointer to the number of bytes that it may still read; nil for a thread
  /// that may wait.
  private static let allowance: pthread_key_t = {
    var key = pthread_key_t()
    let code = pthread_key_create(&key, nil)
    precondition(code == 0, "pthread_key_create: \(code)")
    return key
  }()

  /// The file system with locks that SQLite chooses by itself:
  /// <https://sqlite.org/vfs.html#standard_unix_vfses>.
  private static let replacedSystem = "unix"

  /// The function that SQLite called before; nil if SQLite has none to replace, or if the operating
  /// system cannot read without waiting. The first use installs ``limitedRead``.
  private static let waitingRead: csqlite_read? = {
    guard let system = sqlite3_vfs_find(replacedSystem) else { return nil }
    _ = allowance
    // SQLite was built with one of them.
    for name in ["pread", "pread64"] {
      guard let read = csqlite_system_read(system, name) else { continue }
      if csqlite_set_system_read(system, name, limitedRead) == SQLITE_OK { return read }
    }
    return nil
  }()

  private static let limitedRead: csqlite_read = { descriptor, buffer, count, offset in
    guard let rest = pthread_getspecific(allowance)?.assumingMemoryBound(to: Int.self) else {
      guard let read = waitingRead else { preconditionFailure("Installed without a function.") }
      return read(descriptor, buffer, count, offset)
    }
    rest.pointee -= count
    guard rest.pointee >= 0 else {
      errno = EAGAIN
      return -1
    }
    return csqlite_read_cached(descriptor, buffer, count, offset)
  }
}
