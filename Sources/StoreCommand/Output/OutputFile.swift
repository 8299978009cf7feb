#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file that appears under its name complete or not at all: written beside it, then renamed.
final class OutputFile {
  let path: String
  /// Where to write; formats that hand on each record do not make each one a system call.
  let sink: ByteSink
  private let temporaryPath: String
  private let descriptor: Int32
  private let file: ByteSink
  private var isClosed = false

  /// Opens the file for writing. `storePaths` are the store's own files, which are never replaced.
  ///
  /// - Throws: ``CommandError`` naming the path.
  init(path: String, refusing storePaths: [String]) throws {
    guard !FileIdentity.isSame(path, asAnyOf: storePaths) else {
      throw CommandError(
        .usage, code: "output", "\(path) is a file that this command reads; name another one.")
    }
    self.path = path
    temporaryPath = "\(path).\(getpid()).partial"
    descriptor = open(temporaryPath, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      let error = SystemError.last
      throw CommandError(
        error.isNoSuchFile ? .notFound : .failed, code: "output", "cannot write \(path): \(error)")
    }
    let file = ByteSink(descriptor: descriptor)
    self.file = file
    sink = ByteSink { bytes throws(OutputError) in
      try file.append { output throws(OutputError) in output.append(contentsOf: bytes) }
      return bytes.count
    }
  }

  /// Hands everything on to the disk and gives the file its name.
  func close() throws {
    try sink.flush()
    try file.flush()
    guard fsync(descriptor) == 0 || errno == EINVAL, rename(temporaryPath, path) == 0 else {
      throw OutputError.unwritable(.last)
    }
    isClosed = true
  }

  deinit {
    #if canImport(Glibc)
      Glibc.close(descriptor)
    #else
      Darwin.close(descriptor)
    #endif
    if !isClosed { unlink(temporaryPath) }
  }
}
