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

  /// Listens on a connection of its own, by a thread of its own, until it is released. There it
  /// also sends the notifications of this member's commits.
  ///
  /// After a lost connection it connects again, with growing pauses, and also if it could not do so
  /// at first. It does so, too, after ``ConnectionLane/Server/breakCount`` has grown, because its
  /// own server may not be the primary any more. Then it rings, because a notification may have
  /// been lost.
  final class PostgresDoorbell: Doorbell {
    private let listening: Listening

    init(
      of ledger: PostgresLedger, ring: @escaping @Sendable (CommitNumber?) -> Void
    ) throws {
      listening = Listening(
        string: ledger.string, limits: ledger.limits, channel: ledger.channel,
        replicated: ledger.replicated, announcer: ledger.announcer, ring: ring,
        endPipe: try WakePipe())
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

    func end() { listening.endPipe.wake() }
  }

  /// What the thread of a doorbell does. It does not keep the doorbell.
  private struct Listening: Sendable {
    let string: ConnectionString
    let limits: Limits
    let channel: String
    let replicated: ReplicatedCommit
    let announcer: CommitAnnouncer
    let ring: @Sendable (CommitNumber?) -> Void
    let endPipe: WakePipe

    func connect() throws -> PostgresConnection {
      let connection = try replicated.server.open(
        string, limits, for: .ledger, stop: endPipe.descriptor)
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
      while connection.breakCount == replicated.server.breakCount {
        var end = ContinuousClock.now + limits.pauseMax
        do {
          switch announcer.next(connection.breakCount) {
          case .send(let announcement):
            try send(announcement, on: connection)
            // Notifications came before the answer, this one among them.
            try ringForNotifications(of: connection)
            continue
          case .wait(let time): end = min(time, end)
          case .sleep: break
          }
          let outcome = SocketWait.wait(
            for: connection.socket, POLLIN, until: end, stop: endPipe.descriptor,
            wake: announcer.wakePipe.descriptor)
          switch outcome {
          case .stopped:
            let announcement = announcer.takeWaiting(connection.breakCount)
            if let announcement { try send(announcement, on: connection) }
            return false
          case .woken: announcer.wakePipe.clear()
          case .ready: try ringForNotifications(of: connection)
          case .timedOut: break
          }
        } catch {
          return true
        }
      }
      return true
    }

    /// - Throws: The connection is broken. Members poll.
    private func send(_ announcement: Announcement, on connection: PostgresConnection) throws {
      do {
        // A poll finds the commit, too, so it is not worth a long wait.
        _ = try connection.run(
          [(.notify, [.text(channel), .text(announcement.text)])], until: .now + limits.answer)
      } catch is PostgresFailure where !connection.isBroken {
        // The server refused it, for example because its queue is full. Members poll.
      }
    }

    private func ringForNotifications(of connection: PostgresConnection) throws {
      let texts = try connection.takeNotifications()
      guard !texts.isEmpty else { return }
      let announcements = texts.compactMap(Announcement.init)
      for announcement in announcements {
        announcer.note(announcement)
        guard let hash = announcement.hash else { continue }
        replicated.note(announcement.number, hash, isProven: false, connection.breakCount)
      }
      // Earlier versions of this library send no number.
      let isKnown = announcements.count == texts.count
      ring(isKnown ? announcements.map(\.number).max() : nil)
    }

    private func isEnded(within pause: Duration) -> Bool {
      SocketWait.wait(for: endPipe.descriptor, POLLIN, until: .now + pause) == .ready
    }
  }
#endif
