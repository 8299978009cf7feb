#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The file that a path refers to, with every symbolic link followed once.
///
/// The files beside a database must be beside the file itself, so that all its names share them:
/// <https://sqlite.org/howtocorrupt.html#_multiple_links_to_the_same_file>.
struct RealPath {
  /// The directory of the file, without links; `/` for the root.
  let directory: String
  let name: String
  /// Whether the file's own name was a link.
  let isLinked: Bool

  /// Follows `path`. Its directory must exist; the file need not.
  ///
  /// - Throws: ``DatabaseFile/Problem``, also for a link that another user may have created. It
  ///   could lead to any other database of this user.
  init(
    _ path: String, user: UInt32, membership: GroupMembership
  ) throws(DatabaseFile.Problem) {
    var walk = Walk(user: user, membership: membership)
    var rest = path
    var isLinked = false
    while true {
      let (parent, name) = Self.split(rest)
      let directory = try walk.directory(at: parent)
      guard !["", ".", ".."].contains(name) else { throw .isDirectory(path: path) }
      guard let target = try walk.target(of: name, in: directory) else {
        self.directory = directory
        self.name = name
        self.isLinked = isLinked
        return
      }
      isLinked = true
      rest = target.hasPrefix("/") ? target : Self.join(directory, target)
    }
  }

  var path: String { Self.join(directory, name) }

  private static func join(_ directory: String, _ name: String) -> String {
    directory == "/" ? "/" + name : directory + "/" + name
  }

  private static func split(_ path: String) -> (directory: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let directory = path[..<slash]
    return (directory.isEmpty ? "/" : String(directory), String(path[path.index(after: slash)...]))
  }

  /// Follows directories and links, and counts the links.
  private struct Walk {
    let user: UInt32
    let membership: GroupMembership
    private var linkCount = 0
    /// The limit of Linux: <https://man7.org/linux/man-pages/man7/path_resolution.7.html>.
    private static let linkCountMax = 40

    init(user: UInt32, membership: GroupMembership) {
      self.user = user
      self.membership = membership
    }

    /// Returns the directory at `path`, absolute and without links.
    mutating func directory(at path: String) throws(DatabaseFile.Problem) -> String {
      var current = path.hasPrefix("/") ? "" : try Self.workingDirectory()
      var pending = Array(path.split(separator: "/").map(String.init).reversed())
      while let part = pending.popLast() {
        if part == "." { continue }
        if part == ".." {
          current = String(current.prefix(upTo: current.lastIndex(of: "/") ?? current.startIndex))
          continue
        }
        let place = current.isEmpty ? "/" : current
        if let target = try target(of: part, in: place, orMissing: path) {
          if target.hasPrefix("/") { current = "" }
          pending += target.split(separator: "/").map(String.init).reversed()
        } else {
          current += "/" + part
        }
      }
      var status = stat()
      guard lstat(current.isEmpty ? "/" : current, &status) == 0 else {
        throw .refused(path: path, errno: errno)
      }
      guard status.st_mode & S_IFMT == S_IFDIR else { throw .directoryNotFound(path: path) }
      return current.isEmpty ? "/" : current
    }

    /// Returns the target of the link called `name`; nil if it is not a link or does not exist.
    ///
    /// - Parameter whole: The path of a directory in which `name` must exist.
    mutating func target(
      of name: String, in directory: String, orMissing whole: String? = nil
    ) throws(DatabaseFile.Problem) -> String? {
      let path = RealPath.join(directory, name)
      var status = stat()
      guard lstat(path, &status) == 0 else {
        guard errno == ENOENT || errno == ENOTDIR else { throw .refused(path: path, errno: errno) }
        if let whole { throw .directoryNotFound(path: whole) }
        return nil
      }
      guard status.st_mode & S_IFMT == S_IFLNK else { return nil }
      linkCount += 1
      guard linkCount <= Self.linkCountMax else { throw .refused(path: path, errno: ELOOP) }
      try check(link: FileOwnership(status), at: path, in: directory)
      return try Self.contents(ofLink: path)
    }

    /// Rejects a link that another user may have created or replaced.
    private func check(
      link: FileOwnership, at path: String, in directory: String
    ) throws(DatabaseFile.Problem) {
      var status = stat()
      guard lstat(directory, &status) == 0 else { throw .refused(path: directory, errno: errno) }
      let holder = FileOwnership(status)
      guard holder.otherWriters(besides: [user, 0, holder.user], in: membership) != nil else {
        return
      }
      guard holder.isSticky, [user, 0, holder.user].contains(link.user) else {
        throw .untrustedLink(path: path, owner: link.user)
      }
    }

    private static func workingDirectory() throws(DatabaseFile.Problem) -> String {
      guard let current = getcwd(nil, 0) else { throw .refused(path: ".", errno: errno) }
      defer { free(current) }
      let path = String(cString: current)
      return path == "/" ? "" : path
    }

    private static func contents(ofLink path: String) throws(DatabaseFile.Problem) -> String {
      var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = readlink(path, &buffer, buffer.count)
      guard count >= 0 else { throw .refused(path: path, errno: errno) }
      return String(
        decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
  }
}
