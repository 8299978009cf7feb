/// The application's views and triggers that name changed tables, and whether SQLite can still
/// compile them.
///
/// SQLite compiles a view or trigger only when a statement uses it. For example, after a new column
/// `INSERT INTO log SELECT * FROM Todo` has one value too many. Then every write that fires the
/// trigger fails, long after the change.
struct DependentObjects {
  /// A statement that reads a view, or that would fire triggers of a table or view.
  private struct Use: Hashable {
    let owner: String
    let isWrite: Bool
    let sql: String
  }

  private let connection: Connection
  private let objects: [SchemaText]
  private let uses: [Use]
  /// The uses that failed before the tables changed.
  private var broken: Set<Use> = []

  /// Reads what names one of `tables`, before they change.
  init(on tables: [String], reading connection: Connection) throws {
    self.connection = connection
    objects = try MigrationPlanner(connection: connection).texts()
      .filter { ["view", "trigger"].contains($0.type) && !$0.name.hasPrefix("_ms_") }
      .dependents(on: tables)
    var uses: [Use] = objects.filter { $0.type == "view" }.map { view in
      Use(
        owner: view.name, isWrite: false, sql: "SELECT * FROM main.\(SQLText.quoted(view.name))")
    }
    let owners = Dictionary(
      grouping: objects.filter { $0.type == "trigger" }, by: \.table.asciiFolded)
    for owner in owners.values.compactMap(\.first?.table).sorted() {
      uses += try Self.writes(of: owner, on: connection)
    }
    self.uses = uses
    broken = Set(try uses.filter { try failure(of: $0) != nil })
  }

  /// Returns a sentence for each view and trigger that could be compiled before and cannot be now.
  func problems() throws -> [String] {
    var problems: [String] = []
    for use in uses where !broken.contains(use) {
      guard let reason = try failure(of: use) else { continue }
      let name =
        use.isWrite ? "trigger \(try culprit(of: use)) on \(use.owner)" : "view \(use.owner)"
      let problem = "The \(name) would fail: \(reason)."
      if !problems.contains(problem) { problems.append(problem) }
    }
    return problems
  }

  /// The statements that fire every trigger of a table or view.
  private static func writes(of owner: String, on connection: Connection) throws -> [Use] {
    let name = "main.\(SQLText.quoted(owner))"
    var statements = ["INSERT INTO \(name) DEFAULT VALUES", "DELETE FROM \(name)"]
    // A view that SQLite cannot read has no columns.
    if let columns = try columns(of: owner, on: connection) {
      let list = columns.map { "\($0) = \($0)" }.joined(separator: ", ")
      statements.append("UPDATE \(name) SET \(list)")
    }
    return statements.map { Use(owner: owner, isWrite: true, sql: $0) }
  }

  private static func columns(of owner: String, on connection: Connection) throws -> [String]? {
    do {
      return try connection.rows(
        "SELECT name FROM pragma_table_xinfo(\(owner), 'main') WHERE hidden = 0"
      ) { row in SQLText.quoted(try row.text(at: 0)) }
    } catch let error as SQLiteError where error.code.primary == .error {
      return nil
    }
  }

  /// Returns the name of the trigger because of which a statement cannot be compiled.
  private func culprit(of use: Use) throws -> String {
    let candidates = objects.filter { text in
      text.type == "trigger" && text.table.asciiFolded == use.owner.asciiFolded
    }.map(\.name)
    let all = try connection.rows(
      """
      SELECT name
      FROM sqlite_schema
      WHERE type = 'trigger' AND lower(tbl_name) = \(use.owner.asciiFolded)
      """
    ) { row in try row.text(at: 0) }
    let culprit = try candidates.first { candidate in
      try connection.execute("SAVEPOINT _ms_alone")
      for other in all where other != candidate {
        try connection.execute("DROP TRIGGER main.\(SQLText.quoted(other))")
      }
      let fails = try failure(of: use) != nil
      try connection.execute("ROLLBACK TO _ms_alone; RELEASE _ms_alone")
      return fails
    }
    return culprit ?? candidates.joined(separator: " or ")
  }

  /// Why SQLite cannot compile a statement; nil if it can. EXPLAIN runs nothing.
  private func failure(of use: Use) throws -> String? {
    do throws(SQLiteError) {
      try connection.execute("EXPLAIN \(use.sql)")
      return nil
    } catch {
      guard error.code.primary == .error else { throw error }
      return error.message
    }
  }
}
