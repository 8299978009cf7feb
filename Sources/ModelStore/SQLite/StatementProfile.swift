/// The statements of a connection that took long, while it is profiled.
final class StatementProfile {
  /// The shortest duration that counts.
  private let durationMin: Duration
  /// In the order in which they ended.
  private(set) var statements: [(sql: String, duration: Duration)] = []

  /// The most statements that are kept, the first ones: a transaction may run millions.
  private static let countMax = 100

  init(from durationMin: Duration) {
    self.durationMin = durationMin
  }

  fileprivate func note(_ sql: UnsafePointer<CChar>, _ duration: Duration) {
    guard duration >= durationMin, statements.count < Self.countMax else { return }
    statements.append((String(cString: sql), duration))
  }
}

extension Connection {
  /// Runs `body`, and notes its long statements in `profile`.
  func profiling<Result>(
    _ profile: StatementProfile, _ body: () throws -> Result
  ) rethrows -> Result {
    hooks.onStatementEnd { sql, duration in profile.note(sql, duration) }
    defer { hooks.onStatementEnd(nil) }
    return try body()
  }
}
