internal import Synchronization

/// The events of one subscription that nobody has taken yet, oldest first. Bounded: when it is
/// full, a further event is folded into the last one, so a slow reader ends with the same state
/// as one that reads always.
final class Mailbox<Event: Sendable>: Sendable {
  private struct State {
    var events: [Event] = []
    var reader: CheckedContinuation<Event?, Never>?
    var isClosed = false
  }

  private let state = Mutex(State())
  private let capacity: Int
  private let fold: @Sendable (Event, Event) -> Event?

  /// - Parameters:
  ///   - capacity: The most events held, at least 1.
  ///   - fold: Both events as one, or nil when they cancel out.
  init(capacity: Int, fold: @escaping @Sendable (Event, Event) -> Event?) {
    precondition(capacity >= 1, "A mailbox holds at least one event.")
    self.capacity = capacity
    self.fold = fold
  }

  func put(_ event: Event) {
    let reader: CheckedContinuation<Event?, Never>? = state.withLock { state in
      guard !state.isClosed else { return nil }
      if let reader = state.reader {
        state.reader = nil
        return reader
      }
      guard state.events.count >= capacity, let last = state.events.popLast() else {
        state.events.append(event)
        return nil
      }
      if let both = fold(last, event) { state.events.append(both) }
      return nil
    }
    reader?.resume(returning: event)
  }

  /// The oldest event, or nil when there is none now that meets the condition.
  func take(if isDue: (Event) -> Bool = { _ in true }) -> Event? {
    state.withLock { state in
      guard !state.isClosed, let first = state.events.first, isDue(first) else { return nil }
      return state.events.removeFirst()
    }
  }

  /// Forgets the events that nobody has taken and puts in `event`.
  func begin(with event: Event) {
    removeAll()
    put(event)
  }

  /// Forgets the events that nobody has taken.
  func removeAll() {
    let forgotten = state.withLock { state in
      let forgotten = state.events
      state.events = []
      return forgotten
    }
    // Released here, outside the lock: values may run code of the program as they go.
    withExtendedLifetime(forgotten) {}
  }

  /// The oldest event, waited for; nil once the mailbox is closed or the task is cancelled.
  ///
  /// - Precondition: One reader at a time.
  func next() async -> Event? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let ready: Event?? = state.withLock { state in
          if state.isClosed { return .some(nil) }
          if !state.events.isEmpty { return state.events.removeFirst() }
          precondition(state.reader == nil, "Two tasks read the same sequence of changes.")
          state.reader = continuation
          return nil
        }
        if let ready { continuation.resume(returning: ready) }
      }
    } onCancel: {
      close()
    }
  }

  func close() {
    let reader = state.withLock { state in
      state.isClosed = true
      state.events.removeAll()
      let reader = state.reader
      state.reader = nil
      return reader
    }
    reader?.resume(returning: nil)
  }
}
