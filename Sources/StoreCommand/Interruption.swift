import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Ctrl-C as a wish: the first stops the work at its next boundary, the second ends the process.
enum Interruption {
  private static let requested = Atomic<Bool>(false)

  /// Whether Ctrl-C came since ``await()``.
  static var isRequested: Bool { requested.load(ordering: .relaxed) }

  /// Takes Ctrl-C from now on. Without this, it ends the process at once, as everywhere; a
  /// transaction that was open then is rolled back by whoever opens the file next.
  static func await() {
    requested.store(false, ordering: .relaxed)
    var action = sigaction()
    // No SA_RESTART: a read that waits for input must end. SA_RESETHAND: the second one kills.
    action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
    #if canImport(Glibc)
      action.__sigaction_handler.sa_handler = { _ in Interruption.note() }
    #else
      action.__sigaction_u.__sa_handler = { _ in Interruption.note() }
    #endif
    sigaction(SIGINT, &action, nil)
  }

  /// Lets Ctrl-C in: a parent may have started this program from a thread that blocks signals.
  static func admit() {
    var interruptOnly = sigset_t()
    sigemptyset(&interruptOnly)
    sigaddset(&interruptOnly, SIGINT)
    sigprocmask(SIG_UNBLOCK, &interruptOnly, nil)
  }

  private static func note() {
    requested.store(true, ordering: .relaxed)
  }
}
