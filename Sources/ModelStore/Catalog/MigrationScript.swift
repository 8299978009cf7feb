/// A migration's statements, which are checked and run one by one.
struct MigrationScript {
  private let migration: Migration
  private let statements: [String]

  init(_ migration: Migration) {
    self.migration = migration
    statements = SQLTokens(migration.sql).statements
  }

  /// Rejects statements that would end the migration's transaction, or that have no effect in a
  /// transaction.
  ///
  /// - Throws: ``StoreError`` with code `migrationConflict` that names the statement.
  func check() throws(StoreError) {
    for (index, statement) in statements.enumerated() {
      let source = SQLTokens(statement)
      let words = source.significant.prefix(2)
      guard let first = words.first, first.kind == .word else { continue }
      let keyword = source.text(first.range).uppercased()
      if let reason = Self.refused[keyword] {
        throw StoreError(
          .migrationConflict,
          "\(place(index)): \(keyword) is not allowed in a migration, \(reason).")
      }
      if source.createsTemporary {
        throw StoreError(
          .migrationConflict,
          """
          \(place(index)): a temporary table, view or trigger is not allowed in a migration, \
          because it would outlive the migration and hide objects of the file.
          """)
      }
      if keyword == "PRAGMA", let name = words.last.map({ source.name($0).asciiFolded }),
        !Self.pragmas.contains(name)
      {
        throw StoreError(
          .migrationConflict,
          """
          \(place(index)): PRAGMA \(name) is not allowed in a migration, because it does nothing \
          inside a transaction, or would stay in effect after the migration.
          """)
      }
    }
  }

  /// - Precondition: `connection` is in a write transaction.
  /// - Throws: ``StoreError`` that names the failing statement.
  func run(on connection: Connection) throws {
    for (index, statement) in statements.enumerated() {
      do {
        let source = SQLTokens(statement)
        if let first = source.significant.first, source.isKeyword(first, "ALTER") {
          try AddedColumns.run(SQLText(sql: statement), on: connection)
        } else {
          try connection.run(SQLText(sql: statement))
        }
      } catch let error as SQLiteError {
        var failure = StoreError(error)
        failure.message = "\(place(index)): \(failure.message) The migration was rolled back."
        throw failure
      }
    }
  }

  private func place(_ index: Int) -> String {
    "Migration \(migration), statement \(index + 1)"
  }

  private static let refused: [String: String] = {
    let ends = "because its transaction must contain all of it"
    let forbidden = "because SQLite does not run it inside a transaction"
    return [
      "BEGIN": ends, "COMMIT": ends, "END": ends, "ROLLBACK": ends, "SAVEPOINT": ends,
      "RELEASE": ends, "VACUUM": forbidden, "ATTACH": forbidden, "DETACH": forbidden,
    ]
  }()

  /// Pragmas that take effect in a transaction and end with it, or belong to the file.
  private static let pragmas: Set<String> = [
    "application_id", "defer_foreign_keys", "legacy_alter_table", "user_version",
  ]
}
