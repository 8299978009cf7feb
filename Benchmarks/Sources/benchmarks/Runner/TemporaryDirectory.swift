#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A fresh directory of our own under `$TMPDIR`, and the directories inside it.
struct TemporaryDirectory {
  let path: String

  init() throws {
    let parent = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(parent)/modelstore-benchmarks.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw BenchmarkFailure("Cannot create a directory under \(parent): errno \(errno).")
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private init(path: String) {
    self.path = path
  }

  func subdirectory(_ name: String) throws -> TemporaryDirectory {
    let child = TemporaryDirectory(path: "\(path)/\(name)")
    try FileManager.default.createDirectory(
      atPath: child.path, withIntermediateDirectories: false)
    return child
  }

  func file(_ name: String) -> String {
    "\(path)/\(name)"
  }

  /// Removes the directory and everything in it; says so on standard error when that fails.
  func remove() {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      StandardError.print("warning: \(path) was left behind: \(error)")
    }
  }
}
