import RecordFormats

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
  let text: String

  /// Runs it to its end; its output and errors go where this program's go. It need not read its
  /// input.
  ///
  /// - Parameter environment: Variables in addition to those of this program.
  /// - Throws: ``CommandError`` when the shell cannot be started.
  func run(_ input: [UInt8], environment: [String: String] = [:]) throws -> ChildProcess.Ending {
    // If the process ended now, the command would go on, but its success would not be recorded.
    Interruption.beginWaiting()
    defer { Interruption.endWaiting() }
    do {
      let pipe = try SystemPipe()
      let process: ChildProcess
      do {
        defer { close(pipe.readEnd) }
        process = try ChildProcess(
          shell: text, environment: environment, reading: pipe.readEnd)
      } catch {
        close(pipe.writeEnd)
        throw error
      }
      Self.feed(input, to: pipe.writeEnd)
      close(pipe.writeEnd)
      return try process.end()
    } catch let error as SystemError {
      throw CommandError(.failed, code: "command", "cannot run the command: \(error)")
    }
  }

  /// Lets the process wait for commands: a parent may have set SIGCHLD to be ignored, and then the
  /// system keeps no exit status. The handler of an embedding program stays.
  static func admitWaiting() {
    if Interruption.isIgnored(SIGCHLD) { signal(SIGCHLD, SIG_DFL) }
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
}
