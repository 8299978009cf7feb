// References between records.
extension WriteTransaction {
  /// Checks foreign keys at COMMIT instead of after each statement, until the transaction ends.
  ///
  /// Call it to write records before those that they refer to, or records that refer to each other
  /// in a circle.
  ///
  /// ```swift
  /// try store.write { tx in
  ///   try tx.deferReferenceChecks()
  ///   for employee in employees { try tx.insert(employee) }  // managers may come later
  /// }
  /// ```
  /// If a reference is broken at COMMIT, the transaction is rolled back and the error lists the
  /// records. To find them earlier, call ``checkReferences()``. `ON DELETE RESTRICT` is deferred
  /// too. Reference rules that were added later are still checked at once.
  ///
  /// See <https://sqlite.org/pragma.html#pragma_defer_foreign_keys>.
  public borrowing func deferReferenceChecks() throws {
    try access.runner.run("PRAGMA defer_foreign_keys = ON") { statement in try statement.run() }
  }

  /// Checks now which references COMMIT would refuse.
  ///
  /// - Throws: ``StoreError`` with code `rejected` and a violation with the key of each record
  ///   whose reference is broken. The transaction can continue. Records that another program broke
  ///   earlier are included.
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
