import Dispatch
import Foundation
import Testing

/// A session on a terminal of its own, at which the test types. It is killed when it takes too
/// long, so no test waits forever.
final class SessionProcess {
  private let process: Process
  /// -1 once it is closed.
  private var terminal: Int32
  private let watchdog: DispatchWorkItem
  private var unread = ""
  /// Everything that the terminal received.
  private(set) var seen = ""

  /// How long a session may take.
  private static let secondsMax = 300.0

  /// - Parameter environment: Variables beside those of the place.
  init(
    _ place: Workplace, _ arguments: [String] = [], environment: [String: String] = [:]
  ) throws {
    var theirs: Int32 = -1
    var ours: Int32 = -1
    var size = winsize(ws_row: 40, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
    guard openpty(&ours, &theirs, nil, nil, &size) == 0 else { throw POSIXError(.ENXIO) }
    terminal = ours
    process = try place.process(["shell"] + arguments)
    var variables = try #require(process.environment)
    variables["COLUMNS"] = nil
    variables.merge(["TERM": "xterm", "NO_COLOR": "1"]) { _, new in new }
    variables.merge(environment) { _, new in new }
    process.environment = variables
    let streams = FileHandle(fileDescriptor: theirs, closeOnDealloc: false)
    process.standardInput = streams
    process.standardOutput = streams
    process.standardError = streams
    let process = process
    watchdog = DispatchWorkItem { kill(process.processIdentifier, SIGKILL) }
    defer { close(theirs) }
    try process.run()
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.secondsMax, execute: watchdog)
  }

  deinit {
    watchdog.cancel()
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    if terminal >= 0 { close(terminal) }
  }

  /// Presses keys.
  func type(_ text: String) throws {
    let bytes = Array(text.utf8)
    try #require(write(terminal, bytes, bytes.count) == bytes.count)
  }

  /// Waits until the terminal has received `words`, behind what earlier calls waited for.
  func see(_ words: String) throws {
    // An open transaction draws its prompt each second, so this would wait forever.
    for _ in 0..<Self.receiveCountMax {
      if let found = unread.range(of: words) {
        unread = String(unread[found.upperBound...])
        return
      }
      try #require(receive(), "it ended before it showed \(words): \(seen.suffix(2000))")
    }
    terminate()
    try #require(Bool(false), "it did not show \(words): \(seen.suffix(2000))")
  }

  private static let receiveCountMax = 120

  /// Changes the width of the terminal. The session is not its foreground process, so the test
  /// sends the signal.
  func resize(columns: UInt16) {
    var size = winsize(ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
    kill(process.processIdentifier, SIGWINCH)
  }

  /// Sends what Ctrl-C sends while a command runs.
  func interrupt() { process.interrupt() }

  func terminate() { process.terminate() }

  /// Closes the terminal, without the signal that usually comes with that, and waits for the end.
  ///
  /// - Returns: As ``finish()``.
  func hangUp() -> Int32 {
    close(terminal)
    terminal = -1
    return ending()
  }

  /// Waits for the end.
  ///
  /// - Returns: The exit status, or the signal as a negative number.
  func finish() -> Int32 {
    var count = 0
    while receive() {
      count += 1
      if count == Self.receiveCountMax { terminate() }
    }
    return ending()
  }

  private func ending() -> Int32 {
    process.waitUntilExit()
    return process.terminationReason == .exit
      ? process.terminationStatus : -process.terminationStatus
  }

  /// - Returns: Whether the terminal is still open.
  private func receive() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(terminal, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      let text = String(decoding: buffer[..<count], as: UTF8.self)
      unread += text
      seen += text
      return true
    }
  }
}
