import RecordFormats
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Wakes a command that waits for another thread. Waiting uses no CPU time.
final class Bell: Sendable {
  /// Why a command goes on.
  enum Waking {
    case rung
    case interrupted
    case timedOut
  }

  private let pipe: SystemPipe
  private let failure = Mutex<(any Error)?>(nil)

  /// Lets signals that interrupt wake the waiting command.
  init() throws(SystemError) {
    pipe = try SystemPipe()
    for end in [pipe.readEnd, pipe.writeEnd] {
      guard fcntl(end, F_SETFL, O_NONBLOCK) == 0 else { throw .last }
    }
    Interruption.wake(pipe.writeEnd)
  }

  deinit {
    Interruption.forget(pipe.writeEnd)
    close(pipe.writeEnd)
    close(pipe.readEnd)
  }

  /// Signals that there are new changes.
  func ring() {
    var byte: UInt8 = 0
    // A full pipe wakes the reader anyway.
    _ = write(pipe.writeEnd, &byte, 1)
  }

  /// Ends every later wait with `error`: no more changes come.
  func fail(_ error: any Error) {
    failure.withLock { $0 = $0 ?? error }
    ring()
  }

  /// Waits for a ring since the last waking, for a signal, or until `deadline`.
  ///
  /// - Throws: The error of ``fail(_:)``; ``OutputError/readerClosed`` if the reader closed
  ///   standard output, which a command without output would not notice.
  func wait(until deadline: ContinuousClock.Instant?) throws -> Waking {
    var descriptors = [
      pollfd(fd: pipe.readEnd, events: Int16(POLLIN), revents: 0),
      pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
    ]
    while true {
      if let error = failure.withLock({ $0 }) { throw error }
      if Interruption.isRequested { return .interrupted }
      let rest = deadline.map { $0 - ContinuousClock.Instant.now }
      if let rest, rest <= .zero { return .timedOut }
      let count = poll(&descriptors, nfds_t(descriptors.count), rest.map(Self.pause) ?? -1)
      guard count > 0 else {
        guard count == 0 || errno == EINTR else { throw SystemError.last }
        continue
      }
      let output = Int32(descriptors[1].revents)
      if output & (POLLERR | POLLHUP) != 0 { throw OutputError.readerClosed }
      // Standard output is closed, so it needs no poll.
      if output & POLLNVAL != 0 { descriptors[1].fd = -1 }
      guard descriptors[0].revents != 0 else { continue }
      silence()
      if let error = failure.withLock({ $0 }) { throw error }
      return Interruption.isRequested ? .interrupted : .rung
    }
  }

  /// Several signals before a wakeup count as one.
  private func silence() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while read(pipe.readEnd, &bytes, bytes.count) == bytes.count {}
  }

  /// In milliseconds, upwards, and at most an hour at a time.
  private static func pause(_ rest: Duration) -> Int32 {
    let (seconds, attoseconds) = min(rest, .seconds(3600)).components
    return Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000) + 1
  }
}
