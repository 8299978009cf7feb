#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// What happens if a file already has the name of a copy.
public enum ExistingFile: Hashable, Sendable {
  /// The file stays, and the call throws ``StoreError/Code/fileExists``. The default.
  case keep
  /// The finished copy replaces the file in one step. Until then the file stays as it is.
  case replace
}

/// The place of a copy. It is checked before anything is written there, and again before the copy
/// gets its name.
struct CopyTarget {
  /// The path of the copy, without symbolic links.
  let path: String
  let directory: String
  let existing: ExistingFile
  /// The owner and the permissions of the copy: those of the file that it replaces, or only this
  /// user.
  let ownership: FileOwnership
  /// Whether a file is open as a store in this process.
  private let isOpen: (DatabaseFile.Identity) -> Bool

  /// Checks `path`.
  ///
  /// - Parameters:
  ///   - isOpen: Whether a file is open as a store in this process.
  ///   - storePaths: The paths of these stores and of the files beside them.
  /// - Throws: ``StoreError`` with code `fileExists` for a file that is to be kept,
  ///   `unsafeLocation` for a place that cannot have the copy, `misuse` for a file of an open
  ///   store, `busy` for a file that another connection uses.
  init(
    _ path: String, existing: ExistingFile,
    isOpen: @escaping (DatabaseFile.Identity) -> Bool, storePaths: Set<String>
  ) throws(StoreError) {
    self.existing = existing
    self.isOpen = isOpen
    let real: RealPath
    do throws(DatabaseFile.Problem) {
      guard !path.isEmpty else { throw .emptyPath }
      guard !path.utf8.contains(0) else { throw .unusableName(path: path) }
      real = try RealPath(path, user: geteuid(), membership: .system)
      guard real.path.utf8.count <= Self.pathLengthMax else { throw .unusableName(path: path) }
    } catch {
      throw error.storeError
    }
    self.path = real.path
    directory = real.directory
    guard !storePaths.contains(real.path) else { throw Self.ofOpenStore(real.path) }
    if let status = try Self.status(of: real.path) {
      try Self.check(status, at: real.path, isOpen: isOpen)
      guard existing == .replace else { throw Self.exists(real.path) }
      ownership = FileOwnership(status)
    } else {
      ownership = FileOwnership(user: geteuid(), group: getegid(), mode: 0o600)
    }
    try checkDirectory()
    // Dropped at once: a copy may take long, and others may use the file until then.
    _ = try lockExisting()
  }

  /// SQLite's limit for paths, less the longest name of a file in a directory for the copy.
  private static let pathLengthMax = 440

  /// Checks the place again, and locks the file that the copy is to replace.
  ///
  /// - Returns: The lock; nil if there is no file, or if its locks cannot be used.
  /// - Throws: As ``init(_:existing:isOpen:storePaths:)``.
  func lockExisting() throws(StoreError) -> SoleLock? {
    guard existing == .replace, let status = try Self.status(of: path) else {
      try checkCompanions()
      return nil
    }
    try Self.check(status, at: path, isOpen: isOpen)
    // First: a program that has the file open may have a log, too.
    let lock = try sole()
    try checkCompanions()
    return lock
  }

  private func sole() throws(StoreError) -> SoleLock? {
    let refusal: SoleLock.Refusal
    do throws(SoleLock.Refusal) {
      return try SoleLock(path)
    } catch {
      refusal = error
    }
    let index = path + "-shm"
    let hasIndex = try Self.status(of: index) != nil
    guard refusal == .inUse || hasIndex else { return nil }
    let reason =
      refusal == .inUse
      ? "A program has \(path) open." : "A program may have \(path) open, because \(index) exists."
    throw StoreError(
      .busy,
      "\(reason) It would keep the earlier file, and mix its log with the copy. Close the program, or choose another name for the copy."
    )
  }

  /// Refuses a log or journal that lies beside the path: SQLite would apply it to the copy.
  private func checkCompanions() throws(StoreError) {
    for suffix in ["-wal", "-journal"] {
      guard let status = try Self.status(of: path + suffix), status.st_size > 0 else { continue }
      throw StoreError(
        .unsafeLocation,
        "\(path)\(suffix) belongs to another database, and SQLite would apply it to the copy. Close every program that has \(path) open; if the file is still there, choose another name for the copy."
      )
    }
  }

  /// Refuses a directory in which other users can replace the copy while it is made.
  private func checkDirectory() throws(StoreError) {
    guard let status = try Self.status(of: directory) else {
      throw DatabaseFile.Problem.directoryNotFound(path: directory).storeError
    }
    let safety = LocationSafety(
      user: geteuid(), file: ownership, directory: FileOwnership(status), sharing: .owner,
      membership: .system)
    switch safety.verdict {
    case .safe, .exposed: return
    case .replaceable, .planted:
      throw StoreError(
        .unsafeLocation,
        "Other users can remove and replace files in \(directory), so they could change the copy while it is made. Choose a directory that only you can write, or run chmod +t \(directory.shellWord)."
      )
    }
  }

  private static func check(
    _ status: stat, at path: String, isOpen: (DatabaseFile.Identity) -> Bool
  ) throws(StoreError) {
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw DatabaseFile.Problem.notAFile(path: path).storeError
    }
    guard !isOpen(DatabaseFile.Identity(status)) else { throw ofOpenStore(path) }
  }

  /// Returns the status of a file; nil if there is none.
  private static func status(of path: String) throws(StoreError) -> stat? {
    var status = stat()
    guard lstat(path, &status) != 0 else { return status }
    guard errno == ENOENT else {
      throw DatabaseFile.Problem.refused(path: path, errno: errno).storeError
    }
    return nil
  }

  static func exists(_ path: String) -> StoreError {
    StoreError(
      .fileExists,
      "There is already a file at \(path). Choose another name, or let the copy replace it."
    )
  }

  private static func ofOpenStore(_ path: String) -> StoreError {
    StoreError(
      .misuse, "\(path) belongs to a store that this process has open. Choose another name.")
  }
}
