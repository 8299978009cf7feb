// The records that cannot be deleted, and the references to them.
extension _TransactionAccess {
  /// SQLite reports that a foreign key prevents a deletion, but neither the record nor the key.
  ///
  /// - Parameter selection: The deletion's WHERE clause including the keyword; empty for all
  ///   records.
  /// - Returns: `error` with a violation for each record that would still be referred to after the
  ///   deletion, including records that the deletion cascades to. If there is none, `error`
  ///   unchanged: then a trigger or a default value broke a reference.
  func completed(
    _ error: any Error, deleting schema: ModelSchema, _ selection: SQLText
  ) -> any Error {
    guard let refusal = error as? StoreError, refusal.isAboutReferences,
      connection.isInTransaction
    else { return error }
    do {
      let tables = try Catalog(reading: connection).tables
      let own = Removal(
        schema: schema, rows: "SELECT * FROM \(identifier: schema.table) \(selection)")
      var held = HeldRecords(
        removals: Removal.all(of: own, in: tables, models.schema.models),
        models: models.schema.models, countMax: max(1, refusals.maxViolationCount))
      for table in tables {
        for key in table.foreignKeys { try held.add(Reference(from: table, by: key), on: self) }
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

    /// The model of the table that has the foreign key.
    func model(in models: [ModelSchema]) -> ModelSchema? {
      models.first { $0.table.asciiFolded == table.name.asciiFolded }
    }

    /// The name to show: `Album.artistID`.
    func name(in models: [ModelSchema]) -> String {
      let model = model(in: models)
      let columns = key.columns.map { column in
        model?.fields.first { $0.column.asciiFolded == column.asciiFolded }?.name ?? column
      }
      return "\(model?.name ?? table.name).\(columns.joined(separator: ","))"
    }

    /// Returns the columns that the foreign key refers to; nil if it is malformed.
    func referencedColumns(of schema: ModelSchema) -> [String]? {
      let columns = key.referencedColumns ?? schema.keyColumns
      return columns.count == key.columns.count ? columns : nil
    }
  }

  /// The records of one model that a deletion removes.
  fileprivate struct Removal {
    let schema: ModelSchema
    /// Selects their rows.
    let rows: SQLText

    /// Returns `first` and what it removes by cascades, each model once.
    static func all(
      of first: Removal, in tables: [TableFacts], _ models: [ModelSchema]
    ) -> [Removal] {
      var found = [first]
      var next = 0
      while next < found.count {
        let removal = found[next]
        next += 1
        for table in tables {
          for key in table.foreignKeys
          where key.onDelete == .cascade && key.refers(toTable: removal.schema.table) {
            let reference = Reference(from: table, by: key)
            guard let model = reference.model(in: models),
              !found.contains(where: { $0.schema.name == model.name }),
              let columns = reference.referencedColumns(of: removal.schema)
            else { continue }
            let rows: SQLText = """
              SELECT * FROM \(identifier: model.table)
              WHERE \(SQLText(sql: SQLText.row(key.columns))) IN (
                SELECT \(SQLText(sql: SQLText.quotedList(columns))) FROM (\(removal.rows)))
              """
            found.append(Removal(schema: model, rows: rows))
          }
        }
      }
      return found
    }
  }

  /// Records that cannot be deleted because others refer to them.
  fileprivate struct HeldRecords {
    /// What the deletion removes, its own records first.
    let removals: [Removal]
    let models: [ModelSchema]
    let countMax: Int
    private(set) var violations: [Violation] = []
    private(set) var count = 0

    init(removals: [Removal], models: [ModelSchema], countMax: Int) {
      self.removals = removals
      self.models = models
      self.countMax = countMax
    }

    /// Adds the removed records that `reference` holds.
    mutating func add(_ reference: Reference, on access: _TransactionAccess) throws {
      guard reference.key.keepsItsParent,
        let removal = removals.first(where: { reference.key.refers(toTable: $0.schema.table) }),
        let text = users(reference, of: removal)
      else { return }
      let keyCount = removal.schema.key.count
      let name = reference.name(in: models)
      let user = reference.model(in: models)?.name ?? reference.table.name
      try access.runner.run(text.sql) { statement in
        try statement.bind(text)
        try statement.forEachRow { row in
          count += 1
          guard violations.count < countMax else { return }
          let values = try row.values()
          violations.append(
            Violation(
              kind: .reference, model: removal.schema.name, key: Array(values.prefix(keyCount)),
              fields: [], rule: "\(removal.schema.name).reference",
              message: "is still referred to through \(name)",
              remedy: Self.remedy(
                user, count: try row.integer(at: keyCount), Array(values.dropFirst(keyCount + 1)))))
        }
      }
    }

    /// Selects, for each removed record that others refer to: its key, how many these are, and the
    /// key of one of them.
    private func users(_ reference: Reference, of removal: Removal) -> SQLText? {
      guard let referenced = reference.referencedColumns(of: removal.schema) else { return nil }
      let keys = Self.columns(removal.schema.keyColumns, of: "_ms_gone")
      let pairs = zip(referenced, reference.key.columns).map { column, user -> SQLText in
        // The referenced column is on the left so that its collation decides.
        "\(identifier: "_ms_gone").\(identifier: column) = \(identifier: "_ms_user").\(identifier: user)"
      }
      let model = reference.model(in: models)
      let example = (model?.keyColumns ?? []).enumerated().map { place, column -> SQLText in
        let cell: SQLText = "\(identifier: "_ms_user").\(identifier: column)"
        // The other columns come from the row with the minimum:
        // https://sqlite.org/lang_select.html#bareagg
        return place == 0 ? "min(\(cell))" : cell
      }
      var text: SQLText = "SELECT \(keys), count(*)"
      for cell in example { text.append(", \(cell)") }
      text.append(
        """
         FROM (\(removal.rows)) AS \(identifier: "_ms_gone")
        JOIN \(identifier: reference.table.name) AS \(identifier: "_ms_user") ON
        """)
      for (place, pair) in pairs.enumerated() {
        text.append(place == 0 ? " \(pair)" : " AND \(pair)")
      }
      // What goes with it holds nothing.
      if let model, let gone = removals.first(where: { $0.schema.name == model.name }) {
        let own = model.keyColumns
        let users = Self.columns(own, of: "_ms_user")
        text.append(" WHERE \(own.count == 1 ? users : "(\(users))")")
        text.append(" NOT IN (SELECT \(SQLText(sql: SQLText.quotedList(own))) FROM (\(gone.rows)))")
      }
      text.append(" GROUP BY \(keys)")
      return text
    }

    private static func columns(_ names: [String], of alias: String) -> SQLText {
      let list = names.map { "\(SQLText.quoted(alias)).\(SQLText.quoted($0))" }
      return SQLText(sql: list.joined(separator: ", "))
    }

    private static func remedy(_ model: String, count: Int64, _ example: [SQLValue]) -> String {
      let key = example.map(\.description).joined(separator: ",")
      guard count > 1 else {
        return key.isEmpty
          ? "Delete or change the record of \(model) first."
          : "Delete or change \(model) \(key) first."
      }
      return "Delete or change \(count) records of \(model) first"
        + (key.isEmpty ? "." : ", for example \(model) \(key).")
    }
  }
}

extension StoreError {
  /// Whether a foreign key refused the statement. ON DELETE RESTRICT refuses as a trigger does.
  fileprivate var isAboutReferences: Bool {
    guard code == .rejected else { return false }
    switch sqliteCode {
    case ResultCode.constraintForeignKey.rawValue: return true
    case ResultCode.constraintTrigger.rawValue:
      return violations.map(\.message) == ["FOREIGN KEY constraint failed"]
    default: return false
    }
  }
}

extension SQLText {
  /// Returns the columns as a row value; one column as itself.
  fileprivate static func row(_ columns: [String]) -> String {
    let list = quotedList(columns)
    return columns.count == 1 ? list : "(\(list))"
  }
}

extension ForeignKeyFacts {
  /// Whether the foreign key prevents deletion of a record that it refers to.
  fileprivate var keepsItsParent: Bool { onDelete == .noAction || onDelete == .restrict }

  fileprivate func refers(toTable name: String) -> Bool { table.asciiFolded == name.asciiFolded }
}

extension ModelSchema {
  fileprivate var keyColumns: [String] { keyIndices.map { fields[$0].column } }

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
