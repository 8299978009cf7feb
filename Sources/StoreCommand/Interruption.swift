import ModelStore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Ctrl-C and SIGTERM as requests: the first stops the work at its next boundary, the second ends
/// the process.
enum Interruption {
  private static let received = Atomic<Int32>(0)
  /// Where a signal writes a byte, to wake a thread that waits for something else; -1 for no
  /// thread.
  private static let listener = Atomic<Int32>(-1)
  /// Whether the command line handles the signals of this process: not if it runs within another
  /// program.
  private static let isAdmitted = Atomic(false)
  /// How many long waits are going on that a signal must not end.
  private static let waitCount = Atomic<Int32>(0)

  /// Whether a signal came since ``await()``.
  static var isRequested: Bool { received.load(ordering: .relaxed) != 0 }

  /// Whether the signal was SIGTERM.
  static var isTermination: Bool { received.load(ordering: .relaxed) == SIGTERM }

  /// Whether `error` is what a store throws because of ``storeRequest``.
  static func explains(_ error: any Error) -> Bool {
    guard isRequested, let code = (error as? StoreError)?.code else { return false }
    return code == .cancelled || code == .busy
  }

  /// Ends the statements of a store, and its waits for locks, after a signal.
  static let storeRequest = StopRequest { isRequested }

  /// Handles the signals from now on, except a signal that the process ignores. Without this call,
  /// they end the process at once; the next program that opens the file rolls back a transaction
  /// that was open then.
  ///
  /// SIGTERM ends the process after one second at the latest, also in the middle of its work.
  /// For example, SQLite cannot be stopped while it compares one text with a pattern.
  static func await() {
    guard isAdmitted.load(ordering: .relaxed) else { return }
    received.store(0, ordering: .relaxed)
    listener.store(-1, ordering: .relaxed)
    waitCount.store(0, ordering: .relaxed)
    var action = sigaction()
    // No SA_RESTART: a read that waits for input must end. SA_RESETHAND: the second one kills.
    action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
    #if canImport(Glibc)
      action.__sigaction_handler.sa_handler = { Interruption.note($0) }
    #elseif canImport(Musl)
      action.__sa_handler.sa_handler = { Interruption.note($0) }
    #else
      action.__sigaction_u.__sa_handler = { Interruption.note($0) }
    #endif
    for signal in [SIGINT, SIGTERM] where !isIgnored(signal) { sigaction(signal, &action, nil) }
  }

  /// Whether this process ignores `signal`. For example, a shell script makes what it starts with
  /// `&` ignore SIGINT.
  static func isIgnored(_ signal: Int32) -> Bool {
    var current = sigaction()
    guard sigaction(signal, nil, &current) == 0 else { return false }
    #if canImport(Glibc)
      let handler = current.__sigaction_handler.sa_handler
    #elseif canImport(Musl)
      let handler = current.__sa_handler.sa_handler
    #else
      let handler = current.__sigaction_u.__sa_handler
    #endif
    let ignored: (@convention(c) (Int32) -> Void)? = SIG_IGN
    // Functions have no equality, but these are addresses.
    return withUnsafeBytes(of: handler) { handler in
      withUnsafeBytes(of: ignored) { handler.elementsEqual($0) }
    }
  }

  /// Unblocks the signals: a parent may have started this program from a thread that blocks them.
  static func admit() {
    isAdmitted.store(true, ordering: .relaxed)
    var admitted = sigset_t()
    sigemptyset(&admitted)
    sigaddset(&admitted, SIGINT)
    sigaddset(&admitted, SIGTERM)
    sigaddset(&admitted, SIGALRM)
    sigprocmask(SIG_UNBLOCK, &admitted, nil)
  }

  /// From now on, SIGTERM does not end the process, until ``endWaiting()``.
  static func beginWaiting() {
    waitCount.add(1, ordering: .relaxed)
  }

  static func endWaiting() {
    // The process gets a whole second to record that the command has ended.
    if isTermination { alarm(1) }
    waitCount.subtract(1, ordering: .relaxed)
  }

  /// Writes a byte to `descriptor` on a signal, which wakes a thread that polls it.
  static func wake(_ descriptor: Int32) {
    listener.store(descriptor, ordering: .relaxed)
  }

  /// Stops writing to `descriptor`.
  static func forget(_ descriptor: Int32) {
    _ = listener.compareExchange(expected: descriptor, desired: -1, ordering: .relaxed)
  }

  /// Runs as a signal handler, so it calls only what POSIX allows there.
  private static func note(_ signal: Int32) {
    let error = errno
    received.store(signal, ordering: .relaxed)
    if signal == SIGTERM { startLastSecond() }
    let descriptor = listener.load(ordering: .relaxed)
    if descriptor >= 0 {
      var byte: UInt8 = 0
      _ = write(descriptor, &byte, 1)
    }
    errno = error
  }

  /// Ends the process by SIGTERM in a second, unless it has ended by itself. While the process
  /// waits for a command of `--exec`, the second begins again.
  private static func startLastSecond() {
    var action = sigaction()
    #if canImport(Glibc)
      action.__sigaction_handler.sa_handler = { _ in Interruption.endLastSecond() }
    #elseif canImport(Musl)
      action.__sa_handler.sa_handler = { _ in Interruption.endLastSecond() }
    #else
      action.__sigaction_u.__sa_handler = { _ in Interruption.endLastSecond() }
    #endif
    sigaction(SIGALRM, &action, nil)
    alarm(1)
  }

  private static func endLastSecond() {
    guard waitCount.load(ordering: .relaxed) == 0 else {
      alarm(1)
      return
    }
    // SIGTERM has its default action again since the first one.
    raise(SIGTERM)
  }
}
