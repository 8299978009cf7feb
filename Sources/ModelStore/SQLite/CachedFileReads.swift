internal import CSQLite
internal import Dispatch

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
/// instead (<https://sqlite.org/c3ref/vfs.html>, `xSetSystemCall`). ``limitedRead`` is `pread`
/// for every thread, except inside ``limited(to:_:)``. It is set for the whole process, also for
/// other users of the library, and stays.
enum CachedFileReads {
  /// How much a thread may still read, and until when.
  struct Allowance {
    /// Bytes in SQLite's own cache do not count.
    var byteCount: Int
    /// After this time, no further row is read.
    var deadline: DispatchTime
    /// Whether the file's own file system can read without waiting, as far as it is known.
    var isSupported = true
  }

  /// Returns whether ``limited(to:_:)`` limits the reads of a connection. It does not, for example,
  /// if the program has set another file system.
  static func canLimit(_ database: OpaquePointer) -> Bool {
    var system: UnsafeMutablePointer<sqlite3_vfs>?
    let code = withUnsafeMutablePointer(to: &system) {
      sqlite3_file_control(database, "main", SQLITE_FCNTL_VFS_POINTER, $0)
    }
    guard code == SQLITE_OK, let name = system?.pointee.zName.map({ String(cString: $0) }) else {
      return false
    }
    return name == MemoryFileSystem.name || name == replacedSystem && waitingRead != nil
  }

  /// Runs `body`, which calls SQLite, on the calling thread. SQLite fails to read, with the code of
  /// an I/O error, what is not in memory, and more than `allowance`.
  static func limited<Result>(
    to allowance: inout Allowance, _ body: () throws -> Result
  ) rethrows -> Result {
    let before = pthread_getspecific(key)
    return try withUnsafeMutablePointer(to: &allowance) { allowance in
      pthread_setspecific(key, allowance)
      defer { pthread_setspecific(key, before) }
      return try body()
    }
  }

  /// Whether the calling thread runs inside ``limited(to:_:)``.
  static var isLimited: Bool { pthread_getspecific(key) != nil }

  /// A limit of the calling thread that is lifted.
  struct Lifted {
    fileprivate let allowance: UnsafeMutableRawPointer?

    /// Sets the limit again.
    func restore() {
      if let allowance { pthread_setspecific(key, allowance) }
    }

    /// - Throws: ``SQLiteError`` after the time of the limit.
    func checkTime() throws {
      let limit = allowance?.assumingMemoryBound(to: Allowance.self)
      guard let limit, limit.pointee.deadline < .now() else { return }
      throw SQLiteError(code: .interrupted, message: "Reading took too long.")
    }
  }

  /// Lifts the limit for a while: the program's own code, which SQLite or a decoder calls, may read
  /// other files through SQLite.
  static func lift() -> Lifted {
    let allowance = pthread_getspecific(key)
    if allowance != nil { pthread_setspecific(key, nil) }
    return Lifted(allowance: allowance)
  }

  /// Counts bytes that the calling thread is about to read.
  ///
  /// - Returns: Whether it may read them.
  static func allow(_ byteCount: Int) -> Bool {
    guard let allowance = current else { return true }
    allowance.pointee.byteCount -= byteCount
    return allowance.pointee.byteCount >= 0
  }

  private static var current: UnsafeMutablePointer<Allowance>? {
    pthread_getspecific(key)?.assumingMemoryBound(to: Allowance.self)
  }

  /// The calling thread's pointer to its allowance; nil for a thread that may wait.
  private static let key: pthread_key_t = {
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
    _ = key
    // SQLite calls the first function that it has.
    for name in ["pread64", "pread"] {
      guard let read = csqlite_system_read(system, name) else { continue }
      return csqlite_set_system_read(system, name, limitedRead) == SQLITE_OK ? read : nil
    }
    return nil
  }()

  private static let limitedRead: csqlite_read = { descriptor, buffer, count, offset in
    guard let allowance = current else {
      guard let read = waitingRead else { preconditionFailure("Installed without a function.") }
      return read(descriptor, buffer, count, offset)
    }
    guard allow(count) else {
      errno = EAGAIN
      return -1
    }
    let read = csqlite_read_cached(descriptor, buffer, count, offset)
    if read < 0, errno != EAGAIN, errno != EINTR { allowance.pointee.isSupported = false }
    return read
  }
}
