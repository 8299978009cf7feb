internal import CSQLite

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A path for a store, checked before SQLite opens it, and the identity of the file there.
///
/// It uses `lstat`, `statfs` and exclusive creation of new files. It never opens an existing
/// database, because closing any descriptor of it would release SQLite's locks in this process
/// (<https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).
struct DatabaseFile {
  /// Device and inode, which are the same for every name of one file.
  struct Identity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64

    init(device: UInt64, inode: UInt64) {
      self.device = device
      self.inode = inode
    }

    init(_ status: stat) {
      self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
  }

  enum Problem: Error, Hashable {
    case emptyPath
    /// SQLite's name for a database in memory, not a file.
    case namesMemory(path: String)
    case notFound(path: String)
    case directoryNotFound(path: String)
    case isDirectory(path: String)
    /// A symbolic link to a missing file, so that opening would create a file elsewhere.
    case danglingLink(path: String, target: String)
    /// A symbolic link that another user may have created.
    case untrustedLink(path: String, owner: UInt32)
    case notAFile(path: String)
    /// Longer than SQLite's limit for paths, or with a NUL character, at which C would truncate it.
    case unusableName(path: String)
    /// A file beside the database that SQLite must not use.
    case unsafeCompanion(path: String, LocationSafety.CompanionProblem)
    /// Not empty, but shorter than the smallest database.
    case tooShort(path: String, size: Int)
    case hardLinked(path: String, count: Int)
    case unsuitableFileSystem(path: String, UnsuitableFileSystem)
    /// Other users may replace the database. You can only read it.
    case replaceable(path: String, directory: String, by: OtherWriters)
    /// Another user may have put the database there. You can only read it.
    case planted(path: String, owner: UInt32)
    /// A log with another page size than the database.
    case foreignLog(path: String, logPageSize: Int, pageSize: Int)
    /// A log that continues another state of the database, or another database.
    case staleLog(path: String)
    case refused(path: String, errno: Int32)
  }

  /// The path of the file, without symbolic links.
  let path: String
  let identity: Identity
  /// Whether it is a ``MemoryDatabase``. Then `path` is its name, and no other process can open it.
  let isInMemory: Bool
  /// Why the contents may not come from the file's owner; nil if other users cannot replace the
  /// file. Only a file that is opened for reading can have a doubt.
  let doubt: Problem?
  private let safety: LocationSafety
  /// The file's size in bytes, and whether a non-empty log or journal was beside it, before it was
  /// opened.
  private let size: Int
  private let hasLog: Bool

  /// Checks `path` for the requested access. If the configuration requests it, creates an empty
  /// file. Only its owner can read and write the new file, or also the group that shares it.
  init(
    path: String, access: StoreConfiguration.Access = .readWriteCreate,
    sharing: StoreConfiguration.Sharing = .owner, membership: GroupMembership = .system
  ) throws(Problem) {
    guard !path.isEmpty else { throw .emptyPath }
    guard !Self.namesMemory(path) else { throw .namesMemory(path: path) }
    guard !path.utf8.contains(0) else { throw .unusableName(path: path) }
    let user = geteuid()
    let real = try RealPath(path, user: user, membership: membership)
    self.path = real.path
    isInMemory = false
    guard real.path.utf8.count <= Self.pathLengthMax else { throw .unusableName(path: path) }
    guard let directory = try Self.status(of: real.directory) else {
      throw .directoryNotFound(path: real.directory)
    }
    let place = FileOwnership(directory)
    func safety(of file: FileOwnership) -> LocationSafety {
      LocationSafety(
        user: user, file: file, directory: place, sharing: sharing, membership: membership)
    }
    if try Self.status(of: real.path) == nil {
      guard access == .readWriteCreate else { throw .notFound(path: real.path) }
      guard !real.isLinked else { throw .danglingLink(path: path, target: real.path) }
      try Self.checkFileSystem(of: real.directory)
      let new = FileOwnership(
        user: user, group: sharing == .group ? place.group : getegid(),
        mode: sharing == .group ? 0o660 : 0o600)
      if let problem = Self.problem(safety(of: new), path: real.path, in: real.directory) {
        throw problem
      }
      try EmptyFile.create(at: real.path, like: new)
    }
    guard let status = try Self.status(of: real.path) else { throw .notFound(path: real.path) }
    self.safety = safety(of: FileOwnership(status))
    doubt = Self.problem(self.safety, path: real.path, in: real.directory)
    if let doubt, access != .readOnly { throw doubt }
    try Self.check(status, at: real.path)
    try Self.checkFileSystem(of: real.path)
    size = Int(status.st_size)
    // SQLite treats a file of one byte as empty and would overwrite it.
    if size > 0, size < Self.pageSizeMin { throw .tooShort(path: real.path, size: size) }
    identity = Identity(status)
    hasLog = try Self.checkCompanions(of: real.path, self.safety)
    // Files that a reader creates belong to the reader, and the database's owner would reject them.
    if self.safety.verdict == .exposed,
      access != .readOnly || [status.st_uid, 0].contains(user)
    {
      try Self.createCompanions(of: real.path, self.safety)
    }
  }

