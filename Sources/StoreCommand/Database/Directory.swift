import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A directory of the file system.
struct Directory {
  let path: String

  /// The names of its files and directories, sorted by their bytes, without `.` and `..`.
  func names() throws(SystemError) -> [String] {
    guard let stream = opendir(path) else { throw .last }
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

  /// As ``names()``; empty if the directory cannot be read.
  var readableNames: [String] {
    do {
      return try names()
    } catch {
      return []
    }
  }

  /// Creates it, inside a directory that exists, unless it is there.
  ///
  /// - Throws: ``CommandError`` naming the path.
  func create() throws(CommandError) {
    guard mkdir(path, 0o777) != 0 else { return }
    let error = SystemError.last
    guard !FileIdentity.isDirectory(path) else { return }
    throw CommandError(
      error.isNoSuchFile ? .notFound : .failed, code: "output",
      "cannot create the directory \(path): \(error)")
  }
}
