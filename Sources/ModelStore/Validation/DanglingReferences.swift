/// The records whose references are currently broken, as SQLite itself finds them. They explain why
/// COMMIT refuses a deferred foreign key.
///
/// They include references that were broken before the transaction by a program with foreign keys
/// off. References that SQLite cannot check are not included.
struct DanglingReferences {
  /// At most the requested number of violations.
  private(set) var violations: [Violation] = []
  /// The number of broken references.
  private(set) var count = 0
  private let models: StoreSchema

  /// - Complexity: Reads every record that refers to another.
  init(on connection: Connection, models: StoreSchema, countMax: Int) throws {
    self.models = models
    for table in try Catalog(reading: connection).tables where !table.foreignKeys.isEmpty {
      let found = try Self.rows(of: table, on: connection)
      count += found.count
      let model = models.models.first { $0.hasTable(called: table.name) }
      var keys = DanglingKeys(of: table, as: model, on: connection)
      for row in found.prefix(max(1, countMax) - violations.count) {
        guard let model else {
          violations.append(
            Violation(
              kind: .reference, model: "", rule: "reference",
              message:
                "refers to a missing row of \(row.parent) from \(table.name).\(row.column)",
              remedy: Violation.referenceRemedy))
          continue
        }
        let field = model.fields.first { $0.column.asciiFolded == row.column.asciiFolded }
        var violation = Violation.missing(
          named(row.parent), for: field?.name ?? row.column, of: model)
        violation.fields = field.map { [$0.name] } ?? []
        violation.key =
          if let rowID = row.rowID {
            try Self.key(ofRow: rowID, of: table, as: model, on: connection)
          } else {
            try keys.next(for: row.foreignKey)
          }
        violations.append(violation)
      }
    }
  }

  private typealias Row = (rowID: Int64?, parent: String, column: String, foreignKey: Int64)

  private static func rows(of table: TableFacts, on connection: Connection) throws -> [Row] {
    do {
      // https://sqlite.org/pragma.html#pragma_foreign_key_check
      return try connection.rows(
        """
        SELECT c.rowid, c.parent, l."from", c.fkid
        FROM pragma_foreign_key_check(\(table.name), 'main') AS c
        JOIN pragma_foreign_key_list(\(table.name), 'main') AS l ON l.id = c.fkid AND l.seq = 0
        """
      ) { row in
        (
          rowID: row.isNull(at: 0) ? nil : try row.integer(at: 0), parent: try row.text(at: 1),
          column: try row.text(at: 2), foreignKey: try row.integer(at: 3)
        )
      }
    } catch let error as SQLiteError where error.code.primary == .error {
      // The parent's columns are not unique: https://sqlite.org/foreignkeys.html#fk_indexes
      return []
    }
  }

  /// The error that rejects the transaction; nil when no reference is broken.
  var error: StoreError? {
    guard !violations.isEmpty else { return nil }
    var error = StoreError(rejecting: violations, count: count)
    error.sqliteCode = ResultCode.constraintForeignKey.rawValue
    return error
  }

  private func named(_ table: String) -> String {
    models.models.first { $0.hasTable(called: table) }?.name ?? table
  }

  private static func key(
    ofRow rowID: Int64, of table: TableFacts, as model: ModelSchema, on connection: Connection
  ) throws -> [SQLValue]? {
    guard let name = TableFacts.rowIDName(besides: table.columns.map(\.name)) else { return nil }
    let columns = SQLText.quotedList(model.keyIndices.map { model.fields[$0].column })
    return try connection.firstRow(
      """
      SELECT \(SQLText(sql: columns)) FROM \(identifier: model.table)
      WHERE \(SQLText(sql: name)) = \(rowID)
      """
    ) { row in try row.values() }
  }
}

extension ModelSchema {
  fileprivate func hasTable(called name: String) -> Bool {
    table.asciiFolded.isExactly(name.asciiFolded)
  }
}
