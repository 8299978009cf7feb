internal import Synchronization

/// Hands elements to one closure, one at a time and in the order in which they were put, on the
/// thread of whoever put the first of those that wait. Nobody is held up by the closure but them;
/// an element put from within it comes after the present one.
final class OrderedCalls<Element: Sendable>: Sendable {
  private struct State {
    var waiting = WaitingLine<Element>()
    /// The most that wait; the oldest give way.
    var countMax: Int
    var isPaused = false
    var isRunning = false
  }

  private let countMax: Int
  // Never held while the closure runs.
  private let state: Mutex<State>

  /// - Parameter countMax: The most elements that wait while the closure runs; then the oldest give
  ///   way to new ones.
  init(countMax: Int = .max) {
    self.countMax = countMax
    state = Mutex(State(countMax: countMax))
  }

  func put(_ element: Element, _ body: (Element) -> Void) {
    enqueue(element)
    run(body)
  }

  /// Takes its place in the order. It waits until somebody puts another or calls ``run(_:)``.
  func enqueue(_ element: Element) {
    state.withLock { state in
      state.waiting.append(element)
      state.waiting.keepLast(state.countMax)
    }
  }

  /// Calls the closure with all that waits, unless somebody does so already.
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

  /// Lets elements wait, the latest `count` at most.
  func pause(keeping count: Int) {
    state.withLock { state in
      state.isPaused = true
      state.countMax = count
      state.waiting.keepLast(count)
    }
  }

  /// Takes up the calls again, what waits first.
  func resume(_ body: (Element) -> Void) {
    state.withLock { state in
      state.isPaused = false
      state.countMax = countMax
    }
    run(body)
  }
}
