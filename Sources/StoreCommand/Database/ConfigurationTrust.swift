import ModelStore
import RecordFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Whether a configuration file can only have been written by the user or by root.
///
/// A file in a parent directory decides which database a command reads and changes, so one that
/// another user may have put there is refused, as Git does with repositories of other users
/// (<https://git-scm.com/docs/git-config#Documentation/git-config.txt-safedirectory>).
struct ConfigurationTrust {
  enum Problem: Hashable {
    case fileOwner(UInt32)
    case fileWriters(OtherWriters)
    case directoryOwner(UInt32)
    case directoryWriters(OtherWriters)
  }

  let user: UInt32
  let file: FileOwnership
  let directory: FileOwnership
  let membership: GroupMembership

  /// Why the file must not be read; nil when it may.
  var problem: Problem? {
    let trusted: Set<UInt32> = [user, 0]
    guard trusted.contains(file.user) else { return .fileOwner(file.user) }
    if let writers = file.otherWriters(besides: trusted, in: membership) {
      return .fileWriters(writers)
    }
    guard trusted.contains(directory.user) else { return .directoryOwner(directory.user) }
    // In a sticky directory, other users cannot replace a file of the user or of root.
    if !directory.isSticky,
      let writers = directory.otherWriters(besides: trusted, in: membership)
    {
      return .directoryWriters(writers)
    }
    return nil
  }

  /// The file at `path` with its links followed; nil where there is none.
  ///
  /// - Throws: ``CommandError`` with the path, the owner and the remedy, when another user may have
  ///   written the file or a link to it.
  static func trustedFile(at path: String) throws -> String? {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      let error = SystemError.last
      if [ENOENT, ENOTDIR].contains(error.number) { return nil }
      throw CommandError(.failed, code: "configuration", "\(path): \(error)")
    }
    var ownership = FileOwnership(status)
    guard status.st_mode & S_IFMT == S_IFLNK else {
      try check(path, ownership)
      return path
    }
    // A link has no permissions of its own.
    ownership.mode = 0
    try check(path, ownership)
    guard let real = realpath(path, nil) else {
      let error = SystemError.last
      if error.isNoSuchFile { return nil }
      throw CommandError(.failed, code: "configuration", "\(path): \(error)")
    }
    defer { free(real) }
    let file = String(cString: real)
    guard lstat(file, &status) == 0 else {
      throw CommandError(.failed, code: "configuration", "\(path): \(SystemError.last)")
    }
    try check(file, FileOwnership(status))
    return file
  }

  private static func check(_ path: String, _ file: FileOwnership) throws {
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    let directory = slash == path.startIndex ? "/" : String(path[..<slash])
    var status = stat()
    guard stat(directory, &status) == 0 else {
      throw CommandError(.failed, code: "configuration", "\(directory): \(SystemError.last)")
    }
    let trust = ConfigurationTrust(
      user: geteuid(), file: file, directory: FileOwnership(status), membership: .system)
    if let problem = trust.problem { throw problem.error(file: path, directory: directory) }
  }
}

extension ConfigurationTrust.Problem {
  fileprivate func error(file: String, directory: String) -> CommandError {
    let (reason, remedy) =
      switch self {
      case .fileOwner(let owner):
        ("it belongs to \(SystemUsers.userText(owner))", "chown \(geteuid()) \(Shell.quoted(file))")
      case .fileWriters(let writers):
        (
          "\(writers.text) can write it",
          "chmod \(writers.withoutWriting) \(Shell.quoted(file))"
        )
      case .directoryOwner(let owner):
        (
          "its directory belongs to \(SystemUsers.userText(owner))",
          "chown \(geteuid()) \(Shell.quoted(directory))"
        )
      case .directoryWriters(let writers):
        (
          "\(writers.text) can replace it in \(directory)",
          "chmod \(writers.withoutWriting) \(Shell.quoted(directory))"
        )
      }
    return CommandError(
      .failed, code: "configuration",
      "\(file) is not read: \(reason), so another user may choose your database. "
        + "Pass -d PATH or set STORECLI_DB; or, if you trust the file, make it yours alone.",
      hint: remedy)
  }
}

extension OtherWriters {
  fileprivate var text: String {
    switch self {
    case .anyone: "any user"
    case .group(let group): "the members of \(SystemUsers.groupText(group))"
    }
  }

  fileprivate var withoutWriting: String { self == .anyone ? "o-w" : "g-w" }
}
