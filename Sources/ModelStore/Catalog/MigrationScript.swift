/// The statements or the closure of a migration or of its reverse, which are checked and run.
struct MigrationScript {
  private let content: Migration.Content
  /// The statements; empty for a closure.
  let statements: [String]
  /// What it is, for the beginning of messages: "Migration 3 add_due_date".
  let place: String

  init(_ migration: Migration) {
    self.init(migration.content, place: "Migration \(migration)")
  }

  /// Creates the script that takes an applied migration back: the text in the ledger or, if the
  /// ledger has none, what the program declares.
  ///
  /// - Returns: nil if the migration is irreversible.
  init?(reverting entry: AppliedMigration, declared: [Migration]) {
    let declaration = declared.first { $0.version == entry.version }
    guard let content = entry.reverse.map({ .sql($0) }) ?? declaration?.reverse else { return nil }
    self.init(content, place: "Reverting migration \(entry)")
  }

  private init(_ content: Migration.Content, place: String) {
    self.content = content
    self.place = place
    statements = if case .sql(let text) = content { SQLTokens(text).statements } else { [] }
  }

  /// Whether it is a closure.
  var isSwift: Bool { if case .swift = content { true } else { false } }

  /// Rejects statements that would end the migration's transaction, or that have no effect in a
  /// transaction.
  ///
  /// - Throws: ``StoreError`` with code `migrationConflict` that names the statement.
  func check() throws(StoreError) {
    for (index, statement) in statements.enumerated() {
      try Self.check(statement, at: place(index))
    }
  }

  /// As ``check()``, for one statement.
  ///
  /// - Parameter place: How messages begin.
  static func check(_ statement: String, at place: String) throws(StoreError) {
    let source = SQLTokens(statement)
    let words = source.significant.prefix(2)
    guard let first = words.first, first.kind == .word else { return }
    let keyword = source.text(first.range).uppercased()
    if let reason = refused[keyword] {
      throw StoreError(
        .migrationConflict, "\(place): \(keyword) is not allowed in a migration, \(reason).")
    }
    if source.createsTemporary {
      throw StoreError(
        .migrationConflict,
        """
        \(place): a temporary table, view or trigger is not allowed in a migration, \
        because it would outlive the migration and hide objects of the file.
        """)
    }
    if keyword == "PRAGMA", let name = words.last.map({ source.name($0).asciiFolded }),
      !pragmas.contains(name)
    {
      throw StoreError(
        .migrationConflict,
        """
        \(place): PRAGMA \(name) is not allowed in a migration, because it does nothing \
        inside a transaction, or would stay in effect after the migration.
        """)
    }
  }

  /// - Returns: What became of the tables.
  /// - Precondition: `connection` is in a write transaction.
  /// - Throws: ``StoreError`` that names the failing statement, or what the closure throws.
  func run(on connection: Connection) throws -> TableMoves {
    let moves = TableMoves.Recorder()
    switch content {
    case .sql:
      for (index, statement) in statements.enumerated() {
        try Self.run(SQLText(sql: statement), at: place(index), moves, on: connection)
      }
    case .swift(let body):
      let transaction = MigrationTransaction(place, moves, on: connection)
      try body(transaction)
      // The closure may have caught the error that ended it.
      try transaction.checkIsOpen()
    }
    return moves.moves
  }

  /// Runs one statement.
  static func run(
    _ statement: SQLText, at place: String, _ moves: TableMoves.Recorder,
    on connection: Connection
  ) throws {
    try explaining(place) {
      if isAlteration(statement.sql) {
        try AddedColumns.run(statement, on: connection)
      } else {
        try connection.run(statement)
      }
    }
    moves.note(statement.sql)
  }

  /// Whether a statement is ALTER TABLE, which returns no rows.
  static func isAlteration(_ statement: String) -> Bool {
    let source = SQLTokens(statement)
    return source.significant.first.map { source.isKeyword($0, "ALTER") } ?? false
  }

  /// Runs `body`, and adds to an error of SQLite where it happened.
  static func explaining<Result>(_ place: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      var failure = StoreError(error)
      failure.message = "\(place): \(failure.message) The migration was rolled back."
      throw failure
    }
  }

  private func place(_ index: Int) -> String {
    "\(place), statement \(index + 1)"
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
