internal import Synchronization

/// One subscriber's queue of undelivered events, oldest first.
///
/// Either a callback on the delivery queue or an asynchronous loop takes the events. A
/// ``RecordObserver`` is its own mailbox, because there may be very many.
class Mailbox<Event: ObservedEvent>: Outlet, @unchecked Sendable {
  // Guard: its properties are constants and a mutex.

  // The properties are ordered and sized so that a mailbox takes few bytes. Not copyable: a copy
  // for each event would count its references.
  private struct State: ~Copyable {
    var receiver: (any EventReceiver<Event>)?
    /// The waiting events and the waiting loop; nil for most mailboxes most of the time.
    private(set) var desk: Desk?
    /// The most events that wait.
    var capacity: UInt32
    var flags: Flags

    init(capacity: UInt32, flags: Flags) {
      self.capacity = capacity
      self.flags = flags
    }

    /// Appends `event`, or coalesces it into the last event if `capacity` is reached.
    ///
    /// - Returns: Whether it needs a turn of its own on the delivery queue, and the number of
    ///   waiting events; nil for that if it was coalesced.
    mutating func append(_ event: Event, capacity: UInt32) -> (needsTurn: Bool, count: Int?) {
      let desk = usedDesk()
      return desk.waiting.append(event, capacity: Int(capacity))
    }

    mutating func popFirst() -> Event? {
      guard let desk else { return nil }
      let first = desk.waiting.popFirst()
      clearDesk()
      return first
    }

    /// The first commit that the first event contains; nil when no event waits.
    var firstVersion: UInt64? { desk?.waiting.firstVersion }

    /// Forgets the unused turn if its commit is at most `version`. The next event then asks for a
    /// turn.
    mutating func endFreeTurn(upTo version: UInt64) {
      guard let desk, let turn = desk.waiting.freeTurn, turn <= version else { return }
      desk.waiting.freeTurn = nil
      clearDesk()
    }

    /// Keeps later events from being coalesced into the waiting ones.
    mutating func seal() {
      guard let desk, !desk.waiting.isOver else { return }
      desk.waiting.isSealed = true
    }

    /// Removes the waiting events.
    ///
    /// - Returns: The removed events, to be released outside the lock.
    mutating func forget() -> Waiting? {
      guard let desk else { return nil }
      let forgotten = desk.waiting
      desk.waiting = Waiting()
      clearDesk()
      return forgotten
    }

    var hasReader: Bool { desk?.reader != nil }

    mutating func setReader(_ reader: Reader) {
      usedDesk().reader = reader
    }

    mutating func takeReader() -> Reader? {
      guard let desk, let reader = desk.reader else { return nil }
      desk.reader = nil
      clearDesk()
      return reader
    }

    private mutating func usedDesk() -> Desk {
      if let desk { return desk }
      let made = Desk()
      desk = made
      return made
    }

    private mutating func clearDesk() {
      if let desk, desk.reader == nil, desk.waiting.isOver { self.desk = nil }
    }
  }

  private struct Flags: OptionSet {
    let rawValue: UInt8

