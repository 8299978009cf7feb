import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A second process of this program that starts other programs and reports their time and memory.
/// It ends with the object.
///
/// Programs are not started by the measuring process itself: until a new process has loaded its
/// program, the kernel counts its parent's memory as its own, and this process may have held
/// millions of rows. So no peak is below what the launcher itself takes.
final class Launcher {
  /// Makes this program a launcher; see ``serve()``.
  static let option = "--launcher"

  /// A program to run to its end.
  struct Command: Codable {
    var program: String
    var arguments: [String]
    /// The file that becomes the program's standard input; nil for none.
    var input: String?
    /// The file that receives the standard output. Standard error goes to the same name with
    /// `.errors`.
    var output: String
  }

  /// What a run of a program took.
  struct Outcome: Codable {
    /// From before the process was made until it had ended.
    var nanoseconds: UInt64
    /// The most memory that it had at once, by `getrusage`, in bytes.
    var peakMemory: Int
    /// The exit status; 128 and the signal if a signal ended it.
    var status: Int32
  }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var unread: [UInt8] = []

  init() throws {
    guard let executable = Bundle.main.executablePath else {
      throw BenchmarkFailure("The program does not know where it is.")
    }
    process.executableURL = URL(filePath: executable)
    process.arguments = [Self.option]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  deinit {
    do {
      try input.fileHandleForWriting.close()
    } catch {
      StandardError.print("warning: the launcher could not be asked to end: \(error)")
    }
    process.waitUntilExit()
  }

  /// Runs `command` to its end.
  ///
  /// - Throws: ``BenchmarkFailure`` with what it wrote to standard error if it fails.
  func run(_ command: Command) throws -> Outcome {
    try input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(command) + [10])
    while !unread.contains(10) {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw BenchmarkFailure("The launcher has ended.") }
      unread += data
    }
    let line = unread.prefix { $0 != 10 }
    unread.removeFirst(line.count + 1)
    let outcome = try JSONDecoder().decode(Outcome.self, from: Data(line))
    guard outcome.status == 0 else {
      let errors = try String(contentsOfFile: command.output + ".errors", encoding: .utf8)
      let words = ([command.program] + command.arguments).joined(separator: " ")
      throw BenchmarkFailure("\(words) ended with \(outcome.status): \(errors)")
    }
    return outcome
  }

  /// Runs the command of each line of standard input, and answers with its outcome, until the input
  /// ends.
  static func serve() throws {
    while let line = readLine() {
      let command = try JSONDecoder().decode(Command.self, from: Data(line.utf8))
      let answer = try JSONEncoder().encode(spawn(command))
      try FileHandle.standardOutput.write(contentsOf: answer + [10])
    }
  }

  private static func spawn(_ command: Command) throws -> Outcome {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    let written = O_WRONLY | O_CREAT | O_TRUNC
    posix_spawn_file_actions_addopen(
      &actions, STDIN_FILENO, command.input ?? "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, command.output, written, 0o600)
    posix_spawn_file_actions_addopen(
      &actions, STDERR_FILENO, command.output + ".errors", written, 0o600)
    var words = ([command.program] + command.arguments).map { strdup($0) } + [nil]
    var variables =
      ProcessInfo.processInfo.environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for word in words + variables { free(word) } }

    var child: pid_t = 0
    let start = Stopwatch.now
    let code = posix_spawn(&child, command.program, &actions, nil, &words, &variables)
    guard code == 0 else {
      throw BenchmarkFailure("\(command.program) cannot start: errno \(code).")
    }
    var status: Int32 = 0
    var usage = rusage()
    while wait4(child, &status, 0, &usage) < 0 {
      guard errno == EINTR else { throw BenchmarkFailure("wait4 failed: errno \(errno).") }
    }
    let elapsed = Stopwatch.now - start
    #if canImport(Darwin)
      let unit = 1
    #else
      let unit = 1024
    #endif
    let signal = status & 0x7F
    return Outcome(
      nanoseconds: elapsed, peakMemory: Int(usage.ru_maxrss) * unit,
      status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal)
  }
}
