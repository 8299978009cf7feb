internal import Synchronization

/// A gate's observer, as its subscription knows it.
final class VerdictOutlet: Outlet {
  // Never held while the body runs.
  private let body: Mutex<(@Sendable (Gate.Verdict) -> Void)?>
  private let calls = OrderedCalls<Gate.Verdict>(countMax: waitingCountMax)

  /// The most verdicts that wait for a slow body.
  static let waitingCountMax = 1024

  /// To be called when the gate has ended.
  let whenOver: @Sendable () -> Void

  init(
    _ body: @escaping @Sendable (Gate.Verdict) -> Void, whenOver: @escaping @Sendable () -> Void
  ) {
    self.body = Mutex(body)
    self.whenOver = whenOver
  }

  /// No store's commits alone: a gate looks at drafts, too.
  var broker: ChangeBroker? { nil }

  func tell(_ verdict: Gate.Verdict) { calls.put(verdict, call) }

  /// Only the latest verdict waits while it is paused.
  func pause() { calls.pause(keeping: 1) }

  func resume() { calls.resume(call) }

  private func call(_ verdict: Gate.Verdict) {
    let body = body.withLock { $0 }
    body?(verdict)
  }

  /// Ends the calls, and lets the body go.
  func end() {
    // Released outside the lock: its end may run the caller's code.
    let ended = body.withLock { body in
      defer { body = nil }
      return body
    }
    _ = ended
  }

  // A write leaves out observers of its own store only, so it never comes to a gate's.

  func beginSuppression() {}

  func endSuppression() {}
}
