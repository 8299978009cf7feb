internal import CSQLite

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A copy in a directory of its own, beside its place. It gets its name when it is complete and on
/// the disk, and is removed otherwise.
///
/// Only this user can open the directory, so other users cannot put a log or journal beside the
/// copy. If the process ends before, the directory stays, with a name that ends in `.partial`. The
/// next copy to the same place removes it, after a minute.
final class PartialFile {
  let path: String
  private let directory: String
  /// Holds the lock of the directory; negative if there is none.
  private let descriptor: Int32
  private let target: CopyTarget

  private static let fileName = "copy"
  private static let suffix = ".partial"

  /// Creates an empty file.
  init(for target: CopyTarget) throws(StoreError) {
    Self.removeAbandoned(of: target)
    self.target = target
    let number = String(UInt64.random(in: .min ... .max), radix: 16)
    directory = "\(target.path).\(number)\(Self.suffix)"
    path = "\(directory)/\(Self.fileName)"
    guard mkdir(directory, 0o700) == 0 else {
      throw DatabaseFile.Problem.refused(path: directory, errno: errno).storeError
    }
    descriptor = Self.descriptor(of: directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    // Where the file system has no such locks, nothing is removed as abandoned either.
    if descriptor >= 0 { _ = csqlite_lock_directory(descriptor) }
    do throws(DatabaseFile.Problem) {
      try EmptyFile.create(at: path, like: target.ownership)
    } catch {
      throw error.storeError
    }
  }

  deinit {
    Self.remove(directory)
    if descriptor >= 0 { close(descriptor) }
  }

  private static func remove(_ directory: String) {
    for suffix in [""] + DatabaseFile.companionSuffixes + ["-reserve"] {
      unlink("\(directory)/\(fileName)\(suffix)")
    }
    rmdir(directory)
  }

  /// The size of the file in bytes.
  var byteCount: Int64 {
    var status = stat()
    return lstat(path, &status) == 0 ? Int64(status.st_size) : 0
  }

  /// Writes the content of the file to the disk.
  ///
  /// - Precondition: No connection has the file open.
  func sync() throws(StoreError) {
    try Self.sync(path, O_RDONLY, failing: Self.nothingNew)
  }

  /// Whether the file has the name of its place, on the disk or not yet.
  private(set) var isPublished = false

  /// Gives the file the name of its place.
  ///
  /// - Parameter prepare: Called just before, while the earlier file is locked. If the file does
  ///   not get the name then, `undo` is called under the same lock.
  /// - Throws: ``StoreError``, or what `prepare` throws. If the name could not be written to the
  ///   disk, the copy is there all the same, and the error says so.
  func publish(
    after prepare: () throws -> Void = {}, undo: () -> Void = {}
  ) throws {
    // Kept until the file has its name, so that no program begins to use the earlier file.
    let lock = try target.lockExisting()
    try prepare()
    do {
      switch target.existing {
      case .keep: try renameToNew()
      case .replace: try renameOver()
      }
    } catch {
      undo()
      throw error
    }
    isPublished = true
    withExtendedLifetime(lock) {}
    try Self.sync(
      target.directory, O_RDONLY | O_DIRECTORY,
      failing: "The copy is complete at \(target.path), but a power failure may remove its name.")
  }

  private func renameToNew() throws(StoreError) {
    let number = csqlite_rename_new(path, target.path)
    switch number {
    case 0: return
    case EEXIST: throw CopyTarget.exists(target.path)
    case EINVAL, ENOSYS, ENOTSUP:
      // The file system cannot check and rename in one step.
      var status = stat()
      guard lstat(target.path, &status) != 0 else { throw CopyTarget.exists(target.path) }
      try renameOver()
    default: throw Self.failure(target.path, number, Self.nothingNew)
    }
  }

  private func renameOver() throws(StoreError) {
    guard rename(path, target.path) == 0 else {
      throw Self.failure(target.path, errno, Self.nothingNew)
    }
  }

  private static func sync(
    _ path: String, _ flags: Int32, failing result: String
  ) throws(StoreError) {
    let descriptor = descriptor(of: path, flags)
    guard descriptor >= 0 else { throw failure(path, errno, result) }
    defer { close(descriptor) }
    // Some file systems cannot sync a directory.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure(path, errno, result) }
  }

  private static func descriptor(of path: String, _ flags: Int32) -> Int32 {
    open(path, flags | O_CLOEXEC)
  }

  private static let nothingNew = "There is no new copy."

  /// - Parameter result: What the failure means for the copy.
  private static func failure(_ path: String, _ number: Int32, _ result: String) -> StoreError {
    StoreError(
      [ENOSPC, EDQUOT, EFBIG].contains(number) ? .outOfSpace : .ioFailure,
      "\(path) could not be written: \(String(cString: strerror(number))). \(result)")
  }

  // Directories of copies that were not completed

  /// Removes the directories that earlier processes left beside the place.
  private static func removeAbandoned(of target: CopyTarget) {
    guard let stream = opendir(target.directory) else { return }
    defer { closedir(stream) }
    let place = target.path.lastIndex(of: "/").map { target.path[$0...].dropFirst() } ?? ""
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
      }
      let number = name.utf8.dropFirst(place.utf8.count + 1).dropLast(suffix.utf8.count)
      guard name.utf8.starts(with: "\(place).".utf8), name.hasSuffix(suffix),
        UInt64(String(decoding: number, as: UTF8.self), radix: 16) != nil
      else { continue }
      removeIfAbandoned(target.path.dropLast(place.count) + name)
    }
  }

  private static func removeIfAbandoned(_ directory: String) {
    var status = stat()
    guard lstat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      status.st_uid == geteuid(), isOld(status)
    else { return }
    let descriptor = descriptor(of: directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    // The process that makes a copy holds the lock until it ends.
    if csqlite_lock_directory(descriptor) == 0 { remove(directory) }
  }

  /// Whether a directory was made more than a minute ago. The process that makes one locks it only
  /// afterwards.
  private static func isOld(_ status: stat) -> Bool {
    #if canImport(Darwin)
      let changed = status.st_mtimespec.tv_sec
    #else
      let changed = status.st_mtim.tv_sec
    #endif
    return time(nil) - changed > 60
  }
}
