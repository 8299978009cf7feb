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

/// A line of the shell that runs as a process of its own: a command of `--exec`, a pager, an
/// editor.
struct ShellProcess {
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

  /// Starts it.
  ///
  /// - Parameters:
  ///   - line: What a person wrote.
  ///   - arguments: The values of `$1`, `$2` and so on in the line.
  ///   - environment: Variables in addition to those of this program.
  ///   - input: Its standard input; nil for that of this program.
  ///   - signals: Signals that it does not ignore, whatever this program does.
  init(
    _ line: String, arguments: [String] = [], environment variables: [String: String] = [:],
    reading input: Int32? = nil, receiving signals: [Int32] = []
  ) throws(SystemError) {
    let words = ["/bin/sh", "-c", line, "storecli"] + arguments
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
    // The command would inherit ignored signals.
    var received = sigset_t()
    sigemptyset(&received)
    posix_spawnattr_setsigmask(&attributes, &received)
    for signal in [SIGPIPE, SIGXFSZ, SIGCHLD] + signals { sigaddset(&received, signal) }
    posix_spawnattr_setsigdefault(&attributes, &received)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
    // This program may itself run for a gap, which does not concern the command.
    let environment = ProcessInfo.processInfo.environment.filter { $0.key != "STORECLI_GAP" }
      .merging(variables) { _, given in given }
      .map { "\($0)=\($1)" }
    var arguments = words.map { strdup($0) } + [nil]
    var pairs = environment.map { strdup($0) } + [nil]
    defer { for word in arguments + pairs { free(word) } }
    var process: pid_t = 0
    let error = posix_spawn(&process, words[0], &actions, &attributes, &arguments, &pairs)
    guard error == 0 else { throw SystemError(number: error) }
    number = process
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
