internal import CSQLite

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A path where a store may live, checked before SQLite touches it, and the identity of the file
/// there.
///
/// Uses `stat`, `statfs` and, for a file that does not exist yet, one exclusive create. It never
/// opens an existing database: closing any descriptor of it would drop SQLite's locks in this
/// process (<https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).
struct DatabaseFile {
  /// Device and inode: the same for every name of one file.
  struct Identity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
  }

  enum Problem: Error, Hashable {
    case notFound(path: String)
    case directoryNotFound(path: String)
    case isDirectory(path: String)
    case isSymbolicLink(path: String)
    case notAFile(path: String)
    /// Longer than SQLite's limit for paths, or with a NUL character, where C would cut it off.
    case unusableName(path: String)
    /// A file beside the database that SQLite would follow or share with others.
    case unsafeCompanion(path: String)
    /// Not empty, but shorter than the smallest database.
    case tooShort(path: String, size: Int)
    case hardLinked(path: String, count: Int)
    case networkFileSystem(path: String)
    case directoryWritableByAnyone(path: String)
    case refused(path: String, errno: Int32)
  }

  let path: String
  let identity: Identity
  /// The file's size in bytes, and whether a log or journal with content lay beside it, before it
  /// was opened.
  private let size: Int
  private let hasLog: Bool

  /// Checks `path`; creates an empty file, readable and writable by its owner only, when asked to.
  init(path: String, creating: Bool, allowingNetwork: Bool = false) throws(Problem) {
    guard !path.utf8.contains(0) else { throw .unusableName(path: path) }
    let parts = Self.split(path)
    guard let directory = Self.resolved(parts.directory) else {
      throw errno == ENOENT || errno == ENOTDIR
        ? .directoryNotFound(path: parts.directory) : .refused(path: parts.directory, errno: errno)
    }
    self.path = directory == "/" ? "/" + parts.name : directory + "/" + parts.name
    guard self.path.utf8.count <= Self.pathLengthMax else { throw .unusableName(path: path) }
    var status = try Self.status(of: self.path)
    guard status != nil || creating else { throw .notFound(path: path) }
    try Self.checkDirectory(directory)
    if status == nil {
      try Self.create(self.path)
      status = try Self.status(of: self.path)
    }
    guard let status else { throw .notFound(path: path) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw .isDirectory(path: path)
    case S_IFLNK: throw .isSymbolicLink(path: path)
    default: throw .notAFile(path: path)
    }
    // A second name would get a second -wal:
    // https://sqlite.org/howtocorrupt.html#_multiple_links_to_the_same_file
    if status.st_nlink > 1 { throw .hardLinked(path: path, count: Int(status.st_nlink)) }
    hasLog = try Self.checkCompanions(of: self.path)
    size = Int(status.st_size)
    // SQLite takes a file of one byte for an empty one and would overwrite it.
    if size > 0, size < Self.pageSizeMin { throw .tooShort(path: path, size: size) }
    if !allowingNetwork, Self.isOnNetwork(self.path) { throw .networkFileSystem(path: path) }
    identity = Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  /// SQLite's unix layer takes 512 bytes, of which the longest suffix and the end need some.
  private static let pathLengthMax = 512 - "-journal".utf8.count - 1

  private static let pageSizeMin = 512

  /// Whether the end of the last page is missing. SQLite reads zeros there and may not notice. With
  /// a log beside the file, the log may hold the page.
  func isCutOff(pageSize: Int64) -> Bool {
    !hasLog && size % Int(pageSize) != 0
  }

  /// - Returns: Whether a log or journal has content.
  private static func checkCompanions(of path: String) throws(Problem) -> Bool {
    var hasLog = false
    for suffix in ["-wal", "-shm", "-journal"] {
      guard let status = try status(of: path + suffix) else { continue }
      guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink <= 1 else {
        throw .unsafeCompanion(path: path + suffix)
      }
      if suffix != "-shm", status.st_size > 0 { hasLog = true }
    }
    return hasLog
  }

  /// Whether the file at `path` is still the one that was opened.
  func isStillThere() -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && UInt64(status.st_dev) == identity.device
      && UInt64(status.st_ino) == identity.inode
  }

  private static func split(_ path: String) -> (directory: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let directory = path[..<slash]
    return (directory.isEmpty ? "/" : String(directory), String(path[path.index(after: slash)...]))
  }

  private static func resolved(_ directory: String) -> String? {
    guard let real = realpath(directory, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }

  private static func status(of path: String) throws(Problem) -> stat? {
    var status = stat()
    if lstat(path, &status) == 0 { return status }
    if errno == ENOENT { return nil }
    throw .refused(path: path, errno: errno)
  }

  private static func checkDirectory(_ directory: String) throws(Problem) {
    var status = stat()
    guard stat(directory, &status) == 0 else { throw .refused(path: directory, errno: errno) }
    let mode = status.st_mode
    if mode & S_IWOTH != 0, mode & S_ISVTX == 0 {
      throw .directoryWritableByAnyone(path: directory)
    }
  }

  private static func create(_ path: String) throws(Problem) {
    let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0o600)
    // Another process may have created it meanwhile; then it is simply there.
    if descriptor < 0, errno == EEXIST { return }
    guard descriptor >= 0 else { throw .refused(path: path, errno: errno) }
    close(descriptor)
  }

  private static func isOnNetwork(_ path: String) -> Bool {
    // NFS, SMB, SMB2, CIFS, 9P, CODA, FUSE: https://man7.org/linux/man-pages/man2/statfs.2.html
    let network: Set<UInt32> = [
      0x6969, 0x517B, 0xFE53_4D42, 0xFF53_4D42, 0x0102_1997, 0x7375_7245, 0x6573_5546,
    ]
    return network.contains(csqlite_file_system_type(path))
  }
}
