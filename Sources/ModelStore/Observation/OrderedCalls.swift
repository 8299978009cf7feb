internal import Synchronization

/// Hands elements to one closure, one at a time and in the order in which they were put, on the
/// thread of whoever put the first of those that wait. Nobody is held up by the closure but them;
/// an element put from within it comes after the present one.
final class OrderedCalls<Element: Sendable>: Sendable {
  private struct State {
    var waiting: [Element] = []
    var isRunning = false
  }

  // Never held while the closure runs.
  private let state = Mutex(State())

  func put(_ element: Element, _ body: (Element) -> Void) {
    let isFirst = state.withLock { state in
      state.waiting.append(element)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard isFirst else { return }
    while let next = next() { body(next) }
  }

  private func next() -> Element? {
    state.withLock { state in
      if state.waiting.isEmpty {
        state.isRunning = false
        return nil
      }
      return state.waiting.removeFirst()
    }
  }
}
