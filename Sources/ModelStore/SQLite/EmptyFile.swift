#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Creates empty files. Only this type creates files for the library, and only if no file exists.
///
/// Closing the new file releases every lock of this process on it. So the caller must ensure that
/// no other thread opens the database at the same time.
enum EmptyFile {
  /// Called with the path before a new file is closed. Tests use it to act at that moment.
  @TaskLocal static var willClose: (@Sendable (String) -> Void)?

  /// Creates the file at `path`, with the owner, group and permissions of `model` if this user may
  /// set them. Does nothing if another process creates the file first.
  static func create(
    at path: String, like model: FileOwnership
  ) throws(DatabaseFile.Problem) {
    let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if descriptor < 0, errno == EEXIST { return }
    guard descriptor >= 0 else { throw .refused(path: path, errno: errno) }
    defer {
      willClose?(path)
      close(descriptor)
    }
    // Same as SQLite: root gives the file to the database's owner, other users keep it. A user that
    // cannot set the group must not open the file to its own group instead.
    let isOwnerSet = geteuid() != 0 || fchown(descriptor, model.user, model.group) == 0
    let isGroupSet = fchown(descriptor, .max, model.group) == 0
    let mode = isGroupSet ? model.mode & 0o777 : model.mode & 0o707
    guard isOwnerSet, fchmod(descriptor, mode_t(mode)) == 0 else {
      throw .refused(path: path, errno: errno)
    }
  }
}
