#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The names in a directory.
enum DirectoryListing {
  /// Returns the names in `directory`, sorted by their bytes; empty if it cannot be read.
  static func names(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Returns whether `path` is a directory that can be read.
  static func exists(at path: String) -> Bool {
    guard let stream = opendir(path) else { return false }
    closedir(stream)
    return true
  }

  /// Creates the directory at `path`, inside one that exists.
  ///
  /// - Throws: ``CommandError`` naming the path.
  static func create(at path: String) throws {
    guard mkdir(path, 0o777) != 0, errno != EEXIST else { return }
    let reason = String(cString: strerror(errno))
    throw CommandError(.failed, code: "output", "cannot create the directory \(path): \(reason)")
  }
}
