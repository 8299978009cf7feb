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

/// A fresh directory of our own under `$TMPDIR`, and the directories inside it.
struct TemporaryDirectory {
  let path: String
  /// Where files are that several contenders copy.
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

  /// A copy of the database called `name` that `build` makes the first time anybody asks.
  ///
  /// - Parameter build: Makes it at the path given and leaves no log behind.
  func copy(of name: String, _ build: (_ path: String) throws -> Void) throws -> String {
    let original = "\(fixtures)/\(name).sqlite"
    if !FileManager.default.fileExists(atPath: original) { try build(original) }
    let copy = file("\(name).sqlite")
    try FileManager.default.copyItem(atPath: original, toPath: copy)
    return copy
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

  /// Removes the directory and everything in it; says so on standard error when that fails.
  func remove() {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      StandardError.print("warning: \(path) was left behind: \(error)")
    }
  }
}
