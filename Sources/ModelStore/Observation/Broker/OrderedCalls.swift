internal import Synchronization

/// Serialized calls of a closure: one element at a time, in the order in which they were put.
///
/// The thread that puts the first waiting element runs the calls. Other threads do not wait for the
/// closure. An element that the closure itself puts comes after the current one.
final class OrderedCalls<Element: Sendable>: Sendable {
  private struct State {
    var waiting = WaitingLine<Element>()
    /// The most elements that wait; the oldest are dropped.
    var countMax: Int
    var isPaused = false
    var isRunning = false
  }

  private let countMax: Int
  // Never held while the closure runs.
  private let state: Mutex<State>

  /// - Parameter countMax: The most elements that wait while the closure runs. Beyond it the oldest
  ///   are dropped.
  init(countMax: Int = .max) {
    self.countMax = countMax
    state = Mutex(State(countMax: countMax))
  }

  func put(_ element: Element, _ body: (Element) -> Void) {
    enqueue(element)
    run(body)
  }

  /// Appends `element` without calling the closure. It waits for the next `put` or ``run(_:)``.
  func enqueue(_ element: Element) {
    state.withLock { state in
      state.waiting.append(element)
      state.waiting.keepLast(state.countMax)
    }
  }

  /// Calls the closure with all waiting elements, unless another thread is already doing so.
  func run(_ body: (Element) -> Void) {
    let isFirst = state.withLock { state in
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard isFirst else { return }
    while let next = next() { body(next) }
  }

  private func next() -> Element? {
    state.withLock { state in
      let next = state.isPaused ? nil : state.waiting.popFirst()
      if next == nil { state.isRunning = false }
      return next
    }
  }

  /// Pauses the calls. At most the latest `count` elements wait.
  func pause(keeping count: Int) {
    state.withLock { state in
      state.isPaused = true
      state.countMax = count
      state.waiting.keepLast(count)
    }
  }

  /// Resumes the calls, starting with the waiting elements.
  func resume(_ body: (Element) -> Void) {
    state.withLock { state in
      state.isPaused = false
      state.countMax = countMax
    }
    run(body)
  }
}
