/// When to look whether another process has committed: a state machine without a clock of its own.
/// Times and pauses are in nanoseconds.
///
/// A process writes to the log before its commit can be seen, and usually waits for the disk in
/// between. So one look at the first sign is not enough. The pauses between further looks grow with
/// the time since, so that a commit is seen late by a fraction of what it took itself, and a writer
/// that takes long costs few looks:
///
///   idle ── sign ──▶ expecting ── own or foreign commit ──▶ settled ── quiet ──▶ idle
///
/// A commit explains the signs before it, but the system tells of several writes as one: the next
/// commit may have begun under the same sign. So looks go on after it, though fewer.
struct LookSchedule {
  /// What a look came to.
  enum Finding {
    case nothing
    /// This store has committed since the last look, which is enough to explain a sign.
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

  /// The pause from here to the next look.
  private(set) var pause: UInt64
  private let idlePause: UInt64
  private var phase = Phase.idle
  private var start: UInt64 = 0
  private var latestSign: UInt64?
  /// Whether this store had committed before the latest look, and the pause that such a look makes.
  private var isCommitting = false
  private var ownPause = Self.ownPauseMin

  /// - Parameter idlePause: How long not to look when nothing is heard.
  init(idlePause: UInt64) {
    self.idlePause = idlePause
    pause = 0
  }

  /// Whether the next look comes so soon that a sign would not bring it forward. Signs need not be
  /// heard until then, however many there are.
  var isDeaf: Bool {
    switch phase {
    case .idle, .settledByForeignCommit: false
    case .expecting: pause <= Self.deafPauseMax
    case .settledByOwnCommit: isCommitting
    }
  }

  /// Notes a look.
  ///
  /// - Parameter isSign: Whether something was written to the log since the last look.
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

  /// How long after a sign its commit is expected. One that takes longer is found by the looks of
  /// an idle store.
  private static let attention: UInt64 = 2_000_000_000
  private static let pauseMin: UInt64 = 100_000
  /// A store that commits in a loop looks at the beginning of each transaction anyhow, so the
  /// pauses grow for as long as looks find own commits. Who commits right after such a loop is seen
  /// late by the longest at most.
  private static let ownPauseMin: UInt64 = 1_000_000
  private static let ownPauseMax: UInt64 = 4_000_000
  private static let deafPauseMax: UInt64 = 4_000_000
}
