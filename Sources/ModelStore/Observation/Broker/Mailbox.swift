internal import Synchronization

/// One subscriber's queue of undelivered events, oldest first.
///
/// Either a callback on the delivery queue or an asynchronous loop takes the events.
final class Mailbox<Event: ObservedEvent>: Outlet {
  private struct State {
    /// The waiting events, in an array of at most one element. Most mailboxes are empty, so the
    /// storage is kept outside the mailbox.
    private(set) var waiting: [Waiting] = []
    var capacity: Int
    var receive: (@Sendable (Event) -> Void)?
    var reader: CheckedContinuation<Event?, Never>?
    var call: CallMode
    var isPaused = false
    var isSuppressed = false
    var isClosed = false
    /// Whether no further events are accepted. Waiting events can still be read.
    var isFinished = false

    init(capacity: Int, call: CallMode) {
      self.capacity = capacity
      self.call = call
    }

    /// Appends `event`, or coalesces it into the last event if `capacity` is reached.
    ///
    /// - Returns: Whether it needs a turn of its own on the delivery queue.
    mutating func append(_ event: Event, capacity: Int) -> Bool {
      if waiting.isEmpty { waiting.append(Waiting()) }
      return waiting[0].append(event, capacity: capacity)
    }

    mutating func popFirst() -> Event? {
      guard !waiting.isEmpty else { return nil }
      let first = waiting[0].popFirst()
      if waiting[0].isOver { waiting = [] }
      return first
    }

    /// The first commit that the first event contains; nil when no event waits.
    var firstVersion: UInt64? { waiting.isEmpty ? nil : waiting[0].firstVersion }

    /// Forgets the unused turn if its commit is at most `version`. The next event then asks for a
    /// turn.
    mutating func endFreeTurn(upTo version: UInt64) {
      guard let turn = waiting.first?.freeTurn, turn <= version else { return }
      waiting[0].freeTurn = nil
      if waiting[0].isOver { waiting = [] }
    }

    /// Keeps later events from being coalesced into the waiting ones.
    mutating func seal() {
      if !waiting.isEmpty { waiting[0].isSealed = true }
    }

    /// Removes the waiting events.
    ///
    /// - Returns: The removed events, to be released outside the lock.
    mutating func forget() -> [Waiting] {
      let forgotten = waiting
      waiting = []
      return forgotten
    }
  }

  /// The events that are not yet delivered.
  private struct Waiting {
    /// All events, each with the first commit that it contains. Without the last event while that
    /// one is being coalesced.
    private var events = WaitingLine<(event: Event, since: UInt64)>()
    /// The last event while others are coalesced into it.
    private var folding: (event: Event.Folding, since: UInt64)?
    /// The pending turn of an event that cancelled out. The next event takes this turn.
    var freeTurn: UInt64?
    /// Whether a commit was suppressed after the last event. Later commits must not be coalesced
    /// into that event.
    var isSealed = false

    /// - Complexity: O(size of `event`), independent of the number of waiting events.
    mutating func append(_ event: Event, capacity: Int) -> Bool {
      let count = events.count + (folding == nil ? 0 : 1)
      let isFolded = count >= capacity && !isSealed
      isSealed = false
      guard isFolded else {
        endFolding()
        let turn = freeTurn
        freeTurn = nil
        events.append((event, turn ?? event.version))
        return turn == nil
      }
      if folding == nil {
        folding = events.popLast().map { (Event.Folding($0.event), $0.since) }
      }
      folding?.event.add(event)
      if let (event, since) = folding, event.isEmpty {
        folding = nil
        freeTurn = since
        // Events before the cancelled one stay sealed.
        isSealed = !events.isEmpty
      }
      return false
    }

    mutating func popFirst() -> Event? {
      if events.isEmpty { endFolding() }
      return events.popFirst()?.event
    }

    private mutating func endFolding() {
      if let folding { events.append((folding.event.event, folding.since)) }
      folding = nil
    }

    /// The first commit that the first event contains. Its last commit would not do: while commits
    /// come faster than turns, that is later than every turn.
    var firstVersion: UInt64? { events.first?.since ?? folding?.since }

    /// Whether all state is gone.
    var isOver: Bool { events.isEmpty && folding == nil && freeTurn == nil }
  }

  /// The scope of the observation; nil once the store is gone.
  weak let scope: ObservationScope?
  private let state: Mutex<State>

  var broker: ChangeBroker? { scope?.broker }

  /// Whether a write waits for the callback.
  private enum CallMode {
    case queued, awaited

    init(_ options: ObservationOptions) {
      self = options.contains(.synchronous) ? .awaited : .queued
    }
  }

