#if Postgres
  internal import Dispatch
  internal import ModelStore
  internal import Synchronization

  /// Tells other members of this ledger's commits, on a thread of its own, so that no write waits
  /// for it.
  ///
  /// A NOTIFY costs PostgreSQL about as much as a write, and wakes every member. So commits that
  /// follow one another within ``pause`` are told at once, by the number of the last one. What is
  /// not told, for example because the program ended, members find when they poll.
  ///
  /// It is a transaction of its own: in that of the commit it would hold a lock of all databases
  /// while PostgreSQL writes to its disk.
  final class CommitAnnouncer: Sendable {
    private let channel: String
    private let lane: ConnectionLane
    private let limits: Limits
    private let queue = DispatchQueue(label: "modelstore.postgres.announce")
    private let state = Mutex(State())

    private struct State {
      var isChecking = false
      /// When the next one may be told.
      var due = DispatchTime.now()
      /// The newest commit that is not told yet.
      var waiting: CommitNumber?
    }

    /// Between two announcements.
    private static let pause = DispatchTimeInterval.milliseconds(2)

    init(channel: String, lane: ConnectionLane, limits: Limits) {
      self.channel = channel
      self.lane = lane
      self.limits = limits
    }

    /// Tells members of a commit soon: at once if none was told within the last 2 ms.
    func announce(_ number: CommitNumber) {
      let start = state.withLock { state -> DispatchTime? in
        defer { state.waiting = number }
        return state.waiting == nil ? state.due : nil
      }
      guard let start else { return }
      queue.asyncAfter(deadline: start) { [self] in tell() }
    }

    /// Finds out whether the server's standby still answers, if no check is under way. If it does
    /// not, all connections of the ledger are opened again, which looks for the primary.
    func checkStandby() {
      let isFirst = state.withLock { state in
        defer { state.isChecking = true }
        return !state.isChecking
      }
      guard isFirst else { return }
      queue.async { [self] in
        do {
          try lane.use { try $0.awaitStandby(limits) }
        } catch {
          // The connection is given up, and its next use reports what is wrong.
        }
        state.withLock { $0.isChecking = false }
      }
    }

    private func tell() {
      let number = state.withLock { state in
        state.due = .now() + Self.pause
        return state.waiting.take()
      }
      guard let number else { return }
      do {
        try lane.use { connection in
          _ = try connection.run(
            [(.notify, [.text(channel), .text("\(number)")])], until: limits.answerTime)
        }
      } catch {
        // Members find the commit when they poll.
      }
    }
  }
#endif
