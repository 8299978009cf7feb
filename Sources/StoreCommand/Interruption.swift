import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Ctrl-C and SIGTERM as a wish: the first stops the work at its next boundary, the second ends the
/// process.
enum Interruption {
  private static let received = Atomic<Int32>(0)
  /// Where a byte is written when a signal comes, for who waits for something else; -1 for nobody.
  private static let listener = Atomic<Int32>(-1)

  /// Whether a signal came since ``await()``.
  static var isRequested: Bool { received.load(ordering: .relaxed) != 0 }

  /// Whether the signal was SIGTERM.
  static var isTermination: Bool { received.load(ordering: .relaxed) == SIGTERM }

  /// Takes the signals from now on. Without this, they end the process at once, as everywhere; a
  /// transaction that was open then is rolled back by whoever opens the file next.
  static func await() {
    received.store(0, ordering: .relaxed)
    listener.store(-1, ordering: .relaxed)
    var action = sigaction()
    // No SA_RESTART: a read that waits for input must end. SA_RESETHAND: the second one kills.
    action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
    #if canImport(Glibc)
      action.__sigaction_handler.sa_handler = { Interruption.note($0) }
    #else
      action.__sigaction_u.__sa_handler = { Interruption.note($0) }
    #endif
    sigaction(SIGINT, &action, nil)
    sigaction(SIGTERM, &action, nil)
  }

  /// Lets the signals in: a parent may have started this program from a thread that blocks them.
  static func admit() {
    var admitted = sigset_t()
    sigemptyset(&admitted)
    sigaddset(&admitted, SIGINT)
    sigaddset(&admitted, SIGTERM)
    sigprocmask(SIG_UNBLOCK, &admitted, nil)
  }

  /// Writes a byte to `descriptor` when a signal comes, so that who waits for that hears of it.
  static func wake(_ descriptor: Int32) {
    listener.store(descriptor, ordering: .relaxed)
  }

  /// Wakes nobody any more through `descriptor`.
  static func forget(_ descriptor: Int32) {
    _ = listener.compareExchange(expected: descriptor, desired: -1, ordering: .relaxed)
  }

  /// Runs as a signal handler: nothing but what POSIX allows there.
  private static func note(_ signal: Int32) {
    let error = errno
    received.store(signal, ordering: .relaxed)
    let descriptor = listener.load(ordering: .relaxed)
    if descriptor >= 0 {
      var byte: UInt8 = 0
      _ = write(descriptor, &byte, 1)
    }
    errno = error
  }
}
