internal import Dispatch
internal import Synchronization

/// Detects that other processes may have committed to a file, while the store needs to know.
///
/// It reports no details: its owner polls the file to find out whether there was a commit. Polls
/// run one at a time on the owner's queue, in order with the other work there. A commit of the
/// store itself looks for others' commits when it begins, so it takes the place of a poll: while a
/// store commits in a loop, nothing is put on the owner's queue.
///
/// A file event of the log causes a poll, and several more after it (``LookSchedule``). A poll each
/// second is the last resort, for a writer that was suspended during its commit. Where the system
/// reports no file events, it polls every ``pollingPause``. Without listeners it uses no
/// descriptor, no timer and no polls.
final class ChangeSignal: Sendable {
  /// The result of a poll.
  struct Sight {
    /// Whether another connection has committed since the last poll.
    var hasForeignCommit: Bool
    /// How often this store has committed so far. Its own commits explain file events.
    var ownCommitCount: UInt64
  }

  /// How writes of other processes are detected.
  enum Means {
    /// By file events if the system reports them, otherwise by polling.
    case best
    case polling
    /// Not at all: no other process can reach the file.
    case nothing
  }

  private let path: String
  private let queue: DispatchQueue
  private let means: Means
  private let state = Mutex(State())
  /// The number of polls so far.
  let lookCount = Atomic<Int>(0)

  private struct State {
    var listening: Listening?
    var hasEnded = false
  }

  /// - Parameters:
  ///   - path: The absolute path of the database.
  ///   - queue: The serial queue that runs the polls.
  init(path: String, queue: DispatchQueue, means: Means = .best) {
    self.path = path
    self.queue = queue
    self.means = means
  }

  /// Starts or stops to listen, as `isWanted` returns. After the return, no later write is missed.
  ///
  /// - Parameters:
  ///   - isWanted: Called under the mutex, so that concurrent calls cannot disagree.
  ///   - ownCommitCount: Returns how often this store has committed so far; nil if it does not look
  ///     for others' commits when it commits. Called on any thread.
  ///   - look: Polls, and handles the result. Called on the queue. Retained while listening.
  ///   - report: Receives the error of `look`, once until a poll succeeds.
  func listen(
    while isWanted: () -> Bool, ownCommitCount: (@Sendable () -> UInt64)? = nil,
    look: @escaping @Sendable () throws -> Sight,
    report: @escaping @Sendable (any Error) -> Void
  ) {
    state.withLock { state in
      let isListening = state.listening != nil
      let isToListen = isWanted() && !state.hasEnded && means != .nothing
      guard isListening != isToListen else { return }
      if isToListen {
        state.listening = Listening(
          watch: means == .best ? LogWatch(path: path) : nil, queue: queue,
          ownCommitCount: ownCommitCount,
          look: { [weak self] in
            self?.lookCount.add(1, ordering: .relaxed)
            return try look()
          }, report: report)
      } else {
        state.listening.take()?.stop()
      }
    }
  }

  /// Whether it listens for writes of other processes.
  var isListening: Bool { state.withLock { $0.listening != nil } }

  /// Stops to listen permanently.
  func end() {
    state.withLock { state in
      state.hasEnded = true
      state.listening.take()?.stop()
    }
  }

  /// The pause between polls if the system reports no file events. The mean delay is 10 ms. The
  /// cost is about 0.4 % of a core, mostly for waking up.
  static let pollingPause: UInt64 = 20_000_000
  /// The pause between polls while there are no file events.
  static let idlePause: UInt64 = 1_000_000_000
}

/// One period of listening, from the first listener to the last.
///
/// It retains itself until ``stop()``. In a forked child the queue does not run, so the child never
/// releases it: its system resources belong to the parent.
private final class Listening: Sendable {
  private let watch: LogWatch?
  /// Where polls run.
  private let queue: DispatchQueue
  /// Where file events and the timer arrive.
  private let clock = DispatchQueue(label: "modelstore.clock", qos: .userInitiated)
  private let ownCommitCount: (@Sendable () -> UInt64)?
  private let look: @Sendable () throws -> ChangeSignal.Sight
  private let report: @Sendable (any Error) -> Void
  private let hasStopped = Atomic(false)
  private let state: Mutex<State>

  private struct State {
    let timer: any DispatchSourceTimer
    let signs: (any DispatchSourceRead)?
    var schedule: LookSchedule
    var isDeaf = false
    /// Whether a poll waits for its turn, or runs, and whether a file event came since it began to.
    var isLooking = false
    var isSigned = false
    var ownCommitCount: UInt64?
    var hasFailed = false
    /// Whether the timer and the file events were cancelled.
    var hasEnded = false

