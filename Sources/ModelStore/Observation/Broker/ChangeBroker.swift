internal import Dispatch
internal import Synchronization

/// The delivery of each commit, once and in commit order, to the observers it concerns.
///
/// The broker does not work out what changed: it receives complete change sets.
///
/// Routing runs on the committing thread while that thread still owns the writer, so commits arrive
/// in order. Callbacks run on the broker's own serial queue: commit by commit and, within one
/// commit, in the order of registration. A callback may write, observe and cancel.
final class ChangeBroker: Sendable {
  /// An observer of commits. Its methods are called on the committing thread, except `deliver`.
  protocol Observer: AnyObject, Sendable {
    /// What it observes: at least one interest, and at most one for each model.
    var interests: [Interest] { get }
    /// The model of its first interest.
    var model: String { get }
    func note(_ commit: Commit) -> Outcome
    /// Whether `note` may read the file to follow a commit that is not a reset. It may change.
    var readsFile: Bool { get }
    /// Whether ``readsFile`` may ever be true, apart from subscribers that ``FileReaders`` counts.
    /// It does not change.
    var mayReadFile: Bool { get }
    /// Hands the noted events to the subscriber, except events that contain only commits after
    /// `version`. Called on the delivery queue.
    func deliver(upTo version: UInt64)
    /// Whether `deliver` calls each subscriber in the cascade of its event. Otherwise it runs in
    /// the cascade of the commit, extended by the observer's model.
    var extendsCascade: Bool { get }
  }

  /// What an observer did with a commit.
  struct Outcome: OptionSet {
    let rawValue: UInt8

    /// There is something to deliver when the commit's turn comes.
    static let ready = Outcome(rawValue: 1)
    /// The observer could not apply the commit. The next commit, of any model, reaches it as a
    /// reset.
    static let failed = Outcome(rawValue: 2)
    /// The writing thread waits until the event is delivered.
    static let awaited = Outcome(rawValue: 4)
  }

  /// The records of one model that an observer receives changes of.
  struct Interest: Hashable, Sendable {
    var model: String
    var records: Records = .all
    /// The fields whose values it reads; nil for all.
    var fields: Set<Int>?

    enum Records: Hashable, Sendable {
      case all
      /// The record with this key.
      case one(RecordIdentity, KeyIdentity)
      /// Records whose field has this value before or after the change. The value is normalized by
      /// ``QueryRegion/normalized(_:)``.
      case having(field: Int, value: SQLValue)
      /// Records whose field has a value of this range before or after the change.
      case within(ValueRange)
    }
  }

  /// A commit to publish to observers.
  struct Announcement {
    /// Every change of observed models.
    var changes: [RecordChange] = []
    /// The edits of ordered lists.
    var edits: [ListIdentity: ListEdits] = [:]
    /// Whether `changes` is incomplete for all observers.
    var isReset = false
    /// The models for which `changes` is incomplete.
    var resetModels: Set<String> = []
    /// The latest observer whose interest the changes cover. An observer that was added later,
    /// while the transaction ran, receives a reset.
    var knownObserver = UInt64.max
    /// The chain of callbacks that led to the writing transaction.
    var wave = Wave()
    /// Subscribers that do not receive this commit.
    var suppressed: [any Outlet] = []
    /// Whether the file already contains later writes, which are published next. Observers that
    /// need a reset receive it with the last of them, whose state they can read.
    var isFollowed = false
    /// Whether the connection keeps reading the state of the commit. If not, observers that need a
    /// reset wait for the next announcement.
    var isHeld = true

    /// Changes that are unknown or too many to list.
    static var reset: Announcement { Announcement(isReset: true) }

    /// No changes. Observers that could not apply an earlier commit receive a reset.
    static var nothing: Announcement { Announcement() }
  }

  /// What the mutex guards.
  struct State {
    /// All observers except those of single records, which `routes` has.
    var observers: [UInt64: ObserverSeat] = [:]
    /// The number of observers that may read the file, apart from those in ``readers``.
    var readerCount = 0
    var routes = ChangeRoutes()
    /// Observers that could not apply an earlier commit.
    var failed: Set<UInt64> = []
    var nextNumber: UInt64 = 0
    var version: UInt64 = 0
    var generation: UInt64 = 0
    /// The number of deliveries that a writer waited for and that are finished.
    var settledCount: UInt64 = 0
    var audienceChanged: (@Sendable () -> Void)?

    var observerCount: Int { observers.count + routes.recordObserverCount }

