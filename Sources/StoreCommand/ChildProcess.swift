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
  ///   - excluded: A variable of this program that it does not get.
  ///   - input: What it reads as standard input.
  ///   - output: What it writes as standard output; nil for this program's.
  init(
    _ words: [String], _ variables: [String: String] = [:], without excluded: String? = nil,
    reading input: Int32, writing output: Int32? = nil
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
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    if let output { posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
    // The program would inherit ignored signals.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigaddset(&signals, SIGPIPE)
    sigaddset(&signals, SIGXFSZ)
    sigaddset(&signals, SIGCHLD)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
    let environment = ProcessInfo.processInfo.environment.filter { $0.key != excluded }
      .merging(variables) { _, given in given }
      .map { "\($0)=\($1)" }
    var arguments = words.map { strdup($0) } + [nil]
    var variables = environment.map { strdup($0) } + [nil]
    defer { for word in arguments + variables { free(word) } }
    var process: pid_t = 0
    let error = posix_spawnp(&process, words[0], &actions, &attributes, &arguments, &variables)
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
