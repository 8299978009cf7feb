internal import Dispatch
internal import Synchronization

/// Delivers each commit once, in commit order, to those it concerns. Not the one who finds out
/// what changed: change sets come in complete.
///
/// Routing runs on the committing thread while it still owns the writer, so commits arrive in
/// order. Callbacks run on the broker's own serial queue: commit by commit and, within one commit,
/// in the order of registration. A callback may write, observe and cancel.
final class ChangeBroker: Sendable {
  /// Someone who wants to know about commits. Called on the committing thread.
  protocol Observer: AnyObject, Sendable {
    /// What it wants to know, at least one; no two of them of the same model.
    var interests: [Interest] { get }
    /// The first model of those that it wants to know about.
    var model: String { get }
    func note(_ commit: Commit) -> Outcome
    /// Hands what was noted to the caller, but for what tells only of later commits; on the
    /// delivery queue.
    func deliver(upTo version: UInt64)
  }

  /// What an observer made of a commit.
  struct Outcome: OptionSet {
    let rawValue: UInt8

    /// There is something to deliver in the commit's turn.
    static let ready = Outcome(rawValue: 1)
    /// It could not be followed: the next commit, of whatever model, comes as a reset.
    static let failed = Outcome(rawValue: 2)
    /// Whoever wrote waits until it is delivered.
    static let awaited = Outcome(rawValue: 4)
  }

  /// Which records of which model an observer wants to know about.
  struct Interest: Hashable, Sendable {
    var model: String
    var records: Records = .all
    /// The fields whose values it reads; nil for all.
    var fields: Set<Int>?

    enum Records: Hashable, Sendable {
      case all
      /// The one with that key.
      case one(SortKey, KeyIdentity)
      /// Those that have the value in the field, before or after; the value as
      /// ``QueryRegion/normalized(_:)`` makes it.
      case having(field: Int, value: SQLValue)
      /// Those that have a value of the range in its field, before or after.
      case within(ValueRange)
    }
  }

  /// What reaches an observer of one commit.
  struct Commit: Sendable {
    /// The changes of the observer's models, or of its one record.
    var changes: ChangeSet
    /// What the editors of ordered lists did, by list.
    var edits: [ListIdentity: ListEdits] = [:]
    /// Whether more changed than the change set can tell: another connection wrote, the schema
    /// changed, or the observer came when the transaction was already running.
    var isReset: Bool
    /// Whether this is no commit but how it is at the beginning: the record is told as inserted.
    var isInitial = false
    /// What the writing transaction answered to.
    var wave = Wave()
  }

  /// A commit that observers are to hear of.
  struct Announcement {
    /// Everything that changed in observed models.
    var changes: [RecordChange] = []
    /// What the editors of ordered lists did.
    var edits: [ListIdentity: ListEdits] = [:]
    /// Whether observers cannot rely on `changes` alone.
    var isReset = false
    /// The models whose observers cannot.
    var resetModels: Set<String> = []
    /// The latest observer whose interest the changes cover. One that came later, while the
    /// transaction ran, is told to look anew.
    var knownObserver = UInt64.max
    /// What the writing transaction answered to.
    var wave = Wave()
    /// Subscribers that are not told.
    var suppressed: [any Outlet] = []

    /// More changed than can be told.
    static var reset: Announcement { Announcement(isReset: true) }

    /// Nothing changed; those who could not follow an earlier commit look again.
    static var nothing: Announcement { Announcement() }
  }

  private struct State {
    var observers: [UInt64: any Observer] = [:]
    var routes = ChangeRoutes()
    /// Those that could not follow an earlier commit.
    var failed: Set<UInt64> = []
    var nextNumber: UInt64 = 0
    var version: UInt64 = 0
    var generation: UInt64 = 0
    /// How many deliveries somebody had to wait for, and how many of them are over.
    var awaitedCount: UInt64 = 0
    var settledCount: UInt64 = 0
    var audienceChanged: (@Sendable () -> Void)?
  }

