#if Postgres
  import Foundation
  import Synchronization

  /// A program that runs beside the test, with what it has printed so far.
  final class MemberProcess: Sendable {
    private let process: Mutex<Process>
    private let input = Pipe()
    private let output = Pipe()
    private let lines = Mutex<[String]>([])
    private let errors = Pipe()

    /// - Parameters:
    ///   - words: The name of a program of this package, and its arguments.
    ///   - environment: Variables that the program has beside those of the tests.
    init(_ words: [String], environment: [String: String] = [:]) throws {
      // In the background of a script the tests ignore these, and so would what they start.
      for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
      let process = Process()
      process.executableURL = Self.programs.appendingPathComponent(words[0])
      process.arguments = Array(words.dropFirst())
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      process.standardInput = input
      process.standardOutput = output
      process.standardError = errors
      self.process = Mutex(process)
      try process.run()
    }

    deinit { kill() }

    /// The directory with what the package builds.
    private static let programs = URL(fileURLWithPath: CommandLine.arguments[0])
      .deletingLastPathComponent()

    /// Reads until `isEnough` of the lines so far.
    ///
    /// - Throws: What the program wrote to standard error if it ends before.
    @discardableResult
    func read(until isEnough: ([String]) -> Bool) throws -> [String] {
      try lines.withLock { lines in
        while !isEnough(lines) {
          guard let line = nextLine() else {
            throw PostgresServer.Failure("The program ended after \(lines): \(errorText())")
          }
          lines.append(line)
        }
        return lines
      }
    }

    /// Everything that it printed until its end.
    func allLines() -> [String] {
      lines.withLock { lines in
        while let line = nextLine() { lines.append(line) }
        return lines
      }
    }

    /// What it has written to standard error until its end.
    func errorText() -> String {
      String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    private func nextLine() -> String? {
      var bytes: [UInt8] = []
      while let byte = output.fileHandleForReading.readData(ofLength: 1).first {
        if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
        bytes.append(byte)
      }
      return nil
    }

    /// Writes a line to its standard input.
    func write(_ line: String) throws {
      try input.fileHandleForWriting.write(contentsOf: Array((line + "\n").utf8))
    }

    /// Ends it as a crash does.
    func kill() {
      process.withLock { process in
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
      }
    }

    /// Asks it to end, as Ctrl-C does.
    func interrupt() { process.withLock { $0.interrupt() } }

    /// Waits until it has ended.
    func exitCode() -> Int32 {
      process.withLock { process in
        process.waitUntilExit()
        return process.terminationStatus
      }
    }

    /// Ends its input, and waits until it has ended.
    func finish() throws -> [String] {
      try input.fileHandleForWriting.close()
      let lines = allLines()
      process.withLock { $0.waitUntilExit() }
      return lines
    }
  }
#endif
