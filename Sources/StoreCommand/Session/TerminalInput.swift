import RecordFormats
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The keyboard of a session: the bytes of standard input, and what else wakes a prompt.
final class TerminalInput: Sendable {
  /// Why a prompt goes on.
  enum Event: Equatable {
    case byte(UInt8)
    /// ``ring()``, a signal, or a terminal of another size.
    case rung
    case timedOut
    /// The terminal is closed.
    case ended
  }

  /// How the keyboard passes keys on.
  let mode: TerminalMode
  private let pipe: SystemPipe

  /// Where the handler of SIGWINCH writes a byte; -1 for nowhere.
  private static let listener = Atomic<Int32>(-1)

  init(_ mode: TerminalMode) throws(SystemError) {
    self.mode = mode
    pipe = try SystemPipe()
    for end in [pipe.readEnd, pipe.writeEnd] {
      guard fcntl(end, F_SETFL, O_NONBLOCK) == 0 else { throw .last }
    }
    Self.listener.store(pipe.writeEnd, ordering: .relaxed)
    Self.handleNewSizes()
  }

  deinit {
    Self.listener.store(-1, ordering: .relaxed)
    Interruption.forget(pipe.writeEnd)
    close(pipe.writeEnd)
    close(pipe.readEnd)
  }

  /// Wakes the prompt; any thread may call it.
  func ring() { Self.write(to: pipe.writeEnd) }

  /// Lets SIGTERM wake the prompt. A command may have ended that.
  func awaitSignals() { Interruption.wake(pipe.writeEnd) }

  /// Waits for the next byte or event. Bytes are read one by one: what follows the end of an input
  /// may be for the command that it begins.
  ///
  /// - Parameter timeout: In milliseconds; -1 for none.
  func next(timeout: Int32) throws(SystemError) -> Event {
    var descriptors = [
      pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
      pollfd(fd: pipe.readEnd, events: Int16(POLLIN), revents: 0),
    ]
    let count = poll(&descriptors, nfds_t(descriptors.count), timeout)
    guard count >= 0 else {
      guard errno == EINTR else { throw .last }
      return .rung
    }
    if count == 0 { return .timedOut }
    if descriptors[1].revents != 0 {
      var bytes = [UInt8](repeating: 0, count: 64)
      while read(pipe.readEnd, &bytes, bytes.count) == bytes.count {}
      return .rung
    }
    var byte: UInt8 = 0
    let length = read(STDIN_FILENO, &byte, 1)
    guard length != 1 else { return .byte(byte) }
    // Linux reports a closed terminal as an error.
    guard length == 0 || errno != EINTR else { return .rung }
    return .ended
  }

  /// Whether a byte waits.
  var hasByte: Bool {
    var descriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    return poll(&descriptor, 1, 0) > 0 && descriptor.revents & Int16(POLLIN) != 0
  }

  private static func write(to descriptor: Int32) {
    var byte: UInt8 = 0
    // A full pipe wakes the reader anyway.
    #if canImport(Glibc)
      _ = Glibc.write(descriptor, &byte, 1)
    #elseif canImport(Musl)
      _ = Musl.write(descriptor, &byte, 1)
    #else
      _ = Darwin.write(descriptor, &byte, 1)
    #endif
  }

  private static func handleNewSizes() {
    var action = sigaction()
    action.sa_flags = SA_RESTART
    #if canImport(Glibc)
      action.__sigaction_handler.sa_handler = { _ in TerminalInput.noteNewSize() }
    #elseif canImport(Musl)
      action.__sa_handler.sa_handler = { _ in TerminalInput.noteNewSize() }
    #else
      action.__sigaction_u.__sa_handler = { _ in TerminalInput.noteNewSize() }
    #endif
    sigaction(SIGWINCH, &action, nil)
  }

  /// Runs as a signal handler, so it calls only what POSIX allows there.
  private static func noteNewSize() {
    let error = errno
    let descriptor = listener.load(ordering: .relaxed)
    if descriptor >= 0 { write(to: descriptor) }
    errno = error
  }
}
