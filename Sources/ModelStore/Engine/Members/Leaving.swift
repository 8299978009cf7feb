/// Makes a member's file an ordinary store again. The ledger keeps the shared store for its other
/// members.
struct Leaving {
  let engine: StoreEngine

  /// - Returns: The newest commit that the file has.
  /// - Throws: ``StoreError`` with code `misuse` if the file is not a member; as
  ///   ``Membership/beginTurn()``. The file is a member still.
  func run() throws -> CommitNumber {
    try engine.turns.take { writer in
      // The turn brings the commits that the file missed.
      let turn = try engine.membership.beginTurn(of: writer)
      defer { turn?.end(on: writer.connection) }
      guard let membership = engine.membership else { return try remove(&writer).number }
      return try membership.leaving { try remove(&writer) }.number
    }
  }

  /// Removes what makes the file a member, in one transaction.
  private func remove(_ writer: inout Writer) throws -> MemberRecord {
    let connection = writer.connection
    do {
      let record = try connection.inTransaction {
        guard let record = try MemberMark.remove(on: connection) else {
          throw StoreError(
            .misuse, "\(engine.file.path) is not a member of a shared store. Nothing was changed.")
        }
        return record
      }
      try connection.hooks.withoutStopping { try engine.schema.reload(&writer) }
      return record
    } catch {
      throw writer.failure(error)
    }
  }
}
