internal import Synchronization

/// The times of one write. It exists only while a monitor listens.
final class WriteTimer: Sendable {
  typealias Step = WriteReport.Times.Step

  private struct State {
    let start: Int64
    /// When the latest step ended.
    var last: Int64
    var times = WriteReport.Times()
    var changedRowCount = 0
    var sharingCount = 0
    var transaction: TransactionID?

    init() {
      start = ContinuousTime.now
      last = start
    }

    /// Adds the time since the latest step to `step`.
    mutating func end(_ step: Step) {
      let now = ContinuousTime.now
      times[step] += now - last
      last = now
    }
  }

  let number: UInt64
  let monitors: Monitors
  private let state = Mutex(State())

  init(number: UInt64, monitors: Monitors) {
    self.number = number
    self.monitors = monitors
  }

  /// The tag that a monitor has for the commit record.
  var tag: String? { monitors.tag(ofWrite: number) }

  /// The write has its turn.
  func beginTurn() {
    state.withLock { $0.end(.queue) }
    monitors.send(.writeBegan(number))
  }

  /// A step of the write has ended.
  func end(_ step: Step) {
    state.withLock { $0.end(step) }
  }

  /// What passed since the latest step belongs to other writes of the COMMIT.
  func skip() { state.withLock { $0.last = ContinuousTime.now } }

  /// The validators have accepted the write, which changed this many rows.
  func endValidation(changedRowCount: Int64) {
    state.withLock { state in
      state.end(.validation)
      state.changedRowCount = Int(clamping: changedRowCount)
    }
  }

  /// COMMIT has returned.
  ///
  /// - Parameters:
  ///   - transaction: The id in the change journal, if the write was recorded.
  ///   - sharingCount: The number of writes in the COMMIT.
  func committed(_ transaction: TransactionID?, sharingCount: Int) {
    state.withLock { state in
      state.end(.commit)
      state.transaction = transaction
      state.sharingCount = sharingCount
    }
  }

  /// Sends the report. Called once.
  func end(with error: (any Error)?) {
    let report = state.withLock { state in
      state.times.totalNanoseconds = ContinuousTime.now - state.start
      return WriteReport(
        number: number, outcome: .init(error), times: state.times,
        changedRowCount: state.sharingCount > 0 ? state.changedRowCount : 0,
        sharingCount: state.sharingCount,
        transaction: state.transaction)
    }
    monitors.send(.writeEnded(report))
  }
}

// Around the calls that run a write.
extension WriteTimer? {
  /// Runs the body of a write, and reports its long statements.
  func timingBody<Result>(
    on connection: Connection, _ body: () throws -> Result
  ) rethrows -> Result {
    guard let self else { return try body() }
    defer { self.end(.body) }
    return try self.monitors.reportingSlowStatements(on: connection, body)
  }

  /// Runs `body`, and reports how it ended.
  func reporting<Result>(_ body: () throws -> Result) throws -> Result {
    guard let self else { return try body() }
    do {
      let result = try body()
      self.end(with: nil)
      return result
    } catch {
      self.end(with: error)
      throw error
    }
  }

  /// Runs `body`, and reports how it ended.
  func reportingOnQueue<Result: Sendable>(
    _ body: () async throws -> Result
  ) async throws -> Result {
    guard let self else { return try await body() }
    do {
      let result = try await body()
      self.end(with: nil)
      return result
    } catch {
      self.end(with: error)
      throw error
    }
  }
}

extension WriteReport.Outcome {
  /// The outcome of a write that threw `error`, or nil.
  init(_ error: (any Error)?) {
    guard let error else {
      self = .committed
      return
    }
    self =
      switch error {
      case let error as StoreError where error.code == .rejected: .refused(error)
      case let error as StoreError where error.code == .outcomeUnknown: .unknown(error)
      default: .rolledBack(error)
      }
  }
}