  /// How many turns the delivery queue was given so far.
  private let turnCount = Atomic<UInt64>(0)
  // Never held while a subscriber's code runs.
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "modelstore.delivery", qos: .userInitiated)

  /// The number of the latest commit that was published.
  var version: UInt64 { state.withLock { $0.version } }

  /// A number that moves whenever ``interests()`` may have changed.
  var generation: UInt64 { state.withLock { $0.generation } }

  /// The number of the latest observer: those with a higher one come later.
  var latestObserver: UInt64 { state.withLock { $0.nextNumber } }

  /// Whether anybody observes.
  var hasObservers: Bool { state.withLock { !$0.observers.isEmpty } }

  /// Has `body` called whenever the first observer has come or the last one has gone, before it is
  /// told that it has. Calls can overtake each other: what holds is ``hasObservers``.
  func onAudienceChange(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.audienceChanged = body }
  }

  /// For each observed model, the fields to read; nil for all.
  func interests() -> [String: Set<Int>?] {
    state.withLock { $0.routes.interests }
  }

  /// Takes up `observer` and starts it while no commit can come between.
  ///
  /// - Returns: What ends it.
  func add(_ observer: some Observer) -> @Sendable () -> Void {
    let number = enter(observer)
    return { [weak self] in self?.remove(number) }
  }

  /// As ``add(_:)``.
  ///
  /// - Returns: The observer's number, by which ``remove(_:)`` ends it.
  func enter(_ observer: some Observer) -> UInt64 {
    let interests = observer.interests
    let (number, audienceChanged) = state.withLock { state in
      state.nextNumber += 1
      let number = state.nextNumber
      state.observers[number] = observer
      for interest in interests {
        if state.routes.add(number, for: interest) { state.generation += 1 }
      }
      return (number, state.observers.count == 1 ? state.audienceChanged : nil)
    }
    audienceChanged?()
    return number
  }

  /// Everyone who observes, in the order of registration.
  ///
  /// - Complexity: O(n log n) for n observers.
  var observers: [any Observer] {
    state.withLock { state in state.observers.sorted { $0.key < $1.key }.map(\.value) }
  }

  /// Tells the observer with that number nothing more.
  func remove(_ number: UInt64) {
    let (removed, audienceChanged) = state.withLock {
      state -> ((any Observer)?, (@Sendable () -> Void)?) in
      guard let observer = state.observers.removeValue(forKey: number) else { return (nil, nil) }
      state.failed.remove(number)
      for interest in observer.interests {
        if state.routes.remove(number, for: interest) { state.generation += 1 }
      }
      return (observer, state.observers.isEmpty ? state.audienceChanged : nil)
    }
    audienceChanged?()
    // Released here, outside the lock: its end may run the caller's code.
    _ = removed
  }

  /// Announces a commit.
  ///
  /// - Returns: The commit as it was published.
  /// - Complexity: O(changes + observers concerned); O(all observers) for a reset.
  @discardableResult
  func publish(_ announcement: Announcement) -> ChangeSet {
    // Who could not follow an earlier commit is told of that before it is left out of this one.
    if !announcement.suppressed.isEmpty, hasFailed { publish(.nothing) }
    let (published, concerned) = state.withLock { state in
      state.version += 1
      let published = ChangeSet(version: state.version, changes: announcement.changes)
      guard !state.observers.isEmpty else {
        return (published, [] as [Delivery])
      }
      return (published, Self.route(published, announcement, in: &state))
    }
    for outlet in announcement.suppressed { outlet.beginSuppression() }
    var ready: [any Observer] = []
    var failed: [UInt64] = []
    var isAwaited = false
    for (number, observer, commit) in concerned {
      let outcome = Wave.$current.withValue(announcement.wave) { observer.note(commit) }
      if outcome.contains(.ready) { ready.append(observer) }
      if outcome.contains(.failed) { failed.append(number) }
      if outcome.contains(.awaited) { isAwaited = true }
    }
    for outlet in announcement.suppressed { outlet.endSuppression() }
    if !failed.isEmpty {
      state.withLock { state in
        state.failed.formUnion(failed.filter { state.observers[$0] != nil })
      }
    }
    enqueue(for: ready.isEmpty ? [] : isAwaited ? [.ready, .awaited] : .ready) {
      [ready, wave = announcement.wave] in
      for observer in ready {
        Wave.$current.withValue(wave.heard(at: ObservedPath(model: observer.model))) {
          observer.deliver(upTo: published.version)
        }
      }
    }
    return published
  }

  /// Whether somebody waits for the next commit because it could not follow an earlier one.
  var hasFailed: Bool { state.withLock { !$0.failed.isEmpty } }

  private typealias Delivery = (number: UInt64, observer: any Observer, commit: Commit)

  private static func route(
    _ published: ChangeSet, _ announcement: Announcement, in state: inout State
  ) -> [Delivery] {
    let lastSafe = announcement.isReset ? 0 : announcement.knownObserver
    var parts: [UInt64: [RecordChange]] = [:]
    var failed = state.failed
    state.failed = []
    for model in announcement.resetModels {
      state.routes.forEachObserver(ofModel: model) { failed.insert($0) }
    }
    for number in failed { parts[number] = [] }
    // A group tells what its members told, of whatever commit.
    if !failed.isEmpty {
      for (number, observer) in state.observers where observer is QueryGroup { parts[number] = [] }
    }
    func isReset(_ number: UInt64) -> Bool { number > lastSafe || failed.contains(number) }
    if lastSafe < state.nextNumber {
      for number in state.observers.keys where number > lastSafe { parts[number] = [] }
    }
    // Who is reset gets no changes: they may lack fields that nobody had asked for.
    for change in published.changes {
      state.routes.forEachObserver(of: change) { number in
        if !isReset(number) { parts[number, default: []].append(change) }
      }
    }
    return parts.sorted { $0.key < $1.key }.compactMap { number, changes in
      state.observers[number].map { observer in
        (
          number, observer,
          Commit(
            changes: ChangeSet(version: published.version, changes: changes),
            edits: announcement.edits, isReset: isReset(number), wave: announcement.wave)
        )
      }
    }
  }

  /// Runs `body` on the delivery queue, behind everything published so far, when `outcome` says
  /// that there is something to deliver.
  func enqueue(for outcome: Outcome = .ready, _ body: @escaping @Sendable () -> Void) {
    guard outcome.contains(.ready) else { return }
    turnCount.add(1, ordering: .sequentiallyConsistent)
    queue.async { Self.$isDelivering.withValue(true, operation: body) }
    // Behind its turn: whoever counts it finds the turn in the queue.
    if outcome.contains(.awaited) { state.withLock { $0.awaitedCount += 1 } }
  }

  /// Waits until everything published so far has been delivered.
  ///
  /// - Precondition: Not inside a callback, which would wait for itself.
  func drain() {
    dispatchPrecondition(condition: .notOnQueue(queue))
    queue.sync {}
  }

  /// As ``drain()``, for a task, which may be one that a callback began: no thread waits.
  func delivered() async {
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
  }

  /// Waits as ``drain()`` until no callback has brought another turn: every callback has returned,
  /// and so has every one that was called for what it wrote.
  func drainAnswers() {
    var count: UInt64
    repeat {
      count = turnCount.load(ordering: .sequentiallyConsistent)
      drain()
    } while turnCount.load(ordering: .sequentiallyConsistent) != count
  }

  /// As ``drainAnswers()``, for a task.
  func answered() async {
    var count: UInt64
    repeat {
      count = turnCount.load(ordering: .sequentiallyConsistent)
      await delivered()
    } while turnCount.load(ordering: .sequentiallyConsistent) != count
  }

  /// How many deliveries have had to be waited for so far. What it grows by while the writer is
  /// held is what the holder has to wait for.
  var awaitedCount: UInt64 { state.withLock { $0.awaitedCount } }

  /// Waits until the first `count` awaited deliveries are over; not inside a callback, whose own
  /// round comes first.
  func settle(_ count: UInt64) {
    guard isUnsettled(count) else { return }
    queue.sync {}
    state.withLock { $0.settledCount = max($0.settledCount, count) }
  }

  /// As ``settle(_:)``, for a task.
  func settle(_ count: UInt64) async {
    guard isUnsettled(count) else { return }
    await delivered()
    state.withLock { $0.settledCount = max($0.settledCount, count) }
  }

  private func isUnsettled(_ count: UInt64) -> Bool {
    !Self.isDelivering && state.withLock { $0.settledCount < count }
  }

  /// Whether this is a callback of any store, or a task that one began: a callback that waited for
  /// another's could wait for itself.
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

  /// Runs `body` as if no callback had called it: what it begins outlives the delivery.
  static func outsideDelivery(_ body: () -> Void) {
    $isDelivering.withValue(false) { Wave.$current.withValue(Wave(), operation: body) }
  }
}

extension ChangeBroker.Observer {
  var model: String { interests[0].model }
}

extension ChangeBroker.Interest.Records {
  /// The record with `key`, given by a program.
  static func one(_ key: [SQLValue], of schema: ModelSchema) -> Self {
    let identity = KeyIdentity(schema)
    return .one(identity(given: key), identity)
  }
}