    /// Schedules the next poll.
    mutating func arrange(from now: DispatchTime, _ watch: LogWatch?) {
      watch?.attend(!schedule.expectsOwnWrites)
      let pause = schedule.pause
      timer.schedule(
        deadline: now + .nanoseconds(Int(pause)),
        leeway: .nanoseconds(pause >= ChangeSignal.pollingPause ? Int(pause / 10) : 0))
      guard let signs, schedule.isDeaf != isDeaf else { return }
      isDeaf.toggle()
      if isDeaf { signs.suspend() } else { signs.resume() }
    }

    /// Ends a poll, or an own commit in its place.
    mutating func settle(_ finding: LookSchedule.Finding, _ watch: LogWatch?) {
      guard !hasEnded else { return }
      let now = DispatchTime.now()
      // Own commits have written to the log, even while that is not reported.
      let isSign = isSigned || finding == .ownCommit && schedule.expectsOwnWrites
      isSigned = false
      schedule.looked(finding, isSign: isSign, at: now.uptimeNanoseconds)
      arrange(from: now, watch)
    }
  }

  init(
    watch: LogWatch?, queue: DispatchQueue, ownCommitCount: (@Sendable () -> UInt64)?,
    look: @escaping @Sendable () throws -> ChangeSignal.Sight,
    report: @escaping @Sendable (any Error) -> Void
  ) {
    self.watch = watch
    self.queue = queue
    self.ownCommitCount = ownCommitCount
    self.look = look
    self.report = report
    state = Mutex(
      State(
        timer: DispatchSource.makeTimerSource(queue: clock),
        signs: watch.map { [clock] in
          DispatchSource.makeReadSource(fileDescriptor: $0.descriptor, queue: clock)
        },
        schedule: LookSchedule(
          idlePause: watch == nil ? ChangeSignal.pollingPause : ChangeSignal.idlePause)))
    state.withLock { state in
      state.timer.setEventHandler { self.timeIsUp() }
      state.signs?.setEventHandler { self.signCame() }
      // A source still uses its descriptor until it calls the cancel handler.
      state.signs?.setCancelHandler { watch?.close() }
      // A commit may have been written before the watch began.
      state.timer.schedule(deadline: .now())
      state.signs?.activate()
      state.timer.activate()
    }
  }

  private func signCame() {
    if let watch, !hasStopped.load(ordering: .acquiring), watch.take() { requestLook(isSign: true) }
  }

  private func timeIsUp() {
    guard !hasStopped.load(ordering: .acquiring) else { return }
    // Before the poll, so that a write after the poll is reported.
    watch?.attend(true)
    requestLook(isSign: watch?.take() ?? false)
  }

  /// Polls in a turn of the owner's queue, unless an own commit has just done the same.
  private func requestLook(isSign: Bool) {
    let ownCommitCount = ownCommitCount?()
    let isNeeded = state.withLock { state in
      if isSign { state.isSigned = true }
      guard !state.isLooking else { return false }
      if let ownCommitCount, let known = state.ownCommitCount, ownCommitCount != known {
        state.ownCommitCount = ownCommitCount
        state.settle(.ownCommit, watch)
        return false
      }
      state.isLooking = true
      return true
    }
    if isNeeded { queue.async { self.lookNow() } }
  }

  private func lookNow() {
    guard !hasStopped.load(ordering: .acquiring) else { return }
    let outcome = Result { try look() }
    guard !hasStopped.load(ordering: .acquiring) else { return }
    let failure: (any Error)? = state.withLock { state in
      state.isLooking = false
      var finding = LookSchedule.Finding.nothing
      var failure: (any Error)?
      // The first poll detects commits from before the watch.
      let isFirst = state.ownCommitCount == nil && !state.hasFailed
      switch outcome {
      case .success(let sight):
        if sight.hasForeignCommit {
          finding = .foreignCommit
        } else if let count = state.ownCommitCount, sight.ownCommitCount != count {
          finding = .ownCommit
        }
        state.ownCommitCount = sight.ownCommitCount
        state.hasFailed = false
      case .failure(let error):
        if !state.hasFailed { failure = error }
        state.hasFailed = true
      }
      if isFirst { state.isSigned = true }
      state.settle(finding, watch)
      return failure
    }
    if let failure { report(failure) }
  }

  /// Stops after the work that runs now.
  func stop() {
    hasStopped.store(true, ordering: .releasing)
    clock.async {
      self.state.withLock { state in
        // A suspended source never calls its cancel handler.
        if state.isDeaf { state.signs?.resume() }
        state.hasEnded = true
        state.signs?.cancel()
        state.timer.cancel()
      }
    }
  }
}
