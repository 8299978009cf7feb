import Dispatch
import Synchronization

/// Wakes a command that waits for news from another thread.
final class Bell: Sendable {
  /// Why a command goes on.
  enum Waking {
    case rung
    case interrupted
    case timedOut
  }

  private let semaphore = DispatchSemaphore(value: 0)
  private let failure = Mutex<(any Error)?>(nil)

  /// There is something new.
  func ring() {
    semaphore.signal()
  }

  /// There will be nothing new: whoever waits meets `error`.
  func fail(_ error: any Error) {
    failure.withLock { $0 = $0 ?? error }
    semaphore.signal()
  }

  /// Waits for a ring since the last waking, for Ctrl-C, or until `deadline`.
  ///
  /// - Throws: What ``fail(_:)`` was told.
  func wait(until deadline: ContinuousClock.Instant?) throws -> Waking {
    while true {
      if let error = failure.withLock({ $0 }) { throw error }
      if Interruption.isRequested { return .interrupted }
      var pause = Self.interruptionPause
      if let deadline {
        let rest = deadline - ContinuousClock.Instant.now
        guard rest > .zero else { return .timedOut }
        pause = min(pause, rest)
      }
      let (seconds, attoseconds) = pause.components
      let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
      guard semaphore.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success else {
        continue
      }
      // Rings that came together are one.
      while semaphore.wait(timeout: .now()) == .success {}
      if let error = failure.withLock({ $0 }) { throw error }
      return .rung
    }
  }

  /// How long Ctrl-C may go unnoticed: a signal does not wake who waits here.
  private static let interruptionPause = Duration.milliseconds(100)
}
