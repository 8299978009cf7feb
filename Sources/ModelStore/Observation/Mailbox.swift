internal import Synchronization

/// What a commit did to one observed thing.
protocol ObservedEvent: Sendable {
  /// The latest commit that it tells of.
  var version: UInt64 { get }

  /// This event and the one that follows it as one, or nil when they cancel out.
  func followed(by later: Self) -> Self?
}

/// One subscriber's end: the events that nobody has taken yet, oldest first, and who takes them, a
/// callback on the delivery queue or a loop.
final class Mailbox<Event: ObservedEvent>: Outlet {
  private struct State {
    var events: [Event] = []
    var receive: (@Sendable (Event) -> Void)?
    var reader: CheckedContinuation<Event?, Never>?
    var isPaused = false
    var isSuppressed = false
    /// Whether a commit was left out after the last event, which cannot be told with later ones.
    var isSealed = false
    var isClosed = false

    /// Puts `event` behind the others, or folds it into the last one when there are too many.
    mutating func append(_ event: Event, capacity: Int) {
      let isFolded = events.count >= capacity && !isSealed
      isSealed = false
      guard isFolded, let last = events.popLast() else {
        events.append(event)
        return
      }
      if let both = last.followed(by: event) {
        events.append(both)
      } else if !events.isEmpty {
        // What was sealed off before them stays so.
        isSealed = true
      }
    }
  }

  weak let broker: ChangeBroker?
  private let state = Mutex(State())
  private let capacity: Int
  private let call: CallMode

  /// Whether a write waits for the callback.
  enum CallMode { case queued, awaited }

  init(_ broker: ChangeBroker, backlog: Backlog, call: CallMode = .queued) {
    precondition(backlog.capacity >= 1, "A backlog holds at least one event.")
    self.broker = broker
    self.call = call
    capacity = backlog.capacity
  }

  // Committing thread

  /// Takes up what a commit did.
  func put(_ event: Event) -> ChangeBroker.Outcome {
    let (reader, outcome): (CheckedContinuation<Event?, Never>?, ChangeBroker.Outcome) =
      state.withLock { state in
        guard !state.isClosed else { return (nil, []) }
        guard !state.isSuppressed else {
          state.isSealed = true
          return (nil, [])
        }
        if !state.isPaused, let reader = state.reader {
          state.reader = nil
          return (reader, [])
        }
        // What a write waits for is told with that write's turn, so it does not fold.
        let isAwaited = call == .awaited && !state.isPaused
        state.append(event, capacity: isAwaited ? .max : capacity)
        guard state.receive != nil, !state.isPaused else { return (nil, []) }
        return (nil, call == .awaited ? [.ready, .awaited] : .ready)
      }
    reader?.resume(returning: event)
    return outcome
  }

  func beginSuppression() { state.withLock { $0.isSuppressed = true } }

  func endSuppression() { state.withLock { $0.isSuppressed = false } }

  // Delivery queue

  /// Has `receive` called on the delivery queue, once for each event.
  func whenReady(_ receive: @escaping @Sendable (Event) -> Void) {
    state.withLock { $0.receive = receive }
  }

  /// Calls the receiver with each event that waits, but for those of commits after `version`.
  func deliver(upTo version: UInt64) {
    while let (event, receive) = due(upTo: version) { receive(event) }
  }

  private func due(upTo version: UInt64) -> (Event, @Sendable (Event) -> Void)? {
    state.withLock { state in
      guard !state.isPaused, let receive = state.receive, let first = state.events.first,
        first.version <= version
      else { return nil }
      state.events.removeFirst()
      return (first, receive)
    }
  }

  // Loops

  /// The oldest event, waited for; nil once the mailbox is closed or the task is cancelled.
  ///
  /// - Precondition: One reader at a time.
  func next() async -> Event? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let ready: Event?? = state.withLock { state in
          if state.isClosed { return .some(nil) }
          if !state.isPaused, !state.events.isEmpty { return state.events.removeFirst() }
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

  // Any thread

  func pause() { state.withLock { $0.isPaused = true } }

  func resume() {
    let waiting: (CheckedContinuation<Event?, Never>, Event)? = state.withLock { state in
      state.isPaused = false
      guard let reader = state.reader, !state.events.isEmpty else { return nil }
      state.reader = nil
      return (reader, state.events.removeFirst())
    }
    if let (reader, event) = waiting { reader.resume(returning: event) }
    // Commits from now on bring their own turn on the delivery queue.
    guard let broker else { return }
    let version = broker.version
    broker.enqueue { [self] in deliver(upTo: version) }
  }

  /// Forgets the events that nobody has taken.
  func forget() {
    let forgotten = state.withLock { state in
      let forgotten = state.events
      state.events = []
      return forgotten
    }
    // Released here, outside the lock: values may run code of the program as they go.
    withExtendedLifetime(forgotten) {}
  }

  func close() {
    let (reader, forgotten) = state.withLock { state in
      let released = (state.reader, (state.events, state.receive))
      state = State()
      state.isClosed = true
      return released
    }
    reader?.resume(returning: nil)
    withExtendedLifetime(forgotten) {}
  }
}
