import Foundation
import Glibc

/// The descriptors of this process that name `path` or a file beside it, as links of /proc/self/fd.
func openDescriptors(of path: String) -> [String] {
  let real = realPath(path)
  let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  return names.compactMap { name in
    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
  }
  .filter { $0 == real || $0.hasPrefix(real + "-") || $0.hasPrefix(real + " (deleted)") }
  .sorted()
}

/// `path` with the links of its directory followed.
func realPath(_ path: String) -> String {
  let url = URL(fileURLWithPath: path)
  let directory = url.deletingLastPathComponent().resolvingSymlinksInPath().path
  return directory + "/" + url.lastPathComponent
}

/// This process's POSIX locks on the database at `path` and on its shared memory: kind, file and
/// range. Looking at /proc opens no database.
///
/// The kernel lists the locks of all processes page by page. If others change meanwhile, a row may
/// be missing or there twice. So this is what several lists contain together.
func lockRows(of path: String) throws -> [String] {
  var inodes: [String: String] = [:]
  for suffix in ["", "-shm"] {
    var status = stat()
    guard lstat(path + suffix, &status) == 0 else { continue }
    inodes[String(status.st_ino)] = suffix.isEmpty ? "database" : "shared memory"
  }
  let lists = try (0..<8).map { _ in try wholeText(of: "/proc/locks") }
  let rows = lists.joined(separator: "\n").split(separator: "\n").compactMap { line -> String? in
    let words = line.split(separator: " ")
    guard words.count >= 8, words[4] == "\(getpid())",
      let inode = words[5].split(separator: ":").last, let file = inodes[String(inode)]
    else { return nil }
    return "\(file) \(words[3]) \(words[6])-\(words[7])"
  }
  return Set(rows).sorted()
}

/// The text of a file whose size the kernel does not tell. Foundation reads only a page of it.
private func wholeText(of path: String) throws -> String {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  defer { close(descriptor) }
  var bytes: [UInt8] = []
  var page = [UInt8](repeating: 0, count: 65536)
  while true {
    let count = read(descriptor, &page, page.count)
    guard count > 0 else { break }
    bytes += page[..<count]
  }
  return String(decoding: bytes, as: UTF8.self)
}

/// How many descriptors of this process watch `directory` for changes.
func watchCount(of directory: String) -> Int {
  var status = stat()
  guard stat(directory, &status) == 0 else { return 0 }
  let mark = " ino:\(String(status.st_ino, radix: 16)) "
  let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo")) ?? []
  return names.count { name in
    let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8)
    return text?.split(separator: "\n").contains {
      $0.hasPrefix("inotify ") && $0.contains(mark)
    } ?? false
  }
}

/// Gives a file another name, in whose place nothing remains.
func move(_ path: String, to other: String) throws {
  guard rename(path, other) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}

/// The last nine bits of a file's mode, in octal; nil when there is no file.
func mode(of path: String) -> String? {
  var status = stat()
  guard lstat(path, &status) == 0 else { return nil }
  return String(status.st_mode & 0o777, radix: 8)
}

func bytes(of path: String) throws -> [UInt8] {
  [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
}

func write(_ bytes: [UInt8], to path: String) throws {
  try Data(bytes).write(to: URL(fileURLWithPath: path))
}

extension String {
  func write(toFile path: String) throws {
    try ModelStoreTests.write([UInt8](utf8), to: path)
  }
}
