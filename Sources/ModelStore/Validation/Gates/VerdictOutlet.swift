internal import Synchronization

/// A gate's observer, as its token sees it.
final class VerdictOutlet: Outlet {
  // Never held while the body runs.
  private let body: Mutex<(@Sendable (Gate.Verdict) -> Void)?>
  private let calls = OrderedCalls<Gate.Verdict>(countMax: waitingCountMax)

  /// The most verdicts that wait for a slow body.
  static let waitingCountMax = 1024

  /// Called when the gate has ended.
  let whenOver: @Sendable () -> Void

  init(
    _ body: @escaping @Sendable (Gate.Verdict) -> Void, whenOver: @escaping @Sendable () -> Void
  ) {
    self.body = Mutex(body)
    self.whenOver = whenOver
  }

  /// nil, because a gate also observes drafts and belongs to no single broker.
  var broker: ChangeBroker? { nil }

  func tell(_ verdict: Gate.Verdict) { calls.put(verdict, call) }

  /// Keeps only the latest verdict while paused.
  func pause() { calls.pause(keeping: 1) }

  func resume() { calls.resume(call) }

  private func call(_ verdict: Gate.Verdict) {
    let body = body.withLock { $0 }
    body?(verdict)
  }

  /// Ends the calls and releases the body.
  func end() {
    // Released outside the lock: its deinitialization may run the caller's code.
    let ended = body.withLock { body in
      defer { body = nil }
      return body
    }
    _ = ended
  }

  // A write suppresses only observers of its own store, so it never reaches a gate's.

  func beginSuppression() {}

  func endSuppression() {}
}
