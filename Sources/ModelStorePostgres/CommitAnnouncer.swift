#if Postgres
  internal import Dispatch
  internal import ModelStore
  internal import Synchronization

  /// Notifies other members of this ledger's commits, on a thread of its own, so that no write
  /// waits for it.
  ///
  /// A NOTIFY costs PostgreSQL about a third of a write, and wakes every member. So commits that
  /// follow one another within ``pause`` share one, with the number of the last. If none is sent,
  /// for example because the program ended, members find the commit when they poll.
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
      /// When the next notification may be sent.
      var due = DispatchTime.now()
      /// The newest commit of which no member is notified yet.
      var waiting: CommitNumber?
    }

    /// Between two notifications.
    private static let pause = DispatchTimeInterval.milliseconds(2)

    init(channel: String, lane: ConnectionLane, limits: Limits) {
      self.channel = channel
      self.lane = lane
      self.limits = limits
    }

    /// Notifies members of a commit: at once, or 2 ms after the notification before.
    func announce(_ number: CommitNumber) {
      let start = state.withLock { state -> DispatchTime? in
        defer { state.waiting = number }
        return state.waiting == nil ? state.due : nil
      }
      guard let start else { return }
      queue.asyncAfter(deadline: start) { [self] in notify() }
    }

    private func notify() {
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
