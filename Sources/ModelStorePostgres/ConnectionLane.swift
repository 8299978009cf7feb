#if Postgres
  internal import Dispatch
  internal import ModelStore
  internal import Synchronization

  /// One connection for one purpose. Threads use it one after the other, in the order in which they
  /// asked. It is opened on first use, and again after it or another lane's connection to the same
  /// server broke, or led to another server.
  final class ConnectionLane: Sendable {
    private let string: ConnectionString
    private let limits: Limits
    private let free = DispatchSemaphore(value: 1)
    private let idle = Mutex<Open?>(nil)
    private let server: Server
    private let purpose: PostgresConnection.Purpose

    init(
      _ string: ConnectionString, _ limits: Limits, _ server: Server,
      for purpose: PostgresConnection.Purpose = .commits
    ) {
      self.string = string
      self.limits = limits
      self.server = server
      self.purpose = purpose
    }

    /// The server to which all lanes of a ledger are connected. After one of them had to give its
    /// connection up, or has found another server, the others look for the primary again, too.
    /// Otherwise they might go on with a server that is not the primary any more.
    final class Server: Sendable {
      private let state = Mutex((breakCount: 0, place: String?.none))

      /// How often a connection was given up, or led to another server than the one before.
      var breakCount: Int { state.withLock { $0.breakCount } }

      func noteBreak() { state.withLock { $0.breakCount += 1 } }

      /// - Parameters:
      ///   - place: Where a new connection leads to.
      ///   - breakCount: ``breakCount`` before it was opened.
      /// - Returns: The count of the new connection, which is the present one unless another
      ///   connection broke meanwhile.
      func noteOpening(at place: String, after breakCount: Int) -> Int {
        state.withLock { state in
          let isCurrent = state.breakCount == breakCount
          if let last = state.place, last != place { state.breakCount += 1 }
          state.place = place
          return isCurrent ? state.breakCount : breakCount
        }
      }
    }

    /// A connection, and ``Server/breakCount`` when it was opened.
    fileprivate struct Open {
      let connection: PostgresConnection
      let breakCount: Int
    }

    /// The use of a lane's connection, by one thread, until it ends.
    final class Lease {
      var connection: PostgresConnection { open.connection }
      /// ``Server/breakCount`` when the connection was opened.
      var breakCount: Int { open.breakCount }
      private let open: Open
      private let lane: ConnectionLane
      private var isOver = false

      fileprivate init(_ open: Open, of lane: ConnectionLane) {
        self.open = open
        self.lane = lane
      }

      deinit { end() }

      /// Rolls back what was not committed, and gives the connection to the next thread.
      func end() {
        guard !isOver else { return }
        isOver = true
        connection.rollBack()
        lane.keep(open)
        lane.free.signal()
      }
    }

    private func keep(_ open: Open) {
      guard !open.connection.isBroken else { return server.noteBreak() }
      // The tables may be created by a newer library, which the next connection would notice.
      guard purpose == .records || open.connection.greeting.layout != nil else { return }
      idle.withLock { $0 = open }
    }

    /// The connection of the last lease, unless a connection was lost since it was opened.
    private func takeIdle() -> Open? {
      let open = idle.withLock { $0.take() }
      return open?.breakCount == server.breakCount ? open : nil
    }

    private func open() throws -> Open {
      let breakCount = server.breakCount
      let connection = try PostgresConnection.open(string, limits, for: purpose)
      return Open(
        connection: connection,
        breakCount: server.noteOpening(at: connection.place, after: breakCount))
    }

    /// Waits for the connection and runs `body`, twice if the connection broke while no thread used
    /// it. So `body` must change nothing unless it returns.
    ///
    /// - Parameter end: nil to wait endlessly for other threads.
    /// - Returns: What `body` returned, and the lease, which goes on.
    /// - Throws: ``LedgerError``.
    func lease<Result>(
      until end: ContinuousClock.Instant?, _ body: (PostgresConnection) throws -> Result
    ) throws -> (lease: Lease, result: Result) {
      let timeout = end.map { DispatchTime.now() + .milliseconds(($0 - .now).milliseconds) }
      guard free.wait(timeout: timeout ?? .distantFuture) == .success else {
        throw LedgerError.timedOut("Another thread of this program kept the connection.")
      }
      var isWaiting = true
      defer { if isWaiting { free.signal() } }
      while true {
        let kept = takeIdle()
        let open = try kept ?? open()
        do {
          let result = try body(open.connection)
          isWaiting = false
          return (Lease(open, of: self), result)
        } catch let failure as PostgresFailure {
          if open.connection.isBroken, kept != nil {
            keep(open)
            continue
          }
          isWaiting = false
          Lease(open, of: self).end()
          throw failure.ledgerError
        } catch {
          isWaiting = false
          Lease(open, of: self).end()
          throw error
        }
      }
    }

    /// As ``lease(until:_:)``, and the lease ends.
    func use<Result>(_ body: (PostgresConnection) throws -> Result) throws -> Result {
      let (lease, result) = try lease(until: nil, body)
      lease.end()
      return result
    }
  }
#endif
