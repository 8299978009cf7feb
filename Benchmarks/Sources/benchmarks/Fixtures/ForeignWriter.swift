import Foundation

/// A second process that has a database open and runs SQL on request: this program itself, or the
/// `sqlite3` shell. It ends with the object.
final class ForeignWriter {
  enum Program {
    case benchmarks
    case shell
  }

  /// Followed by a file's path, makes this program a writer; see ``serve(_:)``.
  static let option = "--foreign-writer"

  private static let shellPath = "/usr/bin/sqlite3"
  private static let preparation = [
    "PRAGMA busy_timeout = 60000", "PRAGMA synchronous = FULL", "PRAGMA wal_autocheckpoint = 0",
  ]

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var unread: [UInt8] = []
  private let program: Program

  init(_ program: Program, path: String) throws {
    self.program = program
    switch program {
    case .shell:
      process.executableURL = URL(filePath: Self.shellPath)
      process.arguments = ["-batch", path]
    case .benchmarks:
      guard let executable = Bundle.main.executablePath else {
        throw BenchmarkFailure("The program does not know where it is.")
      }
      process.executableURL = URL(filePath: executable)
      process.arguments = [Self.option, path]
    }
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    for sql in Self.preparation { _ = try run(sql) }
  }

  deinit {
    do {
      try input.fileHandleForWriting.close()
    } catch {
      StandardError.print("warning: a second process could not be asked to end: \(error)")
    }
    process.waitUntilExit()
  }

  /// Runs `sql`, one line without a semicolon at its end, and waits until it is done.
  ///
  /// - Returns: When it was done, by ``Stopwatch/now`` in the other process; nil from the shell,
  ///   which has no such clock.
  func run(_ sql: String) throws -> UInt64? {
    let mark = "done"
    let question = program == .shell ? "\(sql);\n.print \(mark)\n" : "\(sql)\n"
    try input.fileHandleForWriting.write(contentsOf: Data(question.utf8))
    switch program {
    case .shell:
      // A pragma returns its value.
      while try line() != mark {}
      return nil
    case .benchmarks:
      let answer = try line()
      guard let time = UInt64(answer) else {
        throw BenchmarkFailure("The second process answers \(sql) with \(answer).")
      }
      return time
    }
  }

  private func line() throws -> String {
    while !unread.contains(UInt8(ascii: "\n")) {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw BenchmarkFailure("The second process has ended.") }
      unread += data
    }
    let line = unread.prefix { $0 != UInt8(ascii: "\n") }
    unread.removeFirst(line.count + 1)
    return String(decoding: line, as: UTF8.self)
  }

  /// Runs the SQL of each line of standard input on the database at `path`, and answers with the
  /// time when it was done, until the input ends.
  static func serve(_ path: String) throws {
    let connection = try RawConnection(path: path, synchronous: .full)
    while let sql = readLine() {
      try connection.execute(sql)
      try FileHandle.standardOutput.write(contentsOf: Data("\(Stopwatch.now)\n".utf8))
    }
  }
}
