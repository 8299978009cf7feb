internal import CSQLite

/// The number of steps of SQLite's virtual machine that a statement may run, and whether it was
/// exceeded. Counted in portions of ``portion`` steps.
private struct StepBudget {
  static let portion: Int32 = 1000

  var portionsLeft: Int
  var isExhausted = false

  /// Whether the statement must stop.
  mutating func spend() -> Bool {
    portionsLeft -= 1
    isExhausted = portionsLeft < 0
    return isExhausted
  }
}

extension Connection {
  /// Runs `body`, and stops its statement after `maxStepCount` steps of SQLite's virtual machine.
  ///
  /// - Returns: The result of `body`; nil if its statement was stopped.
  func limitingSteps<Result>(to maxStepCount: Int, _ body: () throws -> Result) throws -> Result? {
    var budget = StepBudget(portionsLeft: max(1, maxStepCount / Int(StepBudget.portion)))
    return try withUnsafeMutablePointer(to: &budget) { budget in
      // https://sqlite.org/c3ref/progress_handler.html
      sqlite3_progress_handler(
        handle, StepBudget.portion,
        { context in
          let budget = context?.assumingMemoryBound(to: StepBudget.self)
          return budget?.pointee.spend() == true ? 1 : 0
        }, budget)
      defer { hooks.installStopCheck() }
      do {
        return try body()
      } catch {
        guard budget.pointee.isExhausted else { throw error }
        return nil
      }
    }
  }
}
