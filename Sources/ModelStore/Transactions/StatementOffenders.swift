// All offenders of a statement over many records.
extension TransactionAccess {
  /// SQLite stops a statement at the first record that breaks a CHECK. This runs it once more
  /// without CHECKs, looks who breaks them, and takes it back; not while another statement runs.
  ///
  /// - Returns: `error` with every CHECK of its model that a record breaks, where the statement is
  ///   about several records. Those that broke one before are among them.
  /// - Complexity: The statement's, and one pass over the table for each CHECK.
  func completed(_ error: any Error, rerunning text: SQLText) -> any Error {
    guard let refusal = error as? StoreError, refusal.violations.count == 1,
      refusal.violations[0].kind == .check, connection.isInTransaction,
      // What the first run did not reach might end the transaction.
      !models.mayRollBack, !connection.hasRunningStatement,
      let schema = models.schema.models.first(where: { $0.name == refusal.violations[0].model })
    else { return error }
    let mark = capture?.savepoint
    let orders = lists?.savepoint
    defer {
      if let mark { capture?.rollBack(to: mark) }
      if let orders { lists?.rollBack(to: orders) }
    }
    do {
      let found = try connection.rollingBack {
        try connection.runIgnoringChecks(text)
        return connection.changeCount > 1 ? try offenders(in: schema) : nil
      }
      guard let found, found.count > 1 else { return error }
      var complete = StoreError(rejecting: found.violations, count: found.count)
      complete.sqliteCode = refusal.sqliteCode
      return complete
    } catch {
      // It breaks something else as well, which stops it again: the first reason stands.
      return refusal
    }
  }

  private func offenders(
    in schema: ModelSchema
  ) throws -> (violations: [Violation], count: Int) {
    let countMax = max(1, refusals.violationCountMax)
    let reads = ReadTransaction(
      access: TransactionAccess(
        connection: connection, models: models, capture: nil, isWritable: false))
    var violations: [Violation] = []
    var count = 0
    for check in RecordChecks(schema: schema, models: models.schema.models, rules: []).checks
    where check.violation.kind == .check {
      let finding = try reads.finding(
        check.violation, check.offence, in: schema, keyCountMax: countMax - violations.count)
      count += finding?.count ?? 0
      for key in finding?.keys ?? [] {
        var violation = check.violation
        violation.key = key
        violations.append(violation)
      }
    }
    return (violations, count)
  }
}
