/// Keeps programs without the ledger from writing into a member's file.
enum MemberGuard {
  /// The triggers of a table. Tables that change only together with others need none.
  static func triggers(of table: SharedTable) -> [String] {
    let isOwn = table.name.hasPrefix("_ms_")
    guard !isOwn || consumerTables.contains(table.name) else { return [] }
    return ["insert", "update", "delete"].map { operation in
      """
      CREATE TRIGGER main.\(SQLText.quoted("_ms_member_\(operation)_\(table.name)"))
      BEFORE \(operation.uppercased()) ON \(SQLText.quoted(table.name))
      BEGIN SELECT \(SQLFunction.memberOnly.name)(); END
      """
    }
  }

  private static let consumerTables: Set<String> = [
    "_ms_journal_consumers", "_ms_workers", "_ms_dead_letters",
  ]
}
