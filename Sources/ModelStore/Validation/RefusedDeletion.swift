// The records that cannot be deleted, and the references to them.
extension _TransactionAccess {
  /// SQLite reports that a foreign key prevents a deletion, but neither the record nor the key.
  ///
  /// - Parameter selection: The deletion's WHERE clause including the keyword; empty for all
  ///   records.
  /// - Returns: `error` with a violation for each record that would still be referred to after the
  ///   deletion. If there is none, `error` unchanged: then a trigger or a default value broke a
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
      // If the details cannot be read, the original error is still correct.
      return refusal
    }
  }

  /// A foreign key and its table.
  fileprivate struct Reference {
    let table: TableFacts
    let key: ForeignKeyFacts

    init(from table: TableFacts, by key: ForeignKeyFacts) {
      self.table = table
      self.key = key
    }

    /// The name to show: `Album.artistID`.
    func name(in models: [ModelSchema]) -> String {
      let model = models.first { $0.table.asciiFolded == table.name.asciiFolded }
      let columns = key.columns.map { column in
        model?.fields.first { $0.column.asciiFolded == column.asciiFolded }?.name ?? column
      }
      return "\(model?.name ?? table.name).\(columns.joined(separator: ","))"
    }
  }

  /// Records that cannot be deleted because others refer to them.
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
  /// Returns whether the foreign key prevents deletion of a record of `table` that it refers to.
  fileprivate func keepsItsParent(called table: String) -> Bool {
    self.table.asciiFolded == table.asciiFolded && (onDelete == .noAction || onDelete == .restrict)
  }
}

extension ModelSchema {
  /// Returns the WHERE clause, including the keyword, for the record with this key.
  func selection(ofKey key: [SQLValue]) -> SQLText {
    var text: SQLText = "WHERE "
    for (place, index) in keyIndices.enumerated() {
      if place > 0 { text.append(" AND ") }
      text.append("\(identifier: fields[index].column) = \(key[place])")
    }
    return text
  }
}
