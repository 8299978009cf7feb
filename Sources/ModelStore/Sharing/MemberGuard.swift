/// Keeps programs without the ledger from writing into a member's file.
enum MemberGuard {
  /// The triggers of a table. Tables that change only together with others need none.
  static func triggers(of table: SharedTable) -> [String] {
    let isOwn = table.name.hasPrefix("_ms_")
    guard !isOwn || consumerTables.contains(table.name) else { return [] }
    return ["insert", "update", "delete"].map { operation in
      """
      CREATE TRIGGER main.\(SQLText.quoted("\(prefix)\(operation)_\(table.name)"))
      BEFORE \(operation.uppercased()) ON \(SQLText.quoted(table.name))
      BEGIN SELECT \(SQLFunction.memberOnly.name)(); END
      """
    }
  }

  /// The names of all of them in a file.
  static func triggerNames(on connection: Connection) throws -> [String] {
    try connection.rows(
      """
      SELECT name FROM main.sqlite_schema
      WHERE type = 'trigger' AND substr(name, 1, \(prefix.utf8.count)) = \(prefix)
      ORDER BY name
      """
    ) { row in try row.text(at: 0) }
  }

  /// With which their names begin.
  private static let prefix = "_ms_member_"

  private static let consumerTables: Set<String> = [
    "_ms_journal_consumers", "_ms_workers", "_ms_dead_letters",
  ]
}
