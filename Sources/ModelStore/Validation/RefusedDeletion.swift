// Which records cannot be deleted, and what refers to them.
extension _TransactionAccess {
  /// SQLite says that a foreign key refuses a deletion, but neither which record nor which key.
  ///
  /// - Parameter selection: The WHERE clause of the deletion, with its keyword; empty for all
  ///   records.
  /// - Returns: `error` with a violation for each record that others refer to and would still refer
  ///   to after the deletion. As it is, when there is none: then a trigger or a default broke a
  ///   reference.
  func completed(
    _ error: any Error, deleting schema: ModelSchema, _ selection: SQLText
  ) -> any Error {
    guard let refusal = error as? StoreError, refusal.code == .rejected,
      refusal.sqliteCode == ResultCode.constraintForeignKey.rawValue, connection.isInTransaction
    else { return error }
    do {
      var held = HeldRecords(countMax: max(1, refusals.maxViolationCount))
      for table in try Catalog(reading: connection).tables {
        for key in table.foreignKeys where key.keepsItsParent(called: schema.table) {
          try held.add(Reference(from: table, by: key), to: schema, selection, on: self)
        }
      }
      guard !held.violations.isEmpty else { return error }
      var complete = StoreError(rejecting: held.violations, count: held.count)
      complete.sqliteCode = refusal.sqliteCode
      return complete
    } catch {
      // What cannot be examined further is refused all the same, for the reason at hand.
      return refusal
    }
  }

  /// A foreign key and the table that has it.
  fileprivate struct Reference {
    let table: TableFacts
    let key: ForeignKeyFacts

    init(from table: TableFacts, by key: ForeignKeyFacts) {
      self.table = table
      self.key = key
    }

    /// What people call it: `Album.artistID`.
    func name(in models: [ModelSchema]) -> String {
      let model = models.first { $0.table.asciiFolded == table.name.asciiFolded }
      let columns = key.columns.map { column in
        model?.fields.first { $0.column.asciiFolded == column.asciiFolded }?.name ?? column
      }
      return "\(model?.name ?? table.name).\(columns.joined(separator: ","))"
    }
  }

  /// Records that cannot go because others refer to them.
  fileprivate struct HeldRecords {
    let countMax: Int
    private(set) var violations: [Violation] = []
    private(set) var count = 0

    init(countMax: Int) {
      self.countMax = countMax
    }

    mutating func add(
      _ reference: Reference, to schema: ModelSchema, _ selection: SQLText,
      on access: _TransactionAccess
    ) throws {
      let models = access.models.schema.models
      let keys = schema.keyIndices.map { schema.fields[$0].column }
      let referenced = reference.key.referencedColumns ?? keys
      guard referenced.count == reference.key.columns.count else { return }
      let row = SQLText(sql: Self.row(keys))
      let gone: SQLText = "SELECT * FROM \(identifier: schema.table) \(selection)"
      var users: SQLText = """
        SELECT \(SQLText(sql: SQLText.quotedList(reference.key.columns)))
        FROM \(identifier: reference.table.name)
        """
      if reference.table.name.asciiFolded == schema.table.asciiFolded {
        let columns = SQLText(sql: SQLText.quotedList(keys))
        users.append(" WHERE \(row) NOT IN (SELECT \(columns) FROM (\(gone)))")
      }
      let text: SQLText = """
        SELECT \(SQLText(sql: SQLText.quotedList(keys))) FROM (\(gone))
        WHERE \(SQLText(sql: Self.row(referenced))) IN (\(users))
        """
      let name = reference.name(in: models)
      try access.runner.run(text.sql) { statement in
        try statement.bind(text)
        try statement.forEachRow { row in
          count += 1
          guard violations.count < countMax else { return }
          violations.append(
            Violation(
              kind: .reference, model: schema.name, key: try row.values(), fields: [],
              rule: "\(schema.name).reference", message: "is still referred to through \(name)",
              remedy: "Delete or change those records first."))
        }
      }
    }

    private static func row(_ columns: [String]) -> String {
      let list = SQLText.quotedList(columns)
      return columns.count == 1 ? list : "(\(list))"
    }
  }
}

extension ForeignKeyFacts {
  /// Whether it refuses that a record of `table` goes which it refers to.
  fileprivate func keepsItsParent(called table: String) -> Bool {
    self.table.asciiFolded == table.asciiFolded && (onDelete == .noAction || onDelete == .restrict)
  }
}

extension ModelSchema {
  /// The WHERE clause, with its keyword, for the record with that key.
  func selection(ofKey key: [SQLValue]) -> SQLText {
    var text: SQLText = "WHERE "
    for (place, index) in keyIndices.enumerated() {
      if place > 0 { text.append(" AND ") }
      text.append("\(identifier: fields[index].column) = \(key[place])")
    }
    return text
  }
}
