// References between records.
extension WriteTransaction {
  /// Checks foreign keys at COMMIT instead of after each statement, from now to the end of the
  /// transaction: records may be written before those that they refer to, and may refer to each
  /// other in a circle.
  ///
  /// ```swift
  /// try store.write { tx in
  ///   try tx.deferReferenceChecks()
  ///   for employee in employees { try tx.insert(employee) }  // managers may come later
  /// }
  /// ```
  /// If a reference is broken at the end, the transaction is rolled back, and the error lists the
  /// records: ``checkReferences()`` finds them earlier. `ON DELETE RESTRICT` waits
  /// too. References that were added as rules are checked at once all the same.
  ///
  /// See <https://sqlite.org/pragma.html#pragma_defer_foreign_keys>.
  public borrowing func deferReferenceChecks() throws {
    try access.runner.run("PRAGMA defer_foreign_keys = ON") { statement in try statement.run() }
  }

  /// Checks now which references COMMIT would refuse.
  ///
  /// - Throws: ``StoreError`` with code `rejected` and a violation for each record that refers to
  ///   none, with its key; the transaction can go on. Records that another program broke earlier
  ///   are listed, too.
  /// - Complexity: Constant when no reference is broken. Otherwise reads every record that refers
  ///   to another.
  public borrowing func checkReferences() throws {
    guard access.connection.hasUnresolvedReferences else { return }
    let dangling = try DanglingReferences(
      on: access.connection, models: access.models.schema,
      countMax: access.refusals.maxViolationCount)
    if let error = dangling.error { throw error }
  }
}
