#if Postgres
  internal import ModelStore
  internal import Synchronization

  /// The newest commit of which this program knows that the server's standby has it.
  ///
  /// PostgreSQL shows a commit before its standby has it if the wait for the standby ends early:
  /// when the server shuts down or starts again after a crash, and when an administrator ends the
  /// waiting session. A failover may lose such a commit, so no member may apply it. A commit is
  /// certain if COMMIT succeeded for the member that made it, which says so in its notification, or
  /// if a later COMMIT of this program did.
  final class ReplicatedCommit: Sendable {
    private struct Known {
      let number: CommitNumber
      let hash: CommitHash
      /// How often the ledger had lost a connection. Then it may have found another server, which
      /// may even have been restored to earlier commits.
      let breakCount: Int
      /// Whether this program has proved it. Any program can send a notification.
      let isProven: Bool
    }

    private let newest = Mutex<Known?>(nil)
    /// The server of the ledger's connections.
    let server: ConnectionLane.Server

    init(_ server: ConnectionLane.Server) { self.server = server }

    private var known: Known? {
      newest.withLock { $0 }.flatMap { $0.breakCount == server.breakCount ? $0 : nil }
    }

    /// - Parameter isProven: Whether a COMMIT of this program proves it, and not a notification.
    func note(_ number: CommitNumber, _ hash: CommitHash, isProven: Bool) {
      let noted = Known(
        number: number, hash: hash, breakCount: server.breakCount, isProven: isProven)
      newest.withLock { newest in
        // A notification may be older than what is known.
        if let known = newest, known.breakCount == noted.breakCount, known.number >= number,
          known.isProven || !isProven
        {
          return
        }
        newest = noted
      }
    }

    /// Returns how many of `commits` the standby has for certain.
    ///
    /// - Parameter commits: Consecutive ones. The hash of each contains that of the one before, so
    ///   the known commit proves all before it.
    func count(in commits: [LedgerCommit]) -> Int {
      guard let first = commits.first, let known, first.number <= known.number else { return 0 }
      let place = known.number.rawValue - first.number.rawValue
      guard place < commits.count, commits[Int(place)].hash == known.hash else {
        return 0
      }
      return Int(place) + 1
    }
  }
#endif