  /// A database in memory, which only this process can reach.
  init(_ database: MemoryDatabase) {
    path = database.name
    identity = Identity(device: .max, inode: database.number)
    isInMemory = true
    doubt = nil
    let user = geteuid()
    let own = FileOwnership(user: user, group: getegid(), mode: 0o600)
    safety = LocationSafety(
      user: user, file: own, directory: own, sharing: .owner, membership: .system)
    size = 0
    hasLog = false
  }

  /// Whether `path` is how other SQLite libraries name a database in memory. A user who passes it
  /// does not mean a file of this name.
  private static func namesMemory(_ path: String) -> Bool {
    if path.hasPrefix(MemoryDatabase.namePrefix) { return true }
    guard path.hasPrefix("file:") else { return false }
    return [":memory:", "mode=memory", "vfs=memdb"].contains(where: path.contains)
  }

  /// SQLite's unix layer allows 512 bytes, including the longest suffix and the terminator.
  private static let pathLengthMax = 512 - "-journal".utf8.count - 1

  private static let pageSizeMin = 512

  /// The suffixes of the files that SQLite stores beside a database and treats as parts of it.
  static let companionSuffixes = ["-wal", "-shm", "-journal"]

  /// Whether the end of the last page is missing. SQLite reads zeros there and may not detect it.
  /// If there is a log beside the file, the log may contain the page.
  func isCutOff(pageSize: Int64) -> Bool {
    !hasLog && size % Int(pageSize) != 0
  }

  /// Whether other users can create files beside the database, but not remove its files.
  var isExposed: Bool { safety.verdict == .exposed }

  /// Checks the files beside the database again. SQLite has opened them since the first check, and
  /// it removes the empty journal of a new database.
  ///
  /// - Parameter access: The store's access. A read-only store creates no files.
  func checkCompanions(for access: StoreConfiguration.Access) throws(Problem) {
    guard !isInMemory else { return }
    if isExposed, access != .readOnly { try Self.createCompanions(of: path, safety) }
    _ = try Self.checkCompanions(of: path, safety)
  }

  /// - Returns: Whether a log or journal is not empty.
  private static func checkCompanions(
    of path: String, _ safety: LocationSafety
  ) throws(Problem) -> Bool {
    var hasLog = false
    for suffix in companionSuffixes {
      guard let status = try status(of: path + suffix) else { continue }
      if let problem = problem(withCompanion: status, safety) {
        throw .unsafeCompanion(path: path + suffix, problem)
      }
      if suffix != "-shm", status.st_size > 0 { hasLog = true }
    }
    return hasLog
  }

  private static func problem(
    withCompanion status: stat, _ safety: LocationSafety
  ) -> LocationSafety.CompanionProblem? {
    guard status.st_mode & S_IFMT == S_IFREG else { return .notARegularFile }
    guard status.st_nlink <= 1 else { return .hardLinked(count: Int(status.st_nlink)) }
    return safety.problem(withCompanion: FileOwnership(status))
  }

  /// Creates the missing files beside the database, so that other users cannot create them. SQLite
  /// treats an empty log or journal as missing.
  private static func createCompanions(
    of path: String, _ safety: LocationSafety
  ) throws(Problem) {
    for suffix in companionSuffixes {
      guard try status(of: path + suffix) == nil else { continue }
      do throws(Problem) {
        try EmptyFile.create(at: path + suffix, like: safety.file)
      } catch .refused(_, let number) where [EACCES, EPERM, EROFS].contains(number) {
        // If this user may not create files here, the store reads without them, or SQLite fails.
        return
      }
    }
    // Another process may have created one in the meantime.
    _ = try checkCompanions(of: path, safety)
  }

  /// Why no file can be created beside the database, as the end of a sentence; nil where one can.
  var creationObstacle: String? {
    let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    guard faccessat(AT_FDCWD, directory, W_OK, AT_EACCESS) != 0 else { return nil }
    return errno == EROFS
      ? "its file system is read-only" : "this user may not create files in its directory"
  }

  /// Whether the file at `path` is still the one that was opened.
  func isStillThere() -> Bool {
    guard !isInMemory else { return true }
    var status = stat()
    // Passing the text itself would copy it.
    return path.withCString { lstat($0, &status) } == 0 && Identity(status) == identity
  }

  static func status(of path: String) throws(Problem) -> stat? {
    var status = stat()
    if lstat(path, &status) == 0 { return status }
    if errno == ENOENT { return nil }
    throw .refused(path: path, errno: errno)
  }

  private static func check(_ status: stat, at path: String) throws(Problem) {
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw .isDirectory(path: path)
    default: throw .notAFile(path: path)
    }
    // SQLite would use a second -wal file for a second name:
    // https://sqlite.org/howtocorrupt.html#_multiple_links_to_the_same_file
    if status.st_nlink > 1 { throw .hardLinked(path: path, count: Int(status.st_nlink)) }
  }

  private static func problem(
    _ safety: LocationSafety, path: String, in directory: String
  ) -> Problem? {
    switch safety.verdict {
    case .safe, .exposed: nil
    case .replaceable(let writers): .replaceable(path: path, directory: directory, by: writers)
    case .planted(let owner): .planted(path: path, owner: owner)
    }
  }

  private static func checkFileSystem(of path: String) throws(Problem) {
    guard let unsuitable = UnsuitableFileSystem(magic: csqlite_file_system_type(path)) else {
      return
    }
    throw .unsuitableFileSystem(path: path, unsuitable)
  }
}