    /// A write waits for the callback.
    static var isAwaited: Flags { Flags(rawValue: 1) }
    static var isPaused: Flags { Flags(rawValue: 2) }
    static var isSuppressed: Flags { Flags(rawValue: 4) }
    static var isClosed: Flags { Flags(rawValue: 8) }
    /// No further events are accepted. Waiting events can still be read.
    static var isFinished: Flags { Flags(rawValue: 16) }
    /// There is a receiver. Reading the receiver itself would copy it.
    static var hasReceiver: Flags { Flags(rawValue: 32) }

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ options: ObservationOptions) {
      self = options.contains(.synchronous) ? .isAwaited : []
    }
  }

  /// What a mailbox has only while events or a loop wait.
  private final class Desk: @unchecked Sendable {
    // Guard: the mailbox's mutex. So accesses need no check for exclusivity either.

    @exclusivity(unchecked) var waiting = Waiting()
    @exclusivity(unchecked) var reader: Reader?
  }

  // `Reader`, `Entry` and `Fold` are objects: to release an optional value of a type that depends
  // on `Event`, Swift would look up that type.

  /// A loop that waits for the next event.
  private final class Reader: Sendable {
    private let continuation: CheckedContinuation<Event?, Never>

    init(_ continuation: CheckedContinuation<Event?, Never>) { self.continuation = continuation }

    func resume(returning event: Event?) { continuation.resume(returning: event) }
  }

  /// An event, and the first commit that it contains.
  private final class Entry: Sendable {
    let event: Event
    let since: UInt64

    init(_ event: Event, since: UInt64) {
      self.event = event
      self.since = since
    }
  }

  /// Events that are being coalesced, and the first commit that they contain.
  private final class Fold {
    /// Used only under the mailbox's mutex.
    @exclusivity(unchecked) private(set) var event: Event.Folding
    let since: UInt64

    init(_ first: Entry) {
      event = Event.Folding(first.event)
      since = first.since
    }

    func add(_ later: Event) { event.add(later) }
  }

  /// The events that are not yet delivered.
  private struct Waiting {
    /// All events, each with the first commit that it contains. Without the last event while that
    /// one is being coalesced.
    private var events = WaitingLine<Entry>()
    /// The last event while others are coalesced into it.
    private var folding: Fold?
    /// The pending turn of an event that cancelled out. The next event takes this turn.
    var freeTurn: UInt64?
    /// Whether a commit was suppressed after the last event. Later commits must not be coalesced
    /// into that event.
    var isSealed = false

    var count: Int { events.count + (folding == nil ? 0 : 1) }

    /// - Complexity: O(size of `event`), independent of the number of waiting events.
    mutating func append(_ event: Event, capacity: Int) -> (needsTurn: Bool, count: Int?) {
      let isFolded = count >= capacity && !isSealed
      isSealed = false
      guard isFolded else {
        endFolding()
        let turn = freeTurn
        freeTurn = nil
        events.append(Entry(event, since: turn ?? event.version))
        return (turn == nil, count)
      }
      if folding == nil { folding = events.popLast().map(Fold.init) }
      folding?.add(event)
      if let fold = folding, fold.event.isEmpty {
        folding = nil
        freeTurn = fold.since
        // Events before the cancelled one stay sealed.
        isSealed = !events.isEmpty
      }
      return (false, nil)
    }

    mutating func popFirst() -> Event? {
      if events.isEmpty { endFolding() }
      return events.popFirst()?.event
    }

    private mutating func endFolding() {
      if let folding { events.append(Entry(folding.event.event, since: folding.since)) }
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

  init(_ scope: ObservationScope?, options: ObservationOptions = [], coalescing: CoalescingPolicy) {
    self.scope = scope
    state = Mutex(State(capacity: Self.capacity(coalescing), flags: Flags(options)))
  }

  private static func capacity(_ coalescing: CoalescingPolicy) -> UInt32 {
    precondition(coalescing.capacity >= 1, "A coalescing policy keeps at least one event.")
    return UInt32(clamping: coalescing.capacity)
  }

  // Called on the committing thread

  /// Accepts the event of a commit.
  final func put(_ event: Event) -> ChangeBroker.Outcome {
    var backlog: Int?
    var reader: Reader?
    let outcome = state.withLock { state -> ChangeBroker.Outcome in
      let flags = state.flags
      guard flags.isDisjoint(with: [.isClosed, .isFinished]) else { return [] }
      guard !flags.contains(.isSuppressed) else {
        state.seal()
        return []
      }
      let isPaused = flags.contains(.isPaused)
      if !isPaused, state.hasReader {
        reader = state.takeReader()
        return []
      }
      // A write waits for this event, so it is delivered in that write's turn and never coalesced.
      let isAwaited = flags.contains(.isAwaited) && !isPaused
      let (needsTurn, count) = state.append(event, capacity: isAwaited ? .max : state.capacity)
      if let count, Self.isReported(count) { backlog = count }
      guard needsTurn, flags.contains(.hasReceiver), !isPaused else { return [] }
      return isAwaited ? [.ready, .awaited] : .ready
    }
    reader?.resume(returning: event)
    if let backlog { scope?.reportBacklog(backlog) }
    return outcome
  }

  /// Whether a number of waiting events is reported: 64, 128, 256 and so on.
  private static func isReported(_ count: Int) -> Bool {
    count >= 64 && count & (count - 1) == 0
  }

  final func beginSuppression() { state.withLock { _ = $0.flags.insert(.isSuppressed) } }

  final func endSuppression() { state.withLock { _ = $0.flags.remove(.isSuppressed) } }

  // Called on the delivery queue

  /// Takes over the options and the coalescing policy of another observation, from the next event
  /// on.
  final func become(_ options: ObservationOptions, _ coalescing: CoalescingPolicy) {
    let capacity = Self.capacity(coalescing)
    state.withLock { state in
      state.capacity = capacity
      state.flags.remove(.isAwaited)
      state.flags.formUnion(Flags(options))
    }
  }

  /// Calls `receive` on the delivery queue once for each event.
  final func whenReady(_ receive: @escaping @Sendable (Event) -> Void) {
    whenReady(EventCallback(receive: receive))
  }

  /// Passes each event to `receiver` on the delivery queue.
  final func whenReady(_ receiver: any EventReceiver<Event>) {
    let former = state.withLock { state in
      let former = state.receiver
      state.receiver = receiver
      state.flags.insert(.hasReceiver)
      return former
    }
    // Released outside the lock: the closure's deinitialization may run the caller's code.
    withExtendedLifetime(former) {}
  }

  /// Calls the receiver with each waiting event, except events that contain only commits after
  /// `version`.
  final func deliver(upTo version: UInt64) {
    while let (event, receiver) = due(upTo: version) { receiver.receive(event) }
  }

  private func due(upTo version: UInt64) -> (Event, any EventReceiver<Event>)? {
    state.withLock { state in
      state.endFreeTurn(upTo: version)
      guard !state.flags.contains(.isPaused), let receiver = state.receiver,
        let first = state.firstVersion, first <= version
      else { return nil }
      return state.popFirst().map { ($0, receiver) }
    }
  }

  // Called by loops

  /// Waits for the oldest event and returns it. Returns nil once the mailbox is closed, once it is
  /// finished and empty, and when the task is cancelled.
  ///
  /// - Precondition: One reader at a time.
  final func next() async -> Event? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let ready: Event?? = state.withLock { state in
          let isFinished = state.flags.contains(.isFinished)
          if state.flags.contains(.isClosed) { return .some(nil) }
          if !state.flags.contains(.isPaused) || isFinished, let first = state.popFirst() {
            return first
          }
          if isFinished { return .some(nil) }
          precondition(!state.hasReader, "Two tasks read the same sequence of changes.")
          state.setReader(Reader(continuation))
          return nil
        }
        if let ready { continuation.resume(returning: ready) }
      }
    } onCancel: {
      close()
    }
  }

  // Called on any thread

  final func pause() { state.withLock { _ = $0.flags.insert(.isPaused) } }

  final func resume() {
    let waiting: (Reader, Event)? = state.withLock { state in
      state.flags.remove(.isPaused)
      guard state.hasReader, let first = state.popFirst(), let reader = state.takeReader() else {
        return nil
      }
      return (reader, first)
    }
    if let (reader, event) = waiting { reader.resume(returning: event) }
    // Later events bring their own turn, or are coalesced into an event of this turn.
    guard let broker else { return }
    let version = broker.version
    broker.enqueue { [self] in deliver(upTo: version) }
  }

  /// Removes the undelivered events.
  final func forget() {
    let forgotten = state.withLock { $0.forget() }
    // Released outside the lock: deinitializing values may run the caller's code.
    withExtendedLifetime(forgotten) {}
  }

  /// Accepts no further events. A loop reads the waiting events and then ends; a callback is not
  /// called again.
  final func finish() {
    let last: (reader: Reader?, event: Event?)? = state.withLock { state in
      guard state.receiver == nil else { return nil }
      state.flags.insert(.isFinished)
      guard state.hasReader else { return (nil, nil) }
      // A reader waits although there is an event only while the mailbox is paused.
      let event = state.popFirst()
      return (state.takeReader(), event)
    }
    guard let last else { return close() }
    last.reader?.resume(returning: last.event)
  }

  final func close() {
    let (reader, forgotten) = state.withLock { state in
      let reader = state.takeReader()
      let released = (reader, (state.forget(), state.receiver))
      let options = state.flags.intersection(.isAwaited)
      state = State(capacity: state.capacity, flags: options.union(.isClosed))
      return released
    }
    reader?.resume(returning: nil)
    withExtendedLifetime(forgotten) {}
  }

  /// Whether it was closed: nothing that it received can be read any more.
  final var isClosed: Bool { state.withLock { $0.flags.contains(.isClosed) } }
}

/// What takes the events of a ``Mailbox`` on the delivery queue.
///
/// Implementations of up to three words need no allocation, unlike a closure that captures as much.
protocol EventReceiver<Event>: Sendable {
  associatedtype Event

  func receive(_ event: Event)
}

private struct EventCallback<Event>: EventReceiver {
  let receive: @Sendable (Event) -> Void

  func receive(_ event: Event) { receive(event) }
}