  init(_ scope: ObservationScope?, options: ObservationOptions = [], coalescing: CoalescingPolicy) {
    precondition(coalescing.capacity >= 1, "A coalescing policy keeps at least one event.")
    self.scope = scope
    state = Mutex(State(capacity: coalescing.capacity, call: CallMode(options)))
  }

  // Called on the committing thread

  /// Accepts the event of a commit.
  func put(_ event: Event) -> ChangeBroker.Outcome {
    let (reader, outcome): (CheckedContinuation<Event?, Never>?, ChangeBroker.Outcome) =
      state.withLock { state in
        guard !state.isClosed, !state.isFinished else { return (nil, []) }
        guard !state.isSuppressed else {
          state.seal()
          return (nil, [])
        }
        if !state.isPaused, let reader = state.reader {
          state.reader = nil
          return (reader, [])
        }
        // A write waits for this event, so it is delivered in that write's turn and never
        // coalesced.
        let isAwaited = state.call == .awaited && !state.isPaused
        let needsTurn = state.append(event, capacity: isAwaited ? .max : state.capacity)
        guard needsTurn, state.receive != nil, !state.isPaused else { return (nil, []) }
        return (nil, isAwaited ? [.ready, .awaited] : .ready)
      }
    reader?.resume(returning: event)
    return outcome
  }

  func beginSuppression() { state.withLock { $0.isSuppressed = true } }

  func endSuppression() { state.withLock { $0.isSuppressed = false } }

  // Called on the delivery queue

  /// Takes over the options and the coalescing policy of another observation, from the next event
  /// on.
  func become(_ options: ObservationOptions, _ coalescing: CoalescingPolicy) {
    precondition(coalescing.capacity >= 1, "A coalescing policy keeps at least one event.")
    state.withLock { state in
      state.capacity = coalescing.capacity
      state.call = CallMode(options)
    }
  }

  /// Calls `receive` on the delivery queue once for each event.
  func whenReady(_ receive: @escaping @Sendable (Event) -> Void) {
    let former = state.withLock { state in
      let former = state.receive
      state.receive = receive
      return former
    }
    // Released outside the lock: the closure's deinitialization may run the caller's code.
    withExtendedLifetime(former) {}
  }

  /// Calls the receiver with each waiting event, except events that contain only commits after
  /// `version`.
  func deliver(upTo version: UInt64) {
    while let (event, receive) = due(upTo: version) { receive(event) }
  }

  private func due(upTo version: UInt64) -> (Event, @Sendable (Event) -> Void)? {
    state.withLock { state in
      state.endFreeTurn(upTo: version)
      guard !state.isPaused, let receive = state.receive, let first = state.firstVersion,
        first <= version
      else { return nil }
      return state.popFirst().map { ($0, receive) }
    }
  }

  // Called by loops

  /// Waits for the oldest event and returns it. Returns nil once the mailbox is closed, once it is
  /// finished and empty, and when the task is cancelled.
  ///
  /// - Precondition: One reader at a time.
  func next() async -> Event? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let ready: Event?? = state.withLock { state in
          if state.isClosed { return .some(nil) }
          if !state.isPaused || state.isFinished, let first = state.popFirst() { return first }
          if state.isFinished { return .some(nil) }
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

  // Called on any thread

  func pause() { state.withLock { $0.isPaused = true } }

  func resume() {
    let waiting: (CheckedContinuation<Event?, Never>, Event)? = state.withLock { state in
      state.isPaused = false
      guard let reader = state.reader, let first = state.popFirst() else { return nil }
      state.reader = nil
      return (reader, first)
    }
    if let (reader, event) = waiting { reader.resume(returning: event) }
    // Later events bring their own turn, or are coalesced into an event of this turn.
    guard let broker else { return }
    let version = broker.version
    broker.enqueue { [self] in deliver(upTo: version) }
  }

  /// Removes the undelivered events.
  func forget() {
    let forgotten = state.withLock { $0.forget() }
    // Released outside the lock: deinitializing values may run the caller's code.
    withExtendedLifetime(forgotten) {}
  }

  /// Accepts no further events. A loop reads the waiting events and then ends; a callback is not
  /// called again.
  func finish() {
    let last: (reader: CheckedContinuation<Event?, Never>?, event: Event?)? = state.withLock {
      state in
      guard state.receive == nil else { return nil }
      state.isFinished = true
      guard let reader = state.reader else { return (nil, nil) }
      state.reader = nil
      // A reader waits although there is an event only while the mailbox is paused.
      return (reader, state.popFirst())
    }
    guard let last else { return close() }
    last.reader?.resume(returning: last.event)
  }

  func close() {
    let (reader, forgotten) = state.withLock { state in
      let released = (state.reader, (state.forget(), state.receive))
      state = State(capacity: state.capacity, call: state.call)
      state.isClosed = true
      return released
    }
    reader?.resume(returning: nil)
    withExtendedLifetime(forgotten) {}
  }
}
