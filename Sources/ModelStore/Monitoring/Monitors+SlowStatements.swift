// Statements that take long.
extension Monitors {
  /// Runs `body`, and reports its long statements with their plans.
  func reportingSlowStatements<Result>(
    on connection: Connection, _ body: () throws -> Result
  ) rethrows -> Result {
    guard let duration = slowStatementDuration else { return try body() }
    let profile = StatementProfile(from: duration)
    defer {
      for statement in profile.statements {
        send(
          .slowStatement(
            StatementReport(
              sql: statement.sql, duration: statement.duration,
              plan: plan(of: statement.sql, on: connection))))
      }
    }
    return try connection.profiling(profile, body)
  }

  /// The plan only explains a report. A statement without one, such as COMMIT, is reported too.
  private func plan(of sql: String, on connection: Connection) -> [String] {
    do {
      return try connection.planSteps(of: sql)
    } catch {
      return []
    }
  }
}
