/// Compares the records of two stores in the order of their keys, in constant memory.
struct StoreComparison {
  let left: _TransactionAccess
  let right: _TransactionAccess

  /// Calls `body` with each record that differs, ordered by model and key.
  ///
  /// - Throws: ``StoreError`` with code `schemaMismatch` if a model has other fields or another key
  ///   in the other store, or has records in one and does not exist in the other.
  func forEach(_ body: (RecordDifference) throws -> Void) throws {
    let (before, after) = (Self.tables(of: left), Self.tables(of: right))
    let names = Set(before.keys).union(after.keys)
    for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      switch (before[name], after[name]) {
      case (let old?, let new?):
        try Model(old, new).compare(left.connection, right.connection, body)
      case (let old?, nil): try Self.checkIsEmpty(old, left)
      case (nil, let new?): try Self.checkIsEmpty(new, right)
      case (nil, nil): continue
      }
    }
  }

  private static func tables(of access: _TransactionAccess) -> [String: ModelSchema] {
    let models = access.models.schema.models.filter { $0.kind == .table }
    return Dictionary(models.map { ($0.name, $0) }) { first, _ in first }
  }

  private static func checkIsEmpty(_ model: ModelSchema, _ access: _TransactionAccess) throws {
    let text = SQLText(sql: "SELECT 1 FROM \(SQLText.quoted(model.table)) LIMIT 1")
    guard try access.connection.firstRow(text, { _ in true }) == nil else {
      throw StoreError(
        .schemaMismatch, "Only one of the stores has the model \(model.name), with records.",
        model: model.name)
    }
  }

  /// Returns the statement that reads the rows of a model in the order of its key, byte by byte.
  /// The index of the key has that order, unless a column of it has another collation.
  static func rows(of schema: ModelSchema, _ fields: [String]) -> SQLText {
    let columns = fields.compactMap { schema.field(named: $0)?.column }
    let order = schema.keyFields
      .map { "\(SQLText.quoted($0.column)) COLLATE BINARY" }.joined(separator: ", ")
    return SQLText(
      sql: """
        SELECT \(SQLText.quotedList(columns))
        FROM \(SQLText.quoted(schema.table))
        ORDER BY \(order)
        """)
  }

  /// One model in both stores.
  private struct Model {
    let name: String
    /// The fields of the key, then the others. Generated fields follow from them.
    let fields: [FieldSchema]
    let keyCount: Int
    let old: SQLText
    let new: SQLText

    init(_ left: ModelSchema, _ right: ModelSchema) throws(StoreError) {
      name = left.name
      let key = left.keyFields
      let others = left.fields.filter { field in
        field.generated == nil && !key.contains { $0.name == field.name }
      }
      fields = key + others
      keyCount = key.count
      let known = right.fields.filter { $0.generated == nil || right.key.contains($0.name) }
      guard left.key == right.key, Set(known.map(\.name)) == Set(fields.map(\.name)) else {
        throw StoreError(
          .schemaMismatch,
          "\(left.name) has other fields or another key in the other store, so its records cannot be compared.",
          model: left.name)
      }
      let names = fields.map(\.name)
      old = StoreComparison.rows(of: left, names)
      new = StoreComparison.rows(of: right, names)
    }

    func compare(
      _ left: Connection, _ right: Connection, _ body: (RecordDifference) throws -> Void
    ) throws {
      try left.withStatement(old.sql) { before in
        try right.withStatement(new.sql) { after in
          var hasBefore = try before.step()
          var hasAfter = try after.step()
          let pair = RowPair(before, after)
          while hasBefore || hasAfter {
            let order =
              !hasBefore ? 1 : !hasAfter ? -1 : pair.order(ofFirst: keyCount)
            if order == 0, pair.isEqual(in: 0..<fields.count) {
              hasBefore = try before.step()
              hasAfter = try after.step()
              continue
            }
            let old = order <= 0 ? try values(of: before) : nil
            let new = order >= 0 ? try values(of: after) : nil
            try report(old, new, body)
            if order <= 0 { hasBefore = try before.step() }
            if order >= 0 { hasAfter = try after.step() }
          }
        }
      }
    }

    private func values(of statement: borrowing Statement) throws -> [SQLValue] {
      try RowView(statement: statement.handle).values()
    }

    private func report(
      _ old: [SQLValue]?, _ new: [SQLValue]?, _ body: (RecordDifference) throws -> Void
    ) throws {
      if let old, let new, old.prefix(keyCount) == new.prefix(keyCount) {
        let places = fields.indices.filter { !old[$0].isExactly(new[$0]) }
        return try body(
          RecordDifference(
            model: name, key: Array(old.prefix(keyCount)), old: named(old, places),
            new: named(new, places)))
      }
      // Keys such as 1 and 1.0 are in the same place and different.
      if let old {
        try body(
          RecordDifference(
            model: name, key: Array(old.prefix(keyCount)), old: named(old, fields.indices),
            new: nil))
      }
      if let new {
        try body(
          RecordDifference(
            model: name, key: Array(new.prefix(keyCount)), old: nil,
            new: named(new, fields.indices)))
      }
    }

    private func named(_ values: [SQLValue], _ places: some Sequence<Int>) -> [String: SQLValue] {
      Dictionary(uniqueKeysWithValues: places.map { (fields[$0].name, values[$0]) })
    }
  }
}
