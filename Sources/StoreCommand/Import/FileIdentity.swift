#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Which file a path leads to, whatever its name.
struct FileIdentity: Hashable, Sendable {
  let device: UInt64
  let number: UInt64

  init?(of path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    number = UInt64(truncatingIfNeeded: status.st_ino)
  }

  /// Whether `path` leads to one of the files at `others`, under whatever name.
  static func isSame(_ path: String, asAnyOf others: [String]) -> Bool {
    guard let identity = FileIdentity(of: path) else { return false }
    return others.contains { FileIdentity(of: $0) == identity }
  }
}
