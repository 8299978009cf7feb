import RecordFormats

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

/// A program that this program started and waits for.
struct ChildProcess {
  /// How it ended.
  enum Ending: Hashable, CustomStringConvertible {
    case exited(Int32)
    case signalled(Int32)

    var isSuccess: Bool { self == .exited(0) }

    var description: String {
      switch self {
      case .exited(let status): "ended with status \(status)"
      case .signalled(let number): "was ended by signal \(number)"
      }
    }
  }

  private let number: pid_t

  /// Starts a program; its errors go where this program's go.
  ///
  /// - Parameters:
  ///   - words: The program, found by PATH unless it has a slash, and its arguments.
  ///   - variables: Variables in addition to those of this program.
  ///   - input: Its standard input; nil for that of this program.
  ///   - output: Its standard output; nil for that of this program.
  ///   - signals: Signals that it does not ignore, whatever this program does.
  init(
    _ words: [String], environment variables: [String: String] = [:], reading input: Int32? = nil,
    writing output: Int32? = nil, receiving signals: [Int32] = []
  ) throws(SystemError) {
    #if os(Linux)
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #else
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    if let input { posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
    if let output { posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
    // The program would inherit ignored signals.
    var received = sigset_t()
    sigemptyset(&received)
    posix_spawnattr_setsigmask(&attributes, &received)
    for signal in [SIGPIPE, SIGXFSZ, SIGCHLD] + signals { sigaddset(&received, signal) }
    posix_spawnattr_setsigdefault(&attributes, &received)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
    // This program may itself run for a gap, which does not concern the other one.
    let environment = ProcessInfo.processInfo.environment.filter { $0.key != "STORECLI_GAP" }
      .merging(variables) { _, given in given }
      .map { "\($0)=\($1)" }
    var arguments = words.map { strdup($0) } + [nil]
    var pairs = environment.map { strdup($0) } + [nil]
    defer { for word in arguments + pairs { free(word) } }
    var process: pid_t = 0
    let error = posix_spawnp(&process, words[0], &actions, &attributes, &arguments, &pairs)
    guard error == 0 else { throw SystemError(number: error) }
    number = process
  }

  /// Starts a line of the shell that a person wrote: a command of `--exec`, a pager, an editor.
  ///
  /// - Parameter arguments: The values of `$1`, `$2` and so on in the line.
  init(
    shell line: String, arguments: [String] = [], environment: [String: String] = [:],
    reading input: Int32? = nil, receiving signals: [Int32] = []
  ) throws(SystemError) {
    try self.init(
      ["/bin/sh", "-c", line, "storecli"] + arguments, environment: environment, reading: input,
      receiving: signals)
  }

  /// Waits for its end.
  func end() throws(SystemError) -> Ending {
    var status: Int32 = 0
    while waitpid(number, &status, 0) < 0 {
      guard errno == EINTR else { throw .last }
    }
    // As the macros of <sys/wait.h> read it.
    let signal = status & 0x7f
    return signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal)
  }
}
