#if Postgres
  internal import Dispatch
  internal import ModelStore
  internal import Synchronization

  /// One connection for one purpose. Threads use it one after the other, in the order in which they
  /// asked. It is opened on first use, and again after it broke.
  final class ConnectionLane: Sendable {
    private let string: ConnectionString
    private let limits: Limits
    private let free = DispatchSemaphore(value: 1)
    private let idle = Mutex<PostgresConnection?>(nil)

    init(_ string: ConnectionString, _ limits: Limits) {
      self.string = string
      self.limits = limits
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
        // The tables may be created by a newer library, which the next connection would notice.
        if !connection.isBroken, connection.greeting.layout != nil {
          lane.idle.withLock { $0 = connection }
        }
        lane.free.signal()
      }
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
        throw LedgerError.timedOut("Another thread of this program kept the turn.")
      }
      var isWaiting = true
      defer { if isWaiting { free.signal() } }
      while true {
        let kept = idle.withLock { $0.take() }
        let connection = try kept ?? PostgresConnection.open(string, limits)
        do {
          let result = try body(connection)
          isWaiting = false
          return (Lease(connection, of: self), result)
        } catch let failure as PostgresFailure {
          if connection.isBroken, kept != nil { continue }
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
