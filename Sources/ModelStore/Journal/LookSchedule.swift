/// Decides when to poll for commits of other processes: a state machine without its own clock.
/// Times and pauses are in nanoseconds.
///
/// A process writes to the log before its commit is visible, and usually waits for the disk in
/// between. So one poll at the first file event is not enough. The pauses between further polls
/// grow with the time since the event. The delay is then a fraction of the commit's own duration,
/// and a slow writer causes few polls:
///
///     idle ── file event ──▶ expecting ── own or foreign commit ──▶ settled ── quiet ──▶ idle
///
/// A commit explains the file events before it. But the system may report several writes as one
/// event, so the next commit may already have begun. Therefore polls continue after a commit, at
/// longer pauses.
struct LookSchedule {
  /// The result of a poll.
  enum Finding {
    case nothing
    /// This store has committed since the last poll, which is enough to explain a file event.
    case ownCommit
    case foreignCommit
  }

  private enum Phase {
    case idle
    /// Something was written, and no commit explains it yet.
    case expecting
    case settledByOwnCommit
    case settledByForeignCommit
  }

  /// The pause from now to the next poll.
  private(set) var pause: UInt64
  private let idlePause: UInt64
  private var phase = Phase.idle
  private var start: UInt64 = 0
  private var latestSign: UInt64?
  /// Whether this store had committed before the latest poll, and the pause after such a poll.
  private var isCommitting = false
  private var ownPause = Self.ownPauseMin

  /// - Parameter idlePause: The pause between polls while there are no file events.
  init(idlePause: UInt64) {
    self.idlePause = idlePause
    pause = 0
  }

  /// Whether the next poll is so soon that a file event would not bring it forward. Until then,
  /// file events can be ignored.
  var isDeaf: Bool {
    switch phase {
    case .idle, .settledByForeignCommit: false
    case .expecting: pause <= Self.deafPauseMax
    case .settledByOwnCommit: isCommitting
    }
  }

  /// Whether writes to the log until the next poll are probably this store's own, and the poll is
  /// so soon that nothing is missed without them.
  var expectsOwnWrites: Bool { phase == .settledByOwnCommit && isCommitting }

  /// Updates the schedule after a poll.
  ///
  /// - Parameter isSign: Whether the log was written to since the last poll.
  mutating func looked(_ finding: Finding, isSign: Bool, at now: UInt64) {
    if isSign { latestSign = now }
    ownPause = isCommitting ? min(2 * ownPause, Self.ownPauseMax) : Self.ownPauseMin
    isCommitting = finding == .ownCommit
    switch finding {
    case .ownCommit:
      phase = .settledByOwnCommit
      start = now
    case .foreignCommit:
      phase = .settledByForeignCommit
      start = now
    case .nothing where isSign && (phase != .expecting || pause > Self.deafPauseMax):
      phase = .expecting
      start = now
    case .nothing: break
    }
    guard let latestSign, now - latestSign < Self.attention else {
      phase = .idle
      latestSign = nil
      pause = idlePause
      return
    }
    let elapsed = now - start
    switch phase {
    case .idle: pause = idlePause
    case .expecting: pause = max(Self.pauseMin, elapsed / 4)
    case .settledByOwnCommit: pause = max(ownPause, 3 * elapsed)
    case .settledByForeignCommit: pause = max(Self.pauseMin, 3 * elapsed)
    }
    pause = min(pause, idlePause)
  }

  /// How long after a file event its commit is expected. The polls of an idle store find a later
  /// commit.
  private static let attention: UInt64 = 2_000_000_000
  private static let pauseMin: UInt64 = 100_000
  /// A store that commits in a loop polls at the beginning of each transaction anyway. So the
  /// pauses grow while there are own commits, which stand for a poll. A commit of another process
  /// right after such a loop is detected after two of the longest pauses at most.
  private static let ownPauseMin: UInt64 = 1_000_000
  private static let ownPauseMax: UInt64 = 4_000_000
  private static let deafPauseMax: UInt64 = 4_000_000
}
