internal import Synchronization

/// One subscriber's end: the events that nobody has taken yet, oldest first, and who takes them, a
/// callback on the delivery queue or a loop.
final class Mailbox<Event: ObservedEvent>: Outlet {
  private struct State {
    /// What waits, as the only element, apart from the mailbox: of very many mailboxes most have
    /// nothing.
    private(set) var waiting: [Waiting] = []
    var capacity: Int
    var receive: (@Sendable (Event) -> Void)?
    var reader: CheckedContinuation<Event?, Never>?
    var call: CallMode
    var isPaused = false
    var isSuppressed = false
    var isClosed = false
    /// Whether nothing more comes. What waits can still be read.
    var isFinished = false

    init(capacity: Int, call: CallMode) {
      self.capacity = capacity
      self.call = call
    }

    /// Puts `event` behind the others, or folds it into the last one when there are too many.
    ///
    /// - Returns: Whether it needs a turn of its own.
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

    /// The first commit that the first event tells of; nil when none waits.
    var firstVersion: UInt64? { waiting.isEmpty ? nil : waiting[0].firstVersion }

    /// Has what follows ask for a turn where one up to `version` was free.
    mutating func endFreeTurn(upTo version: UInt64) {
      guard let turn = waiting.first?.freeTurn, turn <= version else { return }
      waiting[0].freeTurn = nil
      if waiting[0].isOver { waiting = [] }
    }

    /// Keeps what waits apart from what comes.
    mutating func seal() {
      if !waiting.isEmpty { waiting[0].isSealed = true }
    }

    /// Forgets what waits.
    ///
    /// - Returns: What is to be released where no lock is held.
    mutating func forget() -> [Waiting] {
      let forgotten = waiting
      waiting = []
      return forgotten
    }
  }

  /// The events that nobody has taken yet.
  private struct Waiting {
    /// All but the last one while others are folded into that, each with the first commit that it
    /// tells of.
    private var events = WaitingLine<(event: Event, since: UInt64)>()
    /// The last one, with what was folded into it.
    private var folding: (event: Event.Folding, since: UInt64)?
    /// The turn of an event that came to nothing, which is still to come: what follows takes it.
    var freeTurn: UInt64?
    /// Whether a commit was left out after the last event, which cannot be told with later ones.
    var isSealed = false

    /// - Complexity: What `event` takes, however much waits.
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
        // What was sealed off before them stays so.
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

    /// The first commit that the first event tells of. Not its last: that would be later than
    /// every turn for as long as commits come faster than turns.
    var firstVersion: UInt64? { events.first?.since ?? folding?.since }

    /// Whether there is nothing left to remember.
    var isOver: Bool { events.isEmpty && folding == nil && freeTurn == nil }
  }

  /// Whose observation it is; nil once the store is gone.
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

  // Committing thread

  /// Takes up what a commit did.
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
        // What a write waits for is told with that write's turn, so it does not fold.
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

  // Delivery queue

  /// Takes over how another one would keep events and tell them, from the next one on.
  func become(_ options: ObservationOptions, _ coalescing: CoalescingPolicy) {
    precondition(coalescing.capacity >= 1, "A coalescing policy keeps at least one event.")
    state.withLock { state in
      state.capacity = coalescing.capacity
      state.call = CallMode(options)
    }
  }

  /// Has `receive` called on the delivery queue, once for each event.
  func whenReady(_ receive: @escaping @Sendable (Event) -> Void) {
    let former = state.withLock { state in
      let former = state.receive
      state.receive = receive
      return former
    }
    // Released here, outside the lock: its end may run the caller's code.
    withExtendedLifetime(former) {}
  }

  /// Calls the receiver with each event that waits, but for those that tell only of commits after
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

  // Loops

  /// The oldest event, waited for; nil once the mailbox is closed, once it is finished and empty,
  /// or when the task is cancelled.
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

  // Any thread

  func pause() { state.withLock { $0.isPaused = true } }

  func resume() {
    let waiting: (CheckedContinuation<Event?, Never>, Event)? = state.withLock { state in
      state.isPaused = false
      guard let reader = state.reader, let first = state.popFirst() else { return nil }
      state.reader = nil
      return (reader, first)
    }
    if let (reader, event) = waiting { reader.resume(returning: event) }
    // What comes from now on brings its own turn, or is folded into what this one tells.
    guard let broker else { return }
    let version = broker.version
    broker.enqueue { [self] in deliver(upTo: version) }
  }

  /// Forgets the events that nobody has taken.
  func forget() {
    let forgotten = state.withLock { $0.forget() }
    // Released here, outside the lock: values may run code of the program as they go.
    withExtendedLifetime(forgotten) {}
  }

  /// Takes up nothing more. A loop still reads what waits, then ends; a callback is not called
  /// again.
  func finish() {
    let last: (reader: CheckedContinuation<Event?, Never>?, event: Event?)? = state.withLock {
      state in
      guard state.receive == nil else { return nil }
      state.isFinished = true
      guard let reader = state.reader else { return (nil, nil) }
      state.reader = nil
      // A reader waits although there is something only while it is paused.
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
