import Foundation
import Testing

/// A python3 process with SQLite, beside this one: lines go in, lines come out.
final class OtherProcess {
  /// False where the machine has no python3.
  static let isAvailable = FileManager.default.isExecutableFile(atPath: interpreter)

  /// Of tests that need it: they count as skipped where there is none.
  static var isNeeded: ConditionTrait { .enabled(if: isAvailable, "There is no python3.") }

  private static let interpreter = "/usr/bin/python3"

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var unread: [UInt8] = []

  /// Starts `script`, which finds `arguments` in `sys.argv[1:]` and has `sqlite3`, `sys`, `time`
  /// and a function `say(text)` at hand.
  init(_ script: String, _ arguments: String...) throws {
    let prelude = "import sqlite3, sys, time\ndef say(text): print(text, flush=True)\n"
    process.executableURL = URL(fileURLWithPath: Self.interpreter)
    process.arguments = ["-c", prelude + script] + arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// The next line of its output, waited for; empty when it has ended.
  func line() -> String {
    while !unread.contains(UInt8(ascii: "\n")) {
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { break }
      unread += data
    }
    let line = unread.prefix { $0 != UInt8(ascii: "\n") }
    unread.removeFirst(min(unread.count, line.count + 1))
    return String(decoding: line, as: UTF8.self)
  }

  func say(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  func ask(_ question: String) throws -> String {
    try say(question)
    return line()
  }

  /// Waits for its end.
  ///
  /// - Returns: Its exit status.
  @discardableResult
  func finish() throws -> Int32 {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    return process.terminationStatus
  }
}

/// Runs a program to its end and returns its exit status; 127 when there is none.
@discardableResult
func run(_ program: String, _ arguments: String...) -> Int32 {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: program)
  process.arguments = arguments
  process.standardError = FileHandle.nullDevice
  do {
    try process.run()
  } catch {
    return 127
  }
  process.waitUntilExit()
  return process.terminationStatus
}
