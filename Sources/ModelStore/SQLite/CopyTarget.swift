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

/// The place of a copy, checked before anything is written there.
struct CopyTarget {
  /// The path of the copy, without symbolic links.
  let path: String
  let directory: String
  let existing: ExistingFile
  /// The owner and the permissions of the copy: those of the file that it replaces, or only this
  /// user.
  let ownership: FileOwnership

  /// Checks `path`.
  ///
  /// - Parameters:
  ///   - isOpen: Whether a file is open as a store in this process.
  ///   - storePaths: The paths of these stores and of the files beside them.
  /// - Throws: ``StoreError`` with code `fileExists` for a file that is to be kept,
  ///   `unsafeLocation` for a place that cannot have the copy, `misuse` for a file of an open
  ///   store.
  init(
    _ path: String, existing: ExistingFile, isOpen: (DatabaseFile.Identity) -> Bool,
    storePaths: Set<String>
  ) throws(StoreError) {
    self.existing = existing
    let real: RealPath
    do throws(DatabaseFile.Problem) {
      guard !path.isEmpty else { throw .emptyPath }
      guard !path.utf8.contains(0) else { throw .unusableName(path: path) }
      real = try RealPath(path, user: geteuid(), _membership: .system)
      guard real.path.utf8.count <= Self.pathLengthMax else { throw .unusableName(path: path) }
    } catch {
      throw error.storeError
    }
    self.path = real.path
    directory = real.directory
    guard !storePaths.contains(real.path) else { throw Self.ofOpenStore(real.path) }
    var status = stat()
    guard lstat(real.path, &status) == 0 else {
      guard errno == ENOENT else {
        throw DatabaseFile.Problem.refused(path: real.path, errno: errno).storeError
      }
      ownership = FileOwnership(user: geteuid(), group: getegid(), mode: 0o600)
      try checkCompanions()
      return
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw DatabaseFile.Problem.notAFile(path: real.path).storeError
    }
    let identity = DatabaseFile.Identity(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    guard !isOpen(identity) else { throw Self.ofOpenStore(real.path) }
    guard existing == .replace else { throw Self.exists(real.path) }
    ownership = FileOwnership(status)
    try checkCompanions()
  }

  /// SQLite's limit for paths, less the longest suffixes of the temporary file and its journal.
  private static let pathLengthMax = 440

  /// Refuses a log or journal that lies beside the path: SQLite would apply it to the copy.
  func checkCompanions() throws(StoreError) {
    for suffix in ["-wal", "-journal"] {
      var status = stat()
      guard lstat(path + suffix, &status) == 0, status.st_size > 0 else { continue }
      throw StoreError(
        .unsafeLocation,
        "\(path)\(suffix) belongs to another database, and SQLite would apply it to the copy. Close every program that has \(path) open; if the file is still there, choose another name for the copy."
      )
    }
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
