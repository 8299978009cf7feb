/// The times of one read. It exists only while a monitor listens or reads are tracked.
struct ReadTimer {
  private let monitors: Monitors
  private let start = ContinuousClock.now
  /// The read's number and when it began; nil before.
  private var begun: (number: UInt64, at: ContinuousClock.Instant)?

  init(monitors: Monitors) {
    self.monitors = monitors
  }

  /// Runs `body`, which reads, and reports how it ended.
  mutating func reporting<Result>(
    on connection: Connection, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try succeeding(on: connection, body)
    } catch {
      end(error)
      throw error
    }
  }

  /// As ``reporting(on:_:)``. If `body` throws, the read goes on: call a method again.
  mutating func succeeding<Result>(
    on connection: Connection, _ body: () throws -> Result
  ) throws -> Result {
    let (number, began) = begun ?? (monitors.nextReadNumber(), .now)
    if begun == nil {
      begun = (number, began)
      monitors.send(.readBegan(number))
    }
    let result = try monitors.tracking(number, since: began) {
      try monitors.reportingSlowStatements(on: connection, body)
    }
    end(nil)
    return result
  }

  private func end(_ error: (any Error)?) {
    guard let (number, began) = begun else { return }
    monitors.send(
      .readEnded(
        ReadReport(
          number: number, queue: start.duration(to: began),
          duration: began.duration(to: .now), error: error)))
  }
}

extension ReadTimer? {
  /// Runs `body`, which reads, and reports how it ended if a monitor listens.
  func reporting<Result>(
    on connection: Connection, _ body: () throws -> Result
  ) throws -> Result {
    guard var timer = self else { return try body() }
    return try timer.reporting(on: connection, body)
  }

  /// Runs `body` as ``ReadTimer/succeeding(on:_:)`` does, if a monitor listens.
  mutating func succeeding<Result>(
    on connection: Connection, _ body: () throws -> Result
  ) throws -> Result {
    guard var timer = self else { return try body() }
    defer { self = timer }
    return try timer.succeeding(on: connection, body)
  }
}
