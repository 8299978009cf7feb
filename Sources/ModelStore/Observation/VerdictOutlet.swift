internal import Synchronization

/// A gate's observer, as its subscription knows it.
final class VerdictOutlet: Outlet {
  private struct State {
    var body: (@Sendable (Gate.Verdict) -> Void)?
    var isPaused = false
    /// Whether somebody is handing over what waits.
    var isTelling = false
    /// Oldest first; one at most while it is paused.
    var waiting: [Gate.Verdict] = []
  }

  // Never held while the body runs.
  private let state: Mutex<State>

  init(_ body: @escaping @Sendable (Gate.Verdict) -> Void) {
    state = Mutex(State(body: body))
  }

  /// No store's commits alone: a gate looks at drafts, too.
  var broker: ChangeBroker? { nil }

  func tell(_ verdict: Gate.Verdict) {
    state.withLock { state in
      if state.isPaused { state.waiting = [] }
      state.waiting.append(verdict)
    }
    handOver()
  }

  func pause() {
    state.withLock { state in
      state.isPaused = true
      state.waiting = state.waiting.suffix(1)
    }
  }

  func resume() {
    state.withLock { $0.isPaused = false }
    handOver()
  }

  /// Calls the body with what waits, one verdict after the other, unless somebody does so already.
  private func handOver() {
    let isFirst = state.withLock { state in
      defer { state.isTelling = true }
      return !state.isTelling
    }
    guard isFirst else { return }
    while let (verdict, body) = next() { body(verdict) }
  }

  private func next() -> (Gate.Verdict, @Sendable (Gate.Verdict) -> Void)? {
    state.withLock { state in
      guard !state.isPaused, let body = state.body, !state.waiting.isEmpty else {
        state.isTelling = false
        return nil
      }
      return (state.waiting.removeFirst(), body)
    }
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
