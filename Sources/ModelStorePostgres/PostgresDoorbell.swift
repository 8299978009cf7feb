#if Postgres
  internal import Dispatch
  internal import ModelStore
  internal import Synchronization

  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #else
    internal import Darwin
  #endif

  /// Listens on a connection of its own, by a thread of its own, until it is released.
  ///
  /// After a lost connection it connects again, with growing pauses, and also if it could not do so
  /// at first. It does so, too, after ``ConnectionLane/Server/breakCount`` has grown, because its
  /// own server may not be the primary any more. Then it rings, because a notification may have
  /// been lost.
  final class PostgresDoorbell: Doorbell {
    private let listening: Listening

    init(
      _ string: ConnectionString, _ limits: Limits, channel: String, replicated: ReplicatedCommit,
      ring: @escaping @Sendable (CommitNumber?) -> Void
    ) throws {
      listening = Listening(
        string: string, limits: limits, channel: channel, replicated: replicated, ring: ring,
        wakePipe: try WakePipe())
      let connection: PostgresConnection?
      do {
        connection = try listening.connect()
      } catch is LedgerError {
        // It tries again: a server that refuses now may be the primary soon. Turns and polls report
        // what is wrong.
        connection = nil
      }
      // A serial queue always gets a thread.
      DispatchQueue(label: "modelstore.postgres.listen").async { [listening] in
        listening.run(connection)
      }
    }

    deinit { end() }

    func end() { listening.wakePipe.wake() }
  }

  /// What the thread of a doorbell does. It does not keep the doorbell.
  private struct Listening: Sendable {
    let string: ConnectionString
    let limits: Limits
    let channel: String
    let replicated: ReplicatedCommit
    let ring: @Sendable (CommitNumber?) -> Void
    let wakePipe: WakePipe

    func connect() throws -> PostgresConnection {
      let connection = try replicated.server.open(
        string, limits, for: .ledger, stop: wakePipe.descriptor)
      do {
        // The channel has only letters, digits and an underscore.
        _ = try connection.run([(.once("LISTEN \(channel)"), [])], until: limits.answerTime)
      } catch let failure as PostgresFailure {
        throw failure.ledgerError
      }
      return connection
    }

    func run(_ first: PostgresConnection?) {
      var connection = first
      var pause = limits.pause
      while true {
        if let open = connection {
          pause = limits.pause
          connection = nil
          if !ring(for: open) { return }
        }
        guard !isEnded(within: pause) else { return }
        pause = min(pause * 2, limits.pauseMax)
        do {
          connection = try connect()
          ring(nil)
        } catch {
          // The next attempt follows after the pause.
        }
      }
    }

    /// Rings until the connection breaks, or ``ConnectionLane/Server/breakCount`` has grown.
    ///
    /// - Returns: False when the doorbell has ended.
    private func ring(for connection: PostgresConnection) -> Bool {
      while true {
        let outcome = SocketWait.wait(
          for: connection.socket, POLLIN, until: .now + limits.pauseMax, stop: wakePipe.descriptor)
        if outcome == .stopped { return false }
        guard connection.breakCount == replicated.server.breakCount else { return true }
        guard outcome == .ready else { continue }
        do {
          let texts = try connection.takeNotifications()
          guard !texts.isEmpty else { continue }
          let announcements = texts.compactMap(Announcement.init)
          for case (let number, let hash?) in announcements.map({ ($0.number, $0.hash) }) {
            replicated.note(number, hash, isProven: false, connection.breakCount)
          }
          // Earlier versions of this library send no number.
          let isKnown = announcements.count == texts.count
          ring(isKnown ? announcements.map(\.number).max() : nil)
        } catch {
          return true
        }
      }
    }

    private func isEnded(within pause: Duration) -> Bool {
      SocketWait.wait(for: wakePipe.descriptor, POLLIN, until: .now + pause) == .ready
    }
  }
#endif
