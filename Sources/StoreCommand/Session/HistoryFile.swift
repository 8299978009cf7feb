import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The file that keeps the inputs of a person's sessions, one on each line. Several sessions may
/// use it at once: each adds its inputs under a lock.
struct HistoryFile {
  let path: String
  /// The most entries that stay in the file. It may have half as many more until a session begins.
  let countMax: Int

  /// - Parameter path: The file. Its directory is created with the first entry.
  init(path: String, countMax: Int = InputHistory.countMax) {
    self.path = path
    self.countMax = countMax
  }

  /// The history of this program: in `$XDG_STATE_HOME`, else in `~/.local/state`. nil if neither is
  /// known.
  init?(in surroundings: Surroundings) {
    let variables = surroundings.variables(["XDG_STATE_HOME", "HOME"])
    let state = variables["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let home = variables["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.local/state" : nil }
    guard let directory = state ?? home else { return nil }
    let name = Program.name.split(separator: "/").last.map(String.init) ?? "storecli"
    self.init(path: "\(directory)/\(name)/history")
  }

  /// Returns the entries, oldest first. A file with too many is shortened.
  ///
  /// - Throws: ``SystemError``.
  func entries() throws(SystemError) -> [String] {
    guard let descriptor = try opened(creating: false) else { return [] }
    defer { close(descriptor) }
    let lines = Self.lines(try Self.contents(of: descriptor))
    if lines.count > countMax + countMax / 2 {
      try replace(with: lines.suffix(countMax))
    }
    return lines.suffix(countMax).map(Self.decoded)
  }

  /// Adds an entry.
  ///
  /// - Throws: ``SystemError``.
  func add(_ entry: String) throws(SystemError) {
    try Self.makeDirectory(of: path)
    guard let descriptor = try opened(creating: true) else { return }
    defer { close(descriptor) }
    try Self.write(Self.encoded(entry) + "\n", to: descriptor)
  }

  /// Opens the file and locks it. Only the owner can read it.
  ///
  /// - Returns: nil if there is none and it is not to be created.
  private func opened(creating creates: Bool) throws(SystemError) -> Int32? {
    while true {
      let flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (creates ? O_CREAT : 0)
      let descriptor = open(path, flags, 0o600)
      guard descriptor >= 0 else {
        let error = SystemError.last
        if error.isNoSuchFile, !creates { return nil }
        throw error
      }
      guard flock(descriptor, LOCK_EX) == 0, fchmod(descriptor, 0o600) == 0 else {
        let error = SystemError.last
        close(descriptor)
        throw error
      }
      // Another session may have replaced the file before the lock was taken.
      if FileIdentity(of: path) == FileIdentity(descriptor: descriptor) { return descriptor }
      close(descriptor)
    }
  }

  /// Puts a new file in the place of this one, while its lock is held.
  private func replace(with lines: some Sequence<Substring>) throws(SystemError) {
    let new = path + ".new"
    let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .last }
    defer { close(descriptor) }
    try Self.write(lines.map { $0 + "\n" }.joined(), to: descriptor)
    guard fchmod(descriptor, 0o600) == 0, rename(new, path) == 0 else { throw .last }
  }

  private static func makeDirectory(of path: String) throws(SystemError) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    for count in 2..<max(2, parts.count + 1) {
      let directory = parts.prefix(count).joined(separator: "/")
      guard mkdir(directory, 0o700) == 0 || errno == EEXIST else { throw .last }
    }
  }

  private static func contents(of descriptor: Int32) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .last }
      guard count > 0 else { return bytes }
      bytes += chunk[..<count]
    }
  }

  private static func write(_ text: String, to descriptor: Int32) throws(SystemError) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { bytes in
        #if canImport(Glibc)
          Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
          Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #else
          Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .last }
      rest = rest.dropFirst(count)
    }
  }

  private static func lines(_ bytes: [UInt8]) -> [Substring] {
    String(decoding: bytes, as: UTF8.self).split(separator: "\n")
  }

  /// An entry on one line: `\n` is a line end, and `\\` a backslash.
  private static func encoded(_ entry: String) -> String {
    entry.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
  }

  private static func decoded(_ line: Substring) -> String {
    var entry = ""
    var isEscaped = false
    for character in line {
      if isEscaped {
        entry.append(character == "n" ? "\n" : character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else {
        entry.append(character)
      }
    }
    return entry
  }
}
