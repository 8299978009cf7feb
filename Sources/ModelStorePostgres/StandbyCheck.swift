#if Postgres
  internal import Dispatch
  internal import Synchronization

  /// Finds out whether the server's standby still answers, on a thread of its own. If it does not,
  /// all connections of the ledger are opened again, which looks for the primary.
  final class StandbyCheck: Sendable {
    private let lane: ConnectionLane
    private let limits: Limits
    private let queue = DispatchQueue(label: "modelstore.postgres.standby")
    private let isRunning = Atomic(false)

    /// - Parameter lane: Its connection is used, so its other users wait for the check.
    init(_ lane: ConnectionLane, _ limits: Limits) {
      self.lane = lane
      self.limits = limits
    }

    /// Starts a check, unless one is under way.
    func start() {
      guard !isRunning.exchange(true, ordering: .acquiringAndReleasing) else { return }
      queue.async { [self] in
        do {
          // The server may have a standby since.
          try lane.use { _ = try $0.commitMessage(limits) }
        } catch {
          // The connection is given up, and its next use reports what is wrong.
        }
        isRunning.store(false, ordering: .releasing)
      }
    }
  }
#endif
