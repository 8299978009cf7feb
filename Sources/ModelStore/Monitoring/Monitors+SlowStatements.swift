// Statements that take long.
extension Monitors {
  /// Runs `body`, and reports its long statements with their plans.
  func reportingSlowStatements<Result>(
    on connection: Connection, _ body: () throws -> Result
  ) rethrows -> Result {
    guard let duration = slowStatementDuration else { return try body() }
    let profile = StatementProfile(from: duration)
    defer { for report in reports(of: profile, on: connection) { send(.slowStatement(report)) } }
    return try connection.profiling(profile, body)
  }

  /// Runs `body`, and returns the reports of its long statements. If it throws, there are none.
  func collectingSlowStatements<Result>(
    on connection: Connection, _ body: () throws -> Result
  ) rethrows -> (result: Result, reports: [StatementReport]) {
    guard let duration = slowStatementDuration else { return (try body(), []) }
    let profile = StatementProfile(from: duration)
    let result = try connection.profiling(profile, body)
    return (result, reports(of: profile, on: connection))
  }

  private func reports(
    of profile: StatementProfile, on connection: Connection
  ) -> [StatementReport] {
    profile.statements.map { statement in
      StatementReport(
        sql: statement.sql, duration: statement.duration,
        plan: plan(of: statement.sql, on: connection))
    }
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
