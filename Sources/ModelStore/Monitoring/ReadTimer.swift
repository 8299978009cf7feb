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
    func report(_ error: (any Error)?) {
      monitors.send(
        .readEnded(
          ReadReport(
            number: number, queue: start.duration(to: began),
            duration: began.duration(to: .now), error: error)))
    }
    do {
      let result = try monitors.tracking(number, since: began) {
        try monitors.reportingSlowStatements(on: connection, body)
      }
      report(nil)
      return result
    } catch {
      report(error)
      throw error
    }
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
}
