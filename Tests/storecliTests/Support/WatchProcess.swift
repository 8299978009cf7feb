import Dispatch
import Foundation
import Testing

/// A run of `watch` that continues while the test writes. It is killed when it takes too long, so
/// no test waits forever.
final class WatchProcess {
  private let process: Process
  private let out = Pipe()
  private let talk = Pipe()
  private let watchdog: DispatchWorkItem
  private var heard = ""

  /// How long a run may take.
  private static let secondsMax = 300.0

  init(_ place: Workplace, _ arguments: [String]) throws {
    process = try place.process(["watch"] + arguments)
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = out
    process.standardError = talk
    let process = process
    // A parent may have blocked the gentler signals.
    watchdog = DispatchWorkItem { kill(process.processIdentifier, SIGKILL) }
    try process.run()
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.secondsMax, execute: watchdog)
    try hear("watching")
  }

  /// Waits until it says `words`.
  func hear(_ words: String) throws {
    while !heard.contains(words) {
      let bytes = talk.fileHandleForReading.availableData
      if bytes.isEmpty { throw try ended() }
      heard += String(decoding: bytes, as: UTF8.self)
    }
  }

  deinit {
    watchdog.cancel()
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  /// Presses Ctrl-C.
  func interrupt() {
    process.interrupt()
  }

  /// Asks it to end, as the system does.
  func terminate() {
    process.terminate()
  }

  /// Waits for the end without reading what it writes.
  func endUnread() throws -> Int32 {
    process.waitUntilExit()
    try #require(process.terminationReason == .exit, "it was ended by force")
    return process.terminationStatus
  }

  /// The next line of data that is not a gap, waited for.
  func nextLine() throws -> String {
    var line: [UInt8] = []
    while let byte = try out.fileHandleForReading.read(upToCount: 1)?.first {
      guard byte == UInt8(ascii: "\n") else {
        line.append(byte)
        continue
      }
      let text = String(decoding: line, as: UTF8.self)
      if !text.hasPrefix("gap: "), !text.contains("\"op\":\"gap\"") { return text }
      line = []
    }
    throw try ended()
  }

  /// The program ended before it printed the expected line.
  struct Ended: Error, CustomStringConvertible {
    /// How it ended, and what it wrote to standard error.
    let description: String
  }

  /// Waits for the end of a program that writes nothing more.
  private func ended() throws -> Ended {
    heard += String(
      decoding: try talk.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return Ended(description: "\(process.ending): \(heard)")
  }

  /// Waits for the end and what was not read yet.
  ///
  /// - Parameter signal: By which it is expected to end; nil for by itself.
  func finish(by signal: Int32? = nil) throws -> Outcome {
    let data = try out.fileHandleForReading.readToEnd() ?? Data()
    let rest = try talk.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let isExpected =
      signal.map { process.terminationReason == .uncaughtSignal && process.terminationStatus == $0 }
      ?? (process.terminationReason == .exit)
    try #require(isExpected, "\(process.ending): \(heard)\(String(decoding: rest, as: UTF8.self))")
    return Outcome(
      code: process.terminationStatus, out: String(decoding: data, as: UTF8.self),
      err: heard + String(decoding: rest, as: UTF8.self))
  }
}

extension Process {
  /// How it ended.
  fileprivate var ending: String {
    terminationReason == .exit
      ? "it ended with status \(terminationStatus)"
      : "it was ended by signal \(terminationStatus)"
  }
}

/// One line of ndjson as the fields that a test compares.
func lineOf(_ text: some StringProtocol) throws -> [String: String] {
  let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
  return try #require(object).mapValues { "\($0)" }
}
