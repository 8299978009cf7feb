#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
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

  /// The file of an open descriptor.
  init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    number = UInt64(truncatingIfNeeded: status.st_ino)
  }

  /// Whether a file with contents is at `path`, as opposed to a directory or a pipe.
  static func isRegularFile(at path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Whether `path` leads to one of the files at `others`, also under another name, or would create
  /// one of those that do not exist.
  static func isSame(_ path: String, asAnyOf others: [String]) -> Bool {
    guard let identity = FileIdentity(of: path) else {
      let place = Place(of: path)
      return others.contains { Place(of: $0) == place }
    }
    return others.contains { FileIdentity(of: $0) == identity }
  }

  /// Where a file that does not exist would be.
  private struct Place: Hashable {
    let directory: FileIdentity?
    let name: Substring

    init(of path: String) {
      let end = path.lastIndex(of: "/")
      name = end.map { path[path.index(after: $0)...] } ?? path[...]
      directory = FileIdentity(of: end.map { String(path[...$0]) } ?? ".")
    }
  }
}
