import Foundation

/// A terminal for one program, 80 columns wide.
enum PseudoTerminal {
  /// Runs a line of the shell on a terminal of its own.
  ///
  /// - Parameter typed: What a person types before the program asks.
  /// - Returns: What a person sees: the output and the messages, in the order of writing.
  static func run(
    _ line: String, in directory: String, environment: [String: String], typing typed: String = ""
  ) throws -> String {
    let (ours, theirs) = try open()
    defer { close(ours) }
    let bytes = Array(typed.utf8)
    guard write(ours, bytes, bytes.count) == bytes.count else { throw POSIXError(.EIO) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", line]
    process.currentDirectoryURL = URL(fileURLWithPath: directory)
    process.environment = environment
    let streams = FileHandle(fileDescriptor: theirs, closeOnDealloc: false)
    process.standardInput = streams
    process.standardOutput = streams
    process.standardError = streams
    do {
      defer { close(theirs) }
      try process.run()
    }
    let seen = readAll(from: ours)
    process.waitUntilExit()
    return String(decoding: seen, as: UTF8.self)
  }

  /// Both ends. Bytes written at the other end arrive unchanged.
  private static func open() throws -> (ours: Int32, theirs: Int32) {
    var ours: Int32 = -1
    var theirs: Int32 = -1
    var modes = termios()
    cfmakeraw(&modes)
    var size = winsize(ws_row: 50, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
    guard openpty(&ours, &theirs, nil, &modes, &size) == 0 else { throw POSIXError(.ENXIO) }
    return (ours, theirs)
  }

  /// Reads until every other end is closed, which Linux reports as an error.
  private static func readAll(from descriptor: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
    }
  }
}