    mutating func add(_ observer: any Observer, as number: UInt64, _ interests: [Interest]) {
      let seat = ObserverSeat(number, observer, interests: interests)
      observers[number] = seat
      for interest in interests {
        if routes.add(seat, for: interest) { generation += 1 }
      }
    }
  }

  /// The number of deliveries so far that a writer waits for.
  private let awaited = Atomic<UInt64>(0)
  // Never held while a subscriber's code runs.
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "modelstore.delivery", qos: .userInitiated)
  private let pace: DeliveryPace
  /// The subscribers of live results that read the file.
  let readers = FileReaders()
  /// Marks the delivery queue of this broker.
  private let mark = DispatchSpecificKey<Bool>()

  init(pace: DeliveryPace = DeliveryPace()) {
    self.pace = pace
    queue.setSpecific(key: mark, value: true)
  }

  /// Whether the caller runs inside a callback of this broker.
  var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) ?? false }

  /// The number of the latest published commit.
  var version: UInt64 { state.withLock { $0.version } }

  /// A number that increases whenever ``interests()`` may have changed.
  var generation: UInt64 { state.withLock { $0.generation } }

  /// The number of the latest observer. Observers added later have higher numbers.
  var latestObserver: UInt64 { state.withLock { $0.nextNumber } }

  /// Whether there are any observers.
  var hasObservers: Bool { state.withLock { $0.observerCount > 0 } }

  /// Calls `body` when the first observer is added and when the last one is removed. Calls can
  /// overtake each other, so read ``hasObservers`` for the current state.
  func onAudienceChange(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.audienceChanged = body }
  }

  /// For each observed model, the fields to read; nil for all.
  func interests() -> [String: Set<Int>?] {
    state.withLock { $0.routes.interests }
  }

  /// Returns whether a row that is about to change may concern an observer; see
  /// ``ChangeRoutes/mayConcern(_:of:)``. The closure retains the broker, which retains nothing of
  /// the writer.
  var concern: @Sendable (TrackedTable, borrowing PreupdateRow) -> Bool {
    { [self] table, row in state.withLock { $0.routes.mayConcern(row, of: table) } }
  }

  /// Adds `observer`. No commit can come between adding it and starting it.
  ///
  /// - Returns: A closure that removes the observer.
  func add(_ observer: some Observer) -> @Sendable () -> Void {
    let number = enter(observer)
    return { [weak self] in self?.remove(number) }
  }

  /// Adds `observer` as ``add(_:)`` does.
  ///
  /// - Returns: The observer's number. Pass it to ``remove(_:)`` to end the observation.
  func enter(_ observer: some Observer) -> UInt64 {
    let interests = observer.interests
    let mayReadFile = observer.mayReadFile
    let (number, audienceChanged) = state.withLock { state in
      state.nextNumber += 1
      let number = state.nextNumber
      state.add(observer, as: number, interests)
      if mayReadFile { state.readerCount += 1 }
      return (number, state.observerCount == 1 ? state.audienceChanged : nil)
    }
    audienceChanged?()
    return number
  }

  /// Adds an observer of records, unless it has ended.
  func enter(_ observer: RecordObserver) {
    let interests = observer.isOfAllRecords ? observer.interests : []
    let audienceChanged = state.withLock { state -> (@Sendable () -> Void)? in
      guard observer.begins(as: state.nextNumber + 1) else { return nil }
      state.nextNumber += 1
      if observer.isOfAllRecords {
        state.add(observer, as: state.nextNumber, interests)
      } else if state.routes.add(observer) {
        state.generation += 1
      }
      return state.observerCount == 1 ? state.audienceChanged : nil
    }
    audienceChanged?()
  }

  /// Removes an observer of records, which has this number.
  func remove(_ observer: RecordObserver, number: UInt64) {
    guard !observer.isOfAllRecords else { return remove(number) }
    let audienceChanged = state.withLock { state -> (@Sendable () -> Void)? in
      state.failed.remove(number)
      let (isFound, changes) = state.routes.remove(observer)
      if changes { state.generation += 1 }
      return isFound && state.observerCount == 0 ? state.audienceChanged : nil
    }
    audienceChanged?()
  }

  /// All observers, in the order of registration.
  ///
  /// - Complexity: O(n log n) for n observers.
  var observers: [any Observer] {
    state.withLock { state in
      var numbered = state.observers.values.compactMap { seat in
        seat.observer.map { (number: seat.number, observer: $0) }
      }
      state.routes.forEachRecordObserver { numbered.append((number: $1, observer: $0)) }
      return numbered.sorted { $0.number < $1.number }.map(\.observer)
    }
  }

  /// Removes the observer with this number. It receives no further commits.
  func remove(_ number: UInt64) {
    let (removed, audienceChanged) = state.withLock {
      state -> (ObserverSeat?, (@Sendable () -> Void)?) in
      guard let seat = state.observers.removeValue(forKey: number), let observer = seat.observer
      else { return (nil, nil) }
      state.failed.remove(number)
      if observer.mayReadFile { state.readerCount -= 1 }
      for interest in seat.interests {
        if state.routes.remove(number, for: interest) { state.generation += 1 }
      }
      return (seat, state.observerCount == 0 ? state.audienceChanged : nil)
    }
    audienceChanged?()
    // Released outside the lock: the observer's deinitialization may run the caller's code.
    _ = removed
  }

  /// Publishes a commit.
  ///
  /// - Returns: The commit as it was published.
  /// - Complexity: O(changes + observers concerned); O(all observers) for a reset.
  @discardableResult
  func publish(_ announcement: Announcement) -> ChangeSet {
    // A suppressed observer that failed earlier must receive its reset before it skips this commit.
    if !announcement.suppressed.isEmpty, hasFailed { publish(.nothing) }
    let (published, matches) = state.withLock { state in
      state.version += 1
      let published = ChangeSet(version: state.version, changes: announcement.changes)
      guard state.observerCount > 0 else { return (published, Matches()) }
      return (published, Self.route(published, announcement, in: &state))
    }
    guard !matches.isEmpty else { return published }
    for outlet in announcement.suppressed { outlet.beginSuppression() }
    let noted = note(published, announcement, to: matches)
    for outlet in announcement.suppressed { outlet.endSuppression() }
    if !noted.failed.isEmpty {
      state.withLock { state in
        state.failed.formUnion(noted.failed.filter { state.observers[$0] != nil })
      }
    }
    enqueue(for: noted.ready.isEmpty ? [] : noted.isAwaited ? [.ready, .awaited] : .ready) {
      [ready = noted.ready, wave = announcement.wave] in
      for observer in ready {
        guard !observer.extendsCascade else {
          observer.deliver(upTo: published.version)
          continue
        }
        Wave.$current.withValue(wave.heard(at: ObservedPath(model: observer.model))) {
          observer.deliver(upTo: published.version)
        }
      }
    }
    return published
  }

  /// What observers did with a commit.
  private struct Noted {
    var ready: [any Observer] = []
    var failed: [UInt64] = []
    var isAwaited = false
  }

  /// Passes a commit to the observers that it concerns, in the order of registration.
  private func note(
    _ published: ChangeSet, _ announcement: Announcement, to matches: Matches
  ) -> Noted {
    var noted = Noted()
    // A write publishes in the cascade that it belongs to, and setting it again for each observer
    // would cost more than the rest.
    let isInWave = Wave.current == announcement.wave
    let frame = Commit.Frame(
      version: published.version, edits: announcement.edits, wave: announcement.wave)
    matches.forEachObserver(published.changes) { number, observer, part, isReset in
      let commit = Commit(frame, part, isReset: isReset)
      let outcome =
        isInWave
        ? observer.note(commit)
        : Wave.$current.withValue(frame.wave) { observer.note(commit) }
      if outcome.contains(.ready) { noted.ready.append(observer) }
      if outcome.contains(.failed) { noted.failed.append(number) }
      if outcome.contains(.awaited) { noted.isAwaited = true }
    }
    return noted
  }

  /// Whether an observer that could not apply an earlier commit waits for a reset.
  var hasFailed: Bool { state.withLock { !$0.failed.isEmpty } }

  /// Returns whether publishing a write may read the file: an observer that reads it follows the
  /// write, or an observer needs a reset.
  ///
  /// - Parameter knownObserver: The latest observer whose interest `changes` cover.
  /// - Complexity: As ``hasReader(of:)``, or O(all observers) if there are later observers.
  func mayRead(_ changes: [RecordChange], knownObserver: UInt64) -> Bool {
    let (hasReset, hasReader) = state.withLock { state in
      (
        !state.failed.isEmpty || state.hasObservers(after: knownObserver),
        state.readerCount > 0 || !readers.isEmpty
      )
    }
    return hasReset || hasReader && !changes.isEmpty && self.hasReader(of: changes)
  }

  /// Returns whether an observer that `changes` concern may read the file to follow them.
  ///
  /// - Complexity: O(changes + observers concerned); O(1) if no observer reads the file.
  func hasReader(of changes: [RecordChange]) -> Bool {
    state.withLock { state in
      guard state.readerCount > 0 || !readers.isEmpty else { return false }
      var isFound = false
      for change in changes where !isFound {
        state.routes.forEach(of: change) { found in
          // An observer of single records reads nothing.
          guard !isFound, case .seat(let seat) = found else { return }
          isFound = seat.observer?.readsFile ?? false
        }
      }
      return isFound
    }
  }

  /// Runs `body` on the delivery queue, behind everything published so far, if `outcome` contains
  /// `ready`.
  func enqueue(for outcome: Outcome = .ready, _ body: @escaping @Sendable () -> Void) {
    guard outcome.contains(.ready) else { return }
    queue.async { [pace] in
      pace.turn { Self.$isDelivering.withValue(true, operation: body) }
    }
    // Counted after the turn is queued, so that a thread that reads a count finds the turn.
    pace.noteQueued()
    if outcome.contains(.awaited) { awaited.add(1, ordering: .sequentiallyConsistent) }
  }

  /// Waits until everything published so far has been delivered.
  ///
  /// - Precondition: Not called inside a callback, which would wait for itself.
  func drain() {
    dispatchPrecondition(condition: .notOnQueue(queue))
    pace.hurrying { queue.sync {} }
  }

  /// Waits as ``drain()`` does, without blocking a thread. Tasks started by a callback may call it.
  func delivered() async {
    await withCheckedContinuation { continuation in
      pace.beginHurry()
      queue.async { [pace] in
        pace.endHurry()
        continuation.resume()
      }
    }
  }

  /// Waits as ``drain()`` does, repeatedly, until no new turn was queued in the meantime. Then
  /// every callback has returned, and so has every callback that ran for what those wrote.
  func drainAnswers() {
    var count: UInt64
    repeat {
      count = pace.queuedCount
      drain()
    } while pace.queuedCount != count
  }

  /// As ``drainAnswers()``, for a task.
  func answered() async {
    var count: UInt64
    repeat {
      count = pace.queuedCount
      await delivered()
    } while pace.queuedCount != count
  }

  /// The number of awaited deliveries so far. The thread that holds the writer waits for as many as
  /// this count grows while it does.
  var awaitedCount: UInt64 { awaited.load(ordering: .sequentiallyConsistent) }

  /// Waits until the first `count` awaited deliveries are finished. Inside a callback it returns at
  /// once, because that callback's own round must finish first.
  func settle(_ count: UInt64) {
    guard isUnsettled(count) else { return }
    pace.hurrying { queue.sync {} }
    state.withLock { $0.settledCount = max($0.settledCount, count) }
  }

  /// Waits as the synchronous form does, without blocking a thread.
  func settle(_ count: UInt64) async {
    guard isUnsettled(count) else { return }
    await delivered()
    state.withLock { $0.settledCount = max($0.settledCount, count) }
  }

  private func isUnsettled(_ count: UInt64) -> Bool {
    count > 0 && !Self.isDelivering && state.withLock { $0.settledCount < count }
  }

  /// Whether this is a callback of any store, or a task that a callback started. A callback that
  /// waited for another delivery could wait for itself.
  @TaskLocal private static var isDelivering = false

  /// What another thread must know to go on with the work of this task: the chain of writes that it
  /// belongs to, and whether a callback began it.
  struct DeliveryContext: Sendable {
    private let wave = Wave.current
    private let isDelivering = ChangeBroker.isDelivering

    func run<Result>(_ body: () throws -> Result) rethrows -> Result {
      try Wave.$current.withValue(wave) {
        try ChangeBroker.$isDelivering.withValue(isDelivering, operation: body)
      }
    }
  }

  /// Runs `body` outside any delivery: work that it starts outlives the callback.
  static func outsideDelivery(_ body: () -> Void) {
    $isDelivering.withValue(false) { Wave.$current.withValue(Wave(), operation: body) }
  }
}

extension ChangeBroker.Observer {
  var model: String { interests[0].model }
}

extension ChangeBroker.Interest.Records {
  /// The record with this key, as the caller gave it.
  static func one(_ key: [SQLValue], of schema: ModelSchema) -> Self {
    let identity = KeyIdentity(schema)
    return .one(identity(given: key), identity)
  }
}

extension ChangeBroker.Observer {
  var readsFile: Bool { false }

  var mayReadFile: Bool { false }

  var extendsCascade: Bool { false }
}
