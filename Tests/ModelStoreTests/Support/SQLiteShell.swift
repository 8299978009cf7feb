import Foundation
import Testing

/// The `sqlite3` shell with a file open, beside this process: the plainest foreign writer.
final class SQLiteShell {
  /// False where the machine has no shell.
  static let isAvailable = FileManager.default.isExecutableFile(atPath: program)

  /// Of tests that need it: they count as skipped where there is none.
  static var isNeeded: ConditionTrait { .enabled(if: isAvailable, "There is no sqlite3 shell.") }

  private static let program = "/usr/bin/sqlite3"

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var unread: [UInt8] = []

  /// - Parameter errors: Where it complains; otherwise it does on standard error.
  init(_ path: String, errors: Pipe? = nil) throws {
    process.executableURL = URL(fileURLWithPath: Self.program)
    process.arguments = ["-batch", "-cmd", ".timeout 60000", path]
    process.standardInput = input
    process.standardOutput = output
    if let errors { process.standardError = errors }
    try process.run()
  }

  /// Runs `sql` and waits until it is done.
  ///
  /// - Returns: The lines it answered.
  @discardableResult
  func run(_ sql: String) throws -> [String] {
    try begin(sql)
    return end()
  }

  /// Passes `sql` to the shell, which runs it while the caller continues. A shell that prints more
  /// than a pipe holds waits for ``end()``.
  func begin(_ sql: String) throws {
    let text = "\(sql);\n.print '\(Self.mark)'\n"
    try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
  }

  /// Waits until what was begun is done.
  ///
  /// - Returns: The lines it answered.
  @discardableResult
  func end() -> [String] {
    var lines: [String] = []
    while let line = line(), line != Self.mark { lines.append(line) }
    return lines
  }

  private static let mark = "-- done --"

  private func line() -> String? {
    while !unread.contains(UInt8(ascii: "\n")) {
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { return nil }
      unread += data
    }
    let line = unread.prefix { $0 != UInt8(ascii: "\n") }
    unread.removeFirst(line.count + 1)
    return String(decoding: line, as: UTF8.self)
  }

  /// Runs one statement in a shell of its own.
  ///
  /// - Returns: What it complains of; empty when it was done.
  static func complaint(about sql: String, in path: String) throws -> String {
    let process = Process()
    let errors = Pipe()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = ["-batch", "-cmd", ".timeout 60000", path, sql]
    process.standardError = errors
    try process.run()
    let told = try errors.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: told, as: UTF8.self)
  }

  /// Ends the shell, which closes the file.
  ///
  /// - Returns: Its exit status.
  @discardableResult
  func finish() throws -> Int32 {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    return process.terminationStatus
  }
}
