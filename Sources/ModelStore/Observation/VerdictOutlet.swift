internal import Synchronization

/// A gate's observer, as its subscription knows it.
final class VerdictOutlet: Outlet {
  private struct State {
    var body: (@Sendable (Gate.Verdict) -> Void)?
    var isPaused = false
    /// The latest verdict since it was paused.
    var waiting: Gate.Verdict?
  }

  // Never held while the body runs.
  private let state: Mutex<State>

  init(_ body: @escaping @Sendable (Gate.Verdict) -> Void) {
    state = Mutex(State(body: body))
  }

  /// No store's commits alone: a gate looks at drafts, too.
  var broker: ChangeBroker? { nil }

  func tell(_ verdict: Gate.Verdict) {
    let body = state.withLock { state in
      guard state.isPaused else { return state.body }
      state.waiting = verdict
      return nil
    }
    body?(verdict)
  }

  func pause() {
    state.withLock { $0.isPaused = true }
  }

  func resume() {
    let (body, waiting) = state.withLock { state in
      defer {
        state.isPaused = false
        state.waiting = nil
      }
      return (state.body, state.waiting)
    }
    if let waiting { body?(waiting) }
  }

  /// Ends the calls, and lets the body go.
  func end() {
    // Released outside the lock: its end may run the caller's code.
    let body = state.withLock { state in
      defer { state.body = nil }
      return state.body
    }
    _ = body
  }

  // A write leaves out observers of its own store only, so it never comes to a gate's.

  func beginSuppression() {}

  func endSuppression() {}
}
