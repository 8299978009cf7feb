import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file that appears under its name complete or not at all: written beside it, then renamed.
///
/// The target of a symbolic link is replaced, never the link. Permissions stay, and the owner if
/// the system allows it. Bytes go directly to a pipe, a terminal or another device.
final class OutputFile {
  let path: String
  /// Where to write; buffered, so that a record is not a system call.
  let sink: ByteSink
  private let descriptor: Int32
  /// Whether it is a file, as opposed to a pipe or a device.
  private let isRegular: Bool
  private let file: ByteSink
  private let written: Written
  private var replacement: Replacement?

  /// The file that will take the place of another.
  private struct Replacement {
    let temporaryPath: String
    let path: String
  }

  private final class Written {
    var byteCount = 0
  }

  /// Whether `path` is a pipe or a device, to which bytes go directly.
  static func isStream(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
  }

  /// Opens the file for writing. `storePaths` are the store's own files, which are never replaced.
  ///
  /// - Throws: ``CommandError`` naming the path.
  convenience init(path: String, refusing storePaths: [String]) throws {
    try self.init(path: path, refusing: storePaths) { () throws(SystemError) in
      let (descriptor, replacement) = try Self.open(path)
      return (descriptor, replacement, replacement != nil, 0)
    }
  }

  /// Opens a file that is there and has its name already, to write after its first `byteCount`
  /// bytes. What follows them is removed.
  ///
  /// - Throws: ``CommandError`` naming the path, also for a file that is shorter.
  convenience init(continuing path: String, after byteCount: Int, refusing paths: [String]) throws {
    try self.init(path: path, refusing: paths) { () throws(SystemError) in
      let descriptor = Self.systemOpen(path, O_WRONLY | O_CLOEXEC, 0)
      guard descriptor >= 0 else { throw .last }
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_size >= off_t(byteCount),
        ftruncate(descriptor, off_t(byteCount)) == 0,
        lseek(descriptor, off_t(byteCount), SEEK_SET) >= 0
      else {
        let error = status.st_size < off_t(byteCount) ? SystemError(number: EIO) : .last
        Self.systemClose(descriptor)
        throw error
      }
      return (descriptor, nil, true, byteCount)
    }
  }

  private typealias Opened = (
    descriptor: Int32, replacement: Replacement?, isRegular: Bool, byteCount: Int
  )

  private init(
    path: String, refusing storePaths: [String], opening: () throws(SystemError) -> Opened
  ) throws {
    guard !FileIdentity.isSame(path, asAnyOf: storePaths) else {
      throw CommandError(
        .usage, code: "output", "\(path) is a file that this command reads; name another one.")
    }
    let byteCount: Int
    do {
      (descriptor, replacement, isRegular, byteCount) = try opening()
    } catch  where error.number == EINTR {
      throw CommandError(.interrupted, code: "interrupted", "Interrupted; nothing was written.")
    } catch {
      throw CommandError(
        error.isNoSuchFile ? .notFound : .failed, code: "output", "cannot write \(path): \(error)")
    }
    self.path = path
    let file = ByteSink(descriptor: descriptor, of: path)
    let written = Written()
    written.byteCount = byteCount
    self.file = file
    self.written = written
    sink = ByteSink { bytes throws(OutputError) in
      try file.append { output throws(OutputError) in output.append(contentsOf: bytes) }
      written.byteCount += bytes.count
      return bytes.count
    }
  }

  private static func open(
    _ path: String
  ) throws(SystemError) -> (descriptor: Int32, replacement: Replacement?) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      return try replacing(path, mode: 0o666, like: nil)
    }
    // This includes a link without a target: it has no file to replace.
    guard stat(path, &status) == 0 else { throw .last }
    guard status.st_mode & S_IFMT == S_IFREG else {
      while true {
        let descriptor = systemOpen(path, O_WRONLY | O_CLOEXEC, 0)
        guard descriptor < 0 else { return (descriptor, nil) }
        // Opening a pipe waits for its reader.
        let error = SystemError.last
        guard error.number == EINTR, !Interruption.isRequested else { throw error }
      }
    }
    guard let resolved = realpath(path, nil) else { throw .last }
    defer { free(resolved) }
    // Other users cannot open it until it has the owner and permissions of the replaced file.
    return try replacing(String(cString: resolved), mode: 0o600, like: status)
  }

  private static func replacing(
    _ path: String, mode: mode_t, like status: stat?
  ) throws(SystemError) -> (descriptor: Int32, replacement: Replacement?) {
    let temporaryPath = "\(path).\(getpid()).partial"
    let descriptor = systemOpen(
      temporaryPath, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw .last }
    if let status {
      // Only the superuser may change the owner.
      _ = fchown(descriptor, status.st_uid, status.st_gid)
      guard fchmod(descriptor, status.st_mode & 0o777) == 0 else {
        let error = SystemError.last
        unlink(temporaryPath)
        systemClose(descriptor)
        throw error
      }
    }
    return (descriptor, Replacement(temporaryPath: temporaryPath, path: path))
  }

  /// How many bytes were written so far.
  var byteCount: Int {
    get throws {
      try sink.flush()
      return written.byteCount
    }
  }

  /// Removes what was written after `byteCount` bytes; has no effect on a pipe or a device.
  func cut(to byteCount: Int) throws {
    guard isRegular else { return }
    try sink.flush()
    try file.flush()
    guard ftruncate(descriptor, off_t(byteCount)) == 0,
      lseek(descriptor, off_t(byteCount), SEEK_SET) >= 0
    else { throw OutputError.unwritableFile(path, .last) }
    written.byteCount = byteCount
  }

  /// Writes everything to the disk and gives the file its name. You can write more, and close it
  /// again.
  func close() throws {
    try sink.flush()
    try file.flush()
    guard isRegular else { return }
    guard fsync(descriptor) == 0 || errno == EINVAL else {
      throw OutputError.unwritableFile(path, .last)
    }
    guard let replacement else { return }
    guard rename(replacement.temporaryPath, replacement.path) == 0 else {
      throw OutputError.unwritableFile(path, .last)
    }
    self.replacement = nil
  }

  deinit {
    if let replacement { unlink(replacement.temporaryPath) }
    Self.systemClose(descriptor)
  }

  private static func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
    #if canImport(Glibc)
      Glibc.open(path, flags, mode)
    #elseif canImport(Musl)
      Musl.open(path, flags, mode)
    #else
      Darwin.open(path, flags, mode)
    #endif
  }

  private static func systemClose(_ descriptor: Int32) {
    #if canImport(Glibc)
      _ = Glibc.close(descriptor)
    #elseif canImport(Musl)
      _ = Musl.close(descriptor)
    #else
      _ = Darwin.close(descriptor)
    #endif
  }
}
