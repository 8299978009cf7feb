import Foundation

/// The programs that the fault tests run, beside the tests in the build directory.
enum Programs {
  static func path(of name: String) throws -> String {
    let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    var place = tests.deletingLastPathComponent()
    while place.path != "/" {
      let candidate = place.appendingPathComponent(name).path
      if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
      place = place.deletingLastPathComponent()
    }
    throw Missing(name: name)
  }

  struct Missing: Error {
    let name: String
  }

  /// Runs a program to its end.
  ///
  /// - Returns: Its exit status; 128 and the signal's number when a signal ended it.
  @discardableResult
  static func run(_ words: [String], in directory: String? = nil) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    // With a fixed order of sets, a program takes the same way through the same file each time.
    process.environment = [
      "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent",
      "SWIFT_DETERMINISTIC_HASHING": "1",
    ]
    if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return status(of: process)
  }

  /// The exit status of a process that has ended; 128 and the signal's number when a signal ended
  /// it.
  static func status(of process: Process) -> Int32 {
    process.terminationReason == .uncaughtSignal
      ? 128 + process.terminationStatus : process.terminationStatus
  }
}

/// A directory of its own for one test, removed when the test releases it.
final class TemporaryDirectory: Sendable {
  let path: String

  /// - Parameter parent: nil for the system's directory for temporary files.
  init(in parent: String? = nil) throws {
    let url = (parent.map { URL(fileURLWithPath: $0) } ?? FileManager.default.temporaryDirectory)
      .appendingPathComponent("modelstore-faults-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      print("could not remove \(path): \(error)")
    }
  }

  func file(_ name: String) -> String { path + "/" + name }
}

/// A `FaultWriter` that writes a ledger, and what it acknowledged so far.
final class WriterProcess {
  private let process = Process()
  private let output = Pipe()
  private var unread: [UInt8] = []
  /// The number of the last transaction that it acknowledged; 0 before the first.
  private(set) var acknowledged: Int64 = 0

  /// - Parameters:
  ///   - mode: `after`, or a negative control: see `FaultWriter`.
  ///   - lifetime: After how many milliseconds it is killed; nil for when the test kills it.
  init(path: String, mode: String = "after", lifetime: Int? = nil) throws {
    var words = [try Programs.path(of: "FaultWriter"), "write", path, mode, "20"]
    if let lifetime {
      words = ["/usr/bin/timeout", "-s", "KILL", "\(Double(lifetime) / 1000)"] + words
    }
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  /// Waits until it has acknowledged `count` more transactions.
  ///
  /// - Returns: False when it ended before.
  @discardableResult
  func wait(for count: Int64) -> Bool {
    let wanted = acknowledged + count
    while acknowledged < wanted { if !readMore() { return false } }
    return true
  }

  /// Kills it if it still runs, waits for its end, and reads what it had acknowledged.
  ///
  /// - Returns: Its exit status; 128 and the signal's number when a signal ended it.
  @discardableResult
  func finish(killing: Bool = false) -> Int32 {
    if killing { kill(process.processIdentifier, SIGKILL) }
    while readMore() {}
    process.waitUntilExit()
    return Programs.status(of: process)
  }

  private func readMore() -> Bool {
    let data = output.fileHandleForReading.availableData
    if data.isEmpty { return false }
    unread += data
    guard let end = unread.lastIndex(of: UInt8(ascii: "\n")) else { return true }
    let lines = unread[..<end].split(separator: UInt8(ascii: "\n"))
    unread.removeSubrange(...end)
    if let last = lines.last, let number = Int64(String(decoding: last, as: UTF8.self)) {
      acknowledged = number
    }
    return true
  }
}
