/// Compares the records of two stores in the order of their keys, in constant memory.
struct StoreComparison {
  /// A store, and what errors call it.
  struct Side {
    let name: String
    let access: _TransactionAccess
  }

  let left: Side
  let right: Side

  /// Calls `body` with each record that differs, ordered by model and key.
  ///
  /// - Throws: ``StoreError`` with code `schemaMismatch` and every model that has other fields or
  ///   another key in the other store, or has records in one and does not exist in the other. Then
  ///   `body` was not called.
  func forEach(_ body: (RecordDifference) throws -> Void) throws {
    let (before, after) = (Self.tables(of: left.access), Self.tables(of: right.access))
    let names = Set(before.keys).union(after.keys)
    var models: [Model] = []
    var problems: [(model: String?, sentence: String)] = []
    var (onlyLeft, onlyRight): ([String], [String]) = ([], [])
    for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      switch (before[name], after[name]) {
      case (let old?, let new?):
        let model = Model(old, new)
        models.append(model)
        if let problem = model.problem(left.name, right.name) { problems.append((name, problem)) }
      case (let only?, nil), (nil, let only?):
        let side = before[name] == nil ? right : left
        guard try Self.hasRecords(only, side.access) else { continue }
        if before[name] == nil { onlyRight.append(name) } else { onlyLeft.append(name) }
      case (nil, nil): continue
      }
    }
    problems += [(left, onlyLeft), (right, onlyRight)].compactMap(Self.problem)
    guard problems.isEmpty else {
      throw StoreError(
        .schemaMismatch,
        "\(problems.map(\.sentence).joined(separator: " ")) So the stores cannot be compared.",
        model: problems.count == 1 ? problems[0].model : nil)
    }
    for model in models {
      try model.compare(left.access.connection, right.access.connection, body)
    }
  }

  /// The models that only one side has.
  private static func problem(
    _ side: Side, _ names: [String]
  ) -> (model: String?, sentence: String)? {
    guard let first = names.first else { return nil }
    let list = names.count == 1 ? "model \(first)" : "models \(names.joined(separator: ", "))"
    return (names.count == 1 ? first : nil, "Only \(side.name) has the \(list), with records.")
  }

  private static func tables(of access: _TransactionAccess) -> [String: ModelSchema] {
    let models = access.models.schema.models.filter { $0.kind == .table }
    return Dictionary(models.map { ($0.name, $0) }) { first, _ in first }
  }

  private static func hasRecords(
    _ model: ModelSchema, _ access: _TransactionAccess
  ) throws -> Bool {
    let text = SQLText(sql: "SELECT 1 FROM \(SQLText.quoted(model.table)) LIMIT 1")
    return try access.connection.firstRow(text) { _ in true } != nil
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
    private let otherFields: [String]
    private let keys: (old: [String], new: [String])

    init(_ left: ModelSchema, _ right: ModelSchema) {
      name = left.name
      let key = left.keyFields
      let others = left.fields.filter { field in
        field.generated == nil && !key.contains { $0.name == field.name }
      }
      fields = key + others
      keyCount = key.count
      otherFields = right.fields.filter { $0.generated == nil || right.key.contains($0.name) }
        .map(\.name)
      keys = (left.key, right.key)
      let names = fields.map(\.name)
      old = StoreComparison.rows(of: left, names)
      new = StoreComparison.rows(of: right, names)
    }

    /// Why the records cannot be compared; nil if they can.
    ///
    /// - Parameters:
    ///   - left: What the text calls the first store.
    ///   - right: What it calls the second one.
    func problem(_ left: String, _ right: String) -> String? {
      let own = fields.map(\.name)
      let parts = [
        Self.lacking(own.filter { !otherFields.contains($0) }, in: right),
        Self.lacking(otherFields.filter { !own.contains($0) }, in: left),
        keys.old == keys.new
          ? nil
          : "the key is (\(keys.old.joined(separator: ", "))) in \(left) and (\(keys.new.joined(separator: ", "))) in \(right)",
      ].compactMap(\.self)
      return parts.isEmpty ? nil : "\(name): \(parts.joined(separator: "; "))."
    }

    private static func lacking(_ fields: [String], in store: String) -> String? {
      guard !fields.isEmpty else { return nil }
      let noun = fields.count == 1 ? "field" : "fields"
      return "\(store) lacks the \(noun) \(fields.joined(separator: ", "))"
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
