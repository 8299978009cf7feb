#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A new directory under `$TMPDIR`, and the directories inside it.
struct TemporaryDirectory {
  let path: String
  /// The directory of files that several contenders copy.
  private let fixtures: String

  init() throws {
    let parent = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(parent)/modelstore-benchmarks.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw BenchmarkFailure("Cannot create a directory under \(parent): errno \(errno).")
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    fixtures = "\(path)/fixtures"
    try FileManager.default.createDirectory(
      atPath: fixtures, withIntermediateDirectories: false)
  }

  private init(path: String, fixtures: String) {
    self.path = path
    self.fixtures = fixtures
  }

  /// Returns a copy of the database called `name`. The first call runs `build`.
  ///
  /// - Parameter build: Creates the database at the given path and leaves no log behind.
  func copy(of name: String, _ build: (_ path: String) throws -> Void) throws -> String {
    let original = "\(fixtures)/\(name).sqlite"
    if !FileManager.default.fileExists(atPath: original) { try build(original) }
    let copy = file("\(name).sqlite")
    try FileManager.default.copyItem(atPath: original, toPath: copy)
    return copy
  }

  /// Returns the path of a file that several contenders read and none changes. The first call runs
  /// `build`.
  func fixture(_ name: String, _ build: (_ path: String) throws -> Void) throws -> String {
    let path = "\(fixtures)/\(name)"
    if !FileManager.default.fileExists(atPath: path) { try build(path) }
    return path
  }

  /// Puts a copy of a database in place of another one, and of the files beside it.
  static func replace(_ path: String, by original: String) throws {
    for name in [path, path + "-wal", path + "-shm"]
    where FileManager.default.fileExists(atPath: name) {
      try FileManager.default.removeItem(atPath: name)
    }
    try FileManager.default.copyItem(atPath: original, toPath: path)
  }

  func subdirectory(_ name: String) throws -> TemporaryDirectory {
    let child = TemporaryDirectory(path: "\(path)/\(name)", fixtures: fixtures)
    try FileManager.default.createDirectory(
      atPath: child.path, withIntermediateDirectories: false)
    return child
  }

  func file(_ name: String) -> String {
    "\(path)/\(name)"
  }

  /// Removes the directory and its contents. A failure is reported on standard error.
  func remove() {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      StandardError.print("warning: \(path) was left behind: \(error)")
    }
  }
}
