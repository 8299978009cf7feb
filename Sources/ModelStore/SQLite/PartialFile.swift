internal import CSQLite
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A copy under a temporary name beside its place. It gets its own name when it is complete and on
/// the disk, and is removed otherwise.
///
/// If the process ends before, the file stays beside the place, with a name that ends in
/// `.partial`. You may remove it.
final class PartialFile {
  let path: String
  private let target: CopyTarget
  private var isPublished = false

  private static let numbers = Atomic<UInt64>(0)

  /// Creates an empty file.
  init(for target: CopyTarget) throws(StoreError) {
    self.target = target
    let number = Self.numbers.add(1, ordering: .relaxed).newValue
    path = "\(target.path).\(getpid())-\(number).partial"
    var status = stat()
    // Another process of this number may have ended in the middle of a copy.
    if lstat(path, &status) == 0 { unlink(path) }
    do throws(DatabaseFile.Problem) {
      try EmptyFile.create(at: path, like: target.ownership)
    } catch {
      throw error.storeError
    }
  }

  deinit {
    guard !isPublished else { return }
    for suffix in [""] + DatabaseFile.companionSuffixes { unlink(path + suffix) }
  }

  /// The size of the file in bytes.
  var byteCount: Int64 {
    var status = stat()
    return lstat(path, &status) == 0 ? Int64(status.st_size) : 0
  }

  /// Writes the file and its name to the disk, and gives it the name of its place.
  ///
  /// - Precondition: No connection has the file open.
  func publish() throws(StoreError) {
    try Self.sync(path, O_RDONLY)
    try target.checkCompanions()
    switch target.existing {
    case .keep: try renameToNew()
    case .replace: try renameOver()
    }
    isPublished = true
    try Self.sync(target.directory, O_RDONLY | O_DIRECTORY)
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
    default: throw Self.failure(target.path, number)
    }
  }

  private func renameOver() throws(StoreError) {
    guard rename(path, target.path) == 0 else { throw Self.failure(target.path, errno) }
  }

  private static func sync(_ path: String, _ flags: Int32) throws(StoreError) {
    let descriptor = open(path, flags | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path, errno) }
    defer { close(descriptor) }
    // Some file systems cannot sync a directory.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure(path, errno) }
  }

  private static func failure(_ path: String, _ number: Int32) -> StoreError {
    StoreError(
      [ENOSPC, EDQUOT, EFBIG].contains(number) ? .outOfSpace : .ioFailure,
      "\(path) could not be written: \(String(cString: strerror(number))). There is no new copy.")
  }
}
