/// The times of one read. It exists only while a monitor listens or reads are tracked.
struct ReadTimer {
  private let monitors: Monitors
  private let start = ContinuousClock.now

  init(monitors: Monitors) {
    self.monitors = monitors
  }

  /// Runs `body`, which reads, and reports how it ended.
  func reporting<Result>(
    on connection: Connection, _ body: () throws -> Result
  ) throws -> Result {
    let number = monitors.nextReadNumber()
    let began = ContinuousClock.now
    monitors.send(.readBegan(number))
    do {
      let result = try monitors.tracking(number, since: began) {
        try monitors.reportingSlowStatements(on: connection, body)
      }
      end(number, began, .now, nil)
      return result
    } catch {
      end(number, began, .now, error)
      throw error
    }
  }

  /// What there is to report of a read that succeeded.
  struct Success {
    fileprivate let began: ContinuousClock.Instant
    fileprivate let ended: ContinuousClock.Instant
    fileprivate let slow: [StatementReport]
  }

  /// Runs `body`, which reads, and reports nothing yet. If it throws, there is nothing to report.
  func timing<Result>(
    on connection: Connection, _ body: () throws -> Result
  ) throws -> (result: Result, success: Success) {
    let began = ContinuousClock.now
    let (result, slow) = try monitors.collectingSlowStatements(on: connection, body)
    return (result, Success(began: began, ended: .now, slow: slow))
  }

  /// Reports a read that ``timing(on:_:)`` has run.
  func report(_ success: Success) {
    let number = monitors.nextReadNumber()
    monitors.send(.readBegan(number))
    for statement in success.slow { monitors.send(.slowStatement(statement)) }
    end(number, success.began, success.ended, nil)
  }

  private func end(
    _ number: UInt64, _ began: ContinuousClock.Instant, _ ended: ContinuousClock.Instant,
    _ error: (any Error)?
  ) {
    monitors.send(
      .readEnded(
        ReadReport(
          number: number, queue: start.duration(to: began), duration: began.duration(to: ended),
          error: error)))
  }
}

extension ReadTimer? {
  /// Runs `body`, which reads, and reports how it ended if a monitor listens.
  func reporting<Result>(
    on connection: Connection, _ body: () throws -> Result
  ) throws -> Result {
    guard let self else { return try body() }
    return try self.reporting(on: connection, body)
  }

  /// Runs `body` as ``ReadTimer/timing(on:_:)`` does, if a monitor listens.
  func timing<Result>(
    on connection: Connection, _ body: () throws -> Result
  ) throws -> (result: Result, success: ReadTimer.Success?) {
    guard let self else { return (try body(), nil) }
    let (result, success) = try self.timing(on: connection, body)
    return (result, success)
  }

  func report(_ success: ReadTimer.Success?) {
    if let self, let success { self.report(success) }
  }
}
