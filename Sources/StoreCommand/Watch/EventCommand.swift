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

/// A shell command that a person wrote, run with events on its standard input. Nothing of an event
/// becomes a part of the command, so no stored text can make it do anything else.
struct EventCommand {
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

  let text: String

  /// Runs it to its end; its output and errors go where this program's go. It need not read its
  /// input.
  ///
  /// - Parameter environment: Variables in addition to those of this program.
  /// - Throws: ``CommandError`` when the shell cannot be started.
  func run(_ input: [UInt8], environment: [String: String] = [:]) throws -> Ending {
    // If the process ended now, the command would go on, but its success would not be recorded.
    Interruption.beginWaiting()
    defer { Interruption.endWaiting() }
    do {
      let pipe = try SystemPipe()
      let process: pid_t
      do {
        defer { close(pipe.readEnd) }
        process = try Self.start(
          ["/bin/sh", "-c", text, "storecli"], environment, reading: pipe.readEnd)
      } catch {
        close(pipe.writeEnd)
        throw error
      }
      Self.feed(input, to: pipe.writeEnd)
      close(pipe.writeEnd)
      return try Self.end(of: process)
    } catch let error as SystemError {
      throw CommandError(.failed, code: "command", "cannot run the command: \(error)")
    }
  }

  /// Lets the process wait for commands: a parent may have set SIGCHLD to be ignored, and then the
  /// system keeps no exit status. The handler of an embedding program stays.
  static func admitWaiting() {
    if Interruption.isIgnored(SIGCHLD) { signal(SIGCHLD, SIG_DFL) }
  }

  private static func start(
    _ words: [String], _ variables: [String: String], reading input: Int32
  ) throws(SystemError) -> pid_t {
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
    // The command would inherit ignored signals.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigaddset(&signals, SIGPIPE)
    sigaddset(&signals, SIGXFSZ)
    sigaddset(&signals, SIGCHLD)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
    // This program may itself run for a gap, which does not concern the command.
    let environment = ProcessInfo.processInfo.environment.filter { $0.key != "STORECLI_GAP" }
      .merging(variables) { _, given in given }
      .map { "\($0)=\($1)" }
    var arguments = words.map { strdup($0) } + [nil]
    var variables = environment.map { strdup($0) } + [nil]
    defer { for word in arguments + variables { free(word) } }
    var process: pid_t = 0
    let error = posix_spawn(&process, words[0], &actions, &attributes, &arguments, &variables)
    guard error == 0 else { throw SystemError(number: error) }
    return process
  }

  /// Writes until the command stops reading.
  private static func feed(_ input: [UInt8], to descriptor: Int32) {
    var rest = input[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 || errno == EINTR else { return }
      rest = rest.dropFirst(max(count, 0))
    }
  }

  private static func end(of process: pid_t) throws(SystemError) -> Ending {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { throw .last }
    }
    // As the macros of <sys/wait.h> read it.
    let signal = status & 0x7f
    return signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal)
  }
}
