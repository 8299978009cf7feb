#if Postgres
  internal import Dispatch
  internal import ModelStore
  internal import Synchronization

  /// One connection for one purpose. Threads use it one after the other, in the order in which they
  /// asked. It is opened on first use, and again after it or another lane's connection broke, or
  /// after any connection of the ledger found another server.
  final class ConnectionLane: Sendable {
    private let string: ConnectionString
    private let limits: Limits
    private let free = DispatchSemaphore(value: 1)
    private let idle = Mutex<PostgresConnection?>(nil)
    private let server: Server
    private let purpose: PostgresConnection.Purpose

    init(
      _ string: ConnectionString, _ limits: Limits, _ server: Server,
      for purpose: PostgresConnection.Purpose = .ledger
    ) {
      self.string = string
      self.limits = limits
      self.server = server
      self.purpose = purpose
    }

    /// The server to which all connections of a ledger lead. After that of a lane was given up, or
    /// one has found another server, the others look for the primary again, too. Otherwise they
    /// might go on with a server that is not the primary any more.
    final class Server: Sendable {
      private let state = Mutex((breakCount: 0, identity: String?.none))

      /// How often a lane's connection was given up, or a connection led to another server than the
      /// one before.
      var breakCount: Int { state.withLock { $0.breakCount } }

      func noteBreak() { state.withLock { $0.breakCount += 1 } }

      /// As ``PostgresConnection/open(_:_:for:stop:)``, and notes to which server it leads.
      func open(
        _ string: ConnectionString, _ limits: Limits, for purpose: PostgresConnection.Purpose,
        stop: Int32? = nil
      ) throws -> PostgresConnection {
        let before = breakCount
        let connection = try PostgresConnection.open(string, limits, for: purpose, stop: stop)
        connection.breakCount = noteOpening(of: connection.greeting.server, after: before)
        return connection
      }

      /// - Parameters:
      ///   - identity: ``PostgresConnection/Greeting/server`` of a new connection.
      ///   - breakCount: ``breakCount`` before it was opened.
      /// - Returns: The count of the new connection, which is the present one unless another
      ///   connection broke meanwhile.
      func noteOpening(of identity: String, after breakCount: Int) -> Int {
        state.withLock { state in
          let isCurrent = state.breakCount == breakCount
          if let last = state.identity, last != identity { state.breakCount += 1 }
          state.identity = identity
          return isCurrent ? state.breakCount : breakCount
        }
      }
    }

    /// The use of a lane's connection, by one thread, until it ends.
    final class Lease {
      let connection: PostgresConnection
      private let lane: ConnectionLane
      private var isOver = false

      fileprivate init(_ connection: PostgresConnection, of lane: ConnectionLane) {
        self.connection = connection
        self.lane = lane
      }

      deinit { end() }

      /// Rolls back what was not committed, and gives the connection to the next thread.
      func end() {
        guard !isOver else { return }
        isOver = true
        connection.rollBack()
        lane.keep(connection)
        lane.free.signal()
      }
    }

    private func keep(_ connection: PostgresConnection) {
      guard !connection.isBroken else { return server.noteBreak() }
      // The tables may be created by a newer library, which the next connection would notice.
      guard purpose == .records || connection.greeting.layout != nil else { return }
      idle.withLock { $0 = connection }
    }

    /// The connection of the last lease, unless ``Server/breakCount`` has grown since.
    private func takeIdle() -> PostgresConnection? {
      let connection = idle.withLock { $0.take() }
      return connection?.breakCount == server.breakCount ? connection : nil
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
        let connection = try kept ?? server.open(string, limits, for: purpose)
        do {
          let result = try body(connection)
          isWaiting = false
          return (Lease(connection, of: self), result)
        } catch let failure as PostgresFailure {
          if connection.isBroken, kept != nil {
            keep(connection)
            continue
          }
          isWaiting = false
          Lease(connection, of: self).end()
          throw failure.ledgerError
        } catch {
          isWaiting = false
          Lease(connection, of: self).end()
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
