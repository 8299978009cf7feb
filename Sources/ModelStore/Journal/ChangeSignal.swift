internal import Dispatch
internal import Synchronization

/// Hears when other processes may have committed to a file, for as long as somebody wants to know.
/// It does not know what they did; whether they did is found by a look, which its owner makes.
///
/// Looks are made on a queue of the owner's, one at a time, in one order with what else runs there:
/// at each sign of a write to the log, several times after it (``LookSchedule``), and each second
/// as a last resort, for a writer that was stopped in the middle of its commit. Where the system
/// gives no signs, each ``pollingPause``. While nobody listens there is no descriptor, no timer and
/// no look.
final class ChangeSignal: Sendable {
  /// What a look found.
  struct Sight {
    /// Whether another connection had committed since the last look.
    var hasForeignCommit: Bool
    /// How often this store has committed so far; what it did itself needs no explanation.
    var ownCommitCount: UInt64
  }

  /// How writes of others are heard of.
  enum Means {
    /// By notification where the system gives one, else by looking again and again.
    case best
    case polling
    /// Not at all: no other process can reach the file.
    case nothing
  }

  private let path: String
  private let queue: DispatchQueue
  private let means: Means
  private let state = Mutex(State())
  /// How many looks there were so far.
  let lookCount = Atomic<Int>(0)

  private struct State {
    var listening: Listening?
    var hasEnded = false
  }

  /// - Parameters:
  ///   - path: The database's, absolute.
  ///   - queue: Where looks are made; serial.
  init(path: String, queue: DispatchQueue, means: Means = .best) {
    self.path = path
    self.queue = queue
    self.means = means
  }

  /// Begins or stops to listen, as `isWanted` says. When this returns, no later write is missed.
  ///
  /// - Parameters:
  ///   - isWanted: Asked while no other call decides.
  ///   - look: Looks, and acts on what it sees; called on the queue. Kept while listening.
  ///   - report: Told what `look` throws, once until a look succeeds.
  func listen(
    while isWanted: () -> Bool, look: @escaping @Sendable () throws -> Sight,
    report: @escaping @Sendable (any Error) -> Void
  ) {
    state.withLock { state in
      let isListening = state.listening != nil
      let isToListen = isWanted() && !state.hasEnded && means != .nothing
      guard isListening != isToListen else { return }
      if isToListen {
        state.listening = Listening(
          watch: means == .best ? LogWatch(path: path) : nil, queue: queue,
          look: { [weak self] in
            self?.lookCount.add(1, ordering: .relaxed)
            return try look()
          }, report: report)
      } else {
        state.listening.take()?.stop()
      }
    }
  }

  /// Whether looks are made.
  var isListening: Bool { state.withLock { $0.listening != nil } }

  /// Stops to listen, for good.
  func end() {
    state.withLock { state in
      state.hasEnded = true
      state.listening.take()?.stop()
    }
  }

  /// How often to look where nothing tells of writes: a delay of 10 ms on average, for some 0.4 %
  /// of a core, nearly all of it for waking up.
  static let pollingPause: UInt64 = 20_000_000
  /// How often to look while nothing is heard.
  static let idlePause: UInt64 = 1_000_000_000
}

/// One time of listening, from the first listener to the last.
///
/// It keeps itself until ``stop()``, so that in a forked child, where the queue does not run,
/// nothing of it is ever let go: the system's side of it belongs to the parent.
private final class Listening: Sendable {
  private let watch: LogWatch?
  private let queue: DispatchQueue
  private let look: @Sendable () throws -> ChangeSignal.Sight
  private let report: @Sendable (any Error) -> Void
  private let hasStopped = Atomic(false)
  /// On the queue only; the mutex tells the compiler so.
  private let state: Mutex<State>

  private struct State {
    let timer: any DispatchSourceTimer
    let signs: (any DispatchSourceRead)?
    var schedule: LookSchedule
    var isDeaf = false
    var ownCommitCount: UInt64?
    var hasFailed = false

    /// Arranges for the next look.
    mutating func arrange(from now: DispatchTime) {
      let pause = schedule.pause
      timer.schedule(
        deadline: now + .nanoseconds(Int(pause)),
        leeway: .nanoseconds(pause >= ChangeSignal.pollingPause ? Int(pause / 10) : 0))
      guard let signs, schedule.isDeaf != isDeaf else { return }
      isDeaf.toggle()
      if isDeaf { signs.suspend() } else { signs.resume() }
    }
  }

  init(
    watch: LogWatch?, queue: DispatchQueue,
    look: @escaping @Sendable () throws -> ChangeSignal.Sight,
    report: @escaping @Sendable (any Error) -> Void
  ) {
    self.watch = watch
    self.queue = queue
    self.look = look
    self.report = report
    state = Mutex(
      State(
        timer: DispatchSource.makeTimerSource(queue: queue),
        signs: watch.map {
          DispatchSource.makeReadSource(fileDescriptor: $0.descriptor, queue: queue)
        },
        schedule: LookSchedule(
          idlePause: watch == nil ? ChangeSignal.pollingPause : ChangeSignal.idlePause)))
    state.withLock { state in
      state.timer.setEventHandler { self.timeIsUp() }
      state.signs?.setEventHandler { self.signCame() }
      // A source is done with its descriptor only when it says so.
      state.signs?.setCancelHandler { watch?.close() }
      // A commit may be on its way that was written before anything was watched.
      state.timer.schedule(deadline: .now())
      state.signs?.activate()
      state.timer.activate()
    }
  }

  private func signCame() {
    if let watch, !hasStopped.load(ordering: .acquiring), watch.take() { look(isSign: true) }
  }

  private func timeIsUp() {
    guard !hasStopped.load(ordering: .acquiring) else { return }
    look(isSign: watch?.take() ?? false)
  }

  private func look(isSign: Bool) {
    let outcome = Result { try look() }
    guard !hasStopped.load(ordering: .acquiring) else { return }
    let failure: (any Error)? = state.withLock { state in
      var finding = LookSchedule.Finding.nothing
      var failure: (any Error)?
      // The first look is for what was on its way before.
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
      let now = DispatchTime.now()
      state.schedule.looked(finding, isSign: isSign || isFirst, at: now.uptimeNanoseconds)
      state.arrange(from: now)
      return failure
    }
    if let failure { report(failure) }
  }

  /// Stops, when what runs on the queue now is done.
  func stop() {
    hasStopped.store(true, ordering: .releasing)
    queue.async {
      self.state.withLock { state in
        // A suspended source never says that it is done.
        if state.isDeaf { state.signs?.resume() }
        state.signs?.cancel()
        state.timer.cancel()
      }
    }
  }
}
