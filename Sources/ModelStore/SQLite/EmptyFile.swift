#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The one way in which the library itself creates a file: empty, and only where nothing is.
///
/// Closing the new file drops every lock that this process has on it, so the caller makes sure that
/// no other thread opens the database at that time.
enum EmptyFile {
  /// Called with the path before a new file is closed, so that tests can act at that moment.
  @TaskLocal static var willClose: (@Sendable (String) -> Void)?

  /// Creates the file at `path`, with the owner, group and permissions of `model` as far as this
  /// user may set them. Does nothing when another process creates it first.
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
    // As SQLite does it: root gives the file to the database's owner, others keep it. A user that
    // may not set the group must not open the file to its own group instead.
    let isOwnerSet = geteuid() != 0 || fchown(descriptor, model.user, model.group) == 0
    let isGroupSet = fchown(descriptor, .max, model.group) == 0
    let mode = isGroupSet ? model.mode & 0o777 : model.mode & 0o707
    guard isOwnerSet, fchmod(descriptor, mode_t(mode)) == 0 else {
      throw .refused(path: path, errno: errno)
    }
  }
}
