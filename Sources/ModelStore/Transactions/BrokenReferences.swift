/// The records that refer to nothing at the moment, as SQLite itself finds them: what is wrong when
/// COMMIT refuses a deferred foreign key. References that were broken before the transaction, by
/// a program with foreign keys off, are among them.
struct BrokenReferences {
  /// At most as many as were asked for.
  private(set) var violations: [Violation] = []
  /// How many there are.
  private(set) var count = 0
  private let models: StoreSchema

  /// - Complexity: Reads every record that refers to another.
  init(on connection: Connection, models: StoreSchema, countMax: Int) throws {
    self.models = models
    // https://sqlite.org/pragma.html#pragma_foreign_key_check
    let found = try connection.rows(
      """
      SELECT c."table", c.rowid, c.parent, l."from"
      FROM pragma_foreign_key_check AS c
      JOIN pragma_foreign_key_list(c."table") AS l ON l.id = c.fkid AND l.seq = 0
      """
    ) { row in
      (
        table: try row.text(at: 0), rowID: row.isNull(at: 1) ? nil : try row.integer(at: 1),
        parent: try row.text(at: 2), column: try row.text(at: 3)
      )
    }
    count = found.count
    violations = try found.prefix(max(1, countMax)).map { row in
      guard let model = models.models.first(where: { $0.hasTable(called: row.table) }) else {
        return Violation(
          kind: .reference, model: "", rule: "reference",
          message: "refers to a missing row of \(row.parent) from \(row.table).\(row.column)",
          remedy: Self.remedy)
      }
      let field = model.fields.first { $0.column.asciiFolded == row.column.asciiFolded }
      return Violation(
        kind: .reference, model: model.name,
        key: try row.rowID.flatMap { try Self.key(ofRow: $0, in: model, on: connection) },
        fields: field.map { [$0.name] } ?? [],
        rule: "\(model.name).\(field?.name ?? row.column).reference",
        message: "must name an existing \(self.name(ofTable: row.parent))", remedy: Self.remedy)
    }
  }

  /// The error that refuses the transaction; nil when nothing is broken.
  var error: StoreError? {
    guard !violations.isEmpty else { return nil }
    var error = StoreError(rejecting: violations, count: count)
    error.sqliteCode = ResultCode.constraintForeignKey.rawValue
    return error
  }

  private static let remedy = "Insert that record first, or name another."

  private func name(ofTable table: String) -> String {
    models.models.first { $0.hasTable(called: table) }?.name ?? table
  }

  private static func key(
    ofRow rowID: Int64, in model: ModelSchema, on connection: Connection
  ) throws -> [SQLValue]? {
    let columns = SQLText.quotedList(model.keyIndices.map { model.fields[$0].column })
    return try connection.firstRow(
      "SELECT \(SQLText(sql: columns)) FROM \(identifier: model.table) WHERE rowid = \(rowID)"
    ) { row in try row.values() }
  }
}

extension ModelSchema {
  fileprivate func hasTable(called name: String) -> Bool {
    table.asciiFolded.isExactly(name.asciiFolded)
  }
}
