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

  /// The names of its files and directories, sorted, without `.` and `..`.
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
    return names.sorted()
  }
}
