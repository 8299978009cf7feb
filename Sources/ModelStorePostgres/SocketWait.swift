#if Postgres
  internal import ModelStore

  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #else
    internal import Darwin
  #endif

  /// Waits for a socket, without using a processor.
  enum SocketWait {
    enum Outcome {
      case ready, timedOut, stopped, woken
    }

    /// - Parameters:
    ///   - end: nil for an endless wait.
    ///   - stop: A descriptor that becomes readable to end the wait.
    ///   - wake: One that becomes readable to wake the thread.
    static func wait(
      for socket: Int32, _ events: Int32, until end: ContinuousClock.Instant?, stop: Int32? = nil,
      wake: Int32? = nil
    ) -> Outcome {
      while true {
        // The system ignores a negative descriptor.
        var descriptors = [
          pollfd(fd: socket, events: Int16(events), revents: 0),
          pollfd(fd: stop ?? -1, events: Int16(POLLIN), revents: 0),
          pollfd(fd: wake ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let count = poll(&descriptors, nfds_t(descriptors.count), timeout(until: end))
        if count > 0 {
          if descriptors[1].revents != 0 { return .stopped }
          return descriptors[2].revents != 0 ? .woken : .ready
        }
        // The system's other errors would come again and again: the next use of the socket fails.
        if count < 0, errno != EINTR { return .ready }
        if let end, end <= .now { return .timedOut }
      }
    }

    private static func timeout(until end: ContinuousClock.Instant?) -> Int32 {
      guard let end else { return -1 }
      let rest = ContinuousClock.now.duration(to: end)
      return rest <= .zero ? 0 : Int32(rest.milliseconds)
    }
  }

  /// A pipe that ends the waits of another thread.
  final class WakePipe: Sendable {
    /// Readable after ``wake()``, until ``clear()``.
    let descriptor: Int32
    private let writing: Int32

    init() throws {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else {
        throw LedgerError.failed("A pipe could not be opened: error \(errno).")
      }
      for end in ends {
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
      }
      (descriptor, writing) = (ends[0], ends[1])
    }

    deinit {
      close(descriptor)
      close(writing)
    }

    /// Can be called more than once.
    func wake() {
      var byte: UInt8 = 0
      // It fails only if the pipe is full, and then it is readable, too.
      _ = write(writing, &byte, 1)
    }

    /// Forgets the calls of ``wake()`` so far.
    func clear() {
      var bytes = [UInt8](repeating: 0, count: 64)
      while read(descriptor, &bytes, bytes.count) == bytes.count {}
    }
  }
#endif
