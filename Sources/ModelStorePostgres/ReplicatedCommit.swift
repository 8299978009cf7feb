#if Postgres
  internal import ModelStore
  internal import Synchronization

  /// The newest commit of which this program knows that the server's standby has it.
  ///
  /// PostgreSQL shows a commit before its standby has it if the wait for the standby ends early:
  /// when the server shuts down or starts again after a crash, and when an administrator ends the
  /// waiting session. A failover may lose such a commit, so no member may apply it. A commit is
  /// certain if a COMMIT that waited for the standby succeeded for the member that made it, which
  /// says so in its notification, or if a later one of this program did.
  final class ReplicatedCommit: Sendable {
    private struct Known {
      let number: CommitNumber
      let hash: CommitHash
      /// ``ConnectionLane/Server/breakCount``. With another count, the ledger may have found
      /// another server, which may even have been restored to earlier commits.
      let breakCount: Int
    }

    /// What COMMITs of this program proved, and what notifications said, which any program sends.
    private let known = Mutex<(proven: Known?, announced: Known?)>((nil, nil))
    /// The server of the ledger's connections.
    let server: ConnectionLane.Server

    init(_ server: ConnectionLane.Server) { self.server = server }

    /// - Parameters:
    ///   - isProven: Whether a COMMIT of this program proves it, and not a notification.
    ///   - breakCount: That of the connection which says so.
    func note(_ number: CommitNumber, _ hash: CommitHash, isProven: Bool, _ breakCount: Int) {
      guard breakCount == server.breakCount else { return }
      let noted = Known(number: number, hash: hash, breakCount: breakCount)
      // What is noted may be older than what is known.
      func newer(_ known: Known?) -> Known {
        guard let known, known.breakCount == noted.breakCount, known.number >= number else {
          return noted
        }
        return known
      }
      known.withLock { known in
        if isProven {
          known.proven = newer(known.proven)
        } else {
          known.announced = newer(known.announced)
        }
      }
    }

    /// Returns how many of `commits` the standby has for certain.
    ///
    /// - Parameter commits: Consecutive ones. The hash of each contains that of the one before, so
    ///   the known commit proves all before it.
    func count(in commits: [LedgerCommit]) -> Int {
      let (proven, announced) = known.withLock { $0 }
      return max(count(in: commits, upTo: proven), count(in: commits, upTo: announced))
    }

    private func count(in commits: [LedgerCommit], upTo known: Known?) -> Int {
      guard let known, known.breakCount == server.breakCount, let first = commits.first,
        first.number <= known.number
      else { return 0 }
      let place = known.number.rawValue - first.number.rawValue
      guard place < commits.count, commits[Int(place)].hash == known.hash else { return 0 }
      return Int(place) + 1
    }
  }
#endif
