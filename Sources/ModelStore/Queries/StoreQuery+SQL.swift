extension StoreQuery {
  /// An aggregate over one field. NULLs are left out.
  public enum Aggregate: String, Hashable, Sendable, CaseIterable {
    /// The first value in the field's order; NULL for no values.
    case minimum = "min"
    /// The last value in the field's order; NULL for no values.
    case maximum = "max"
    /// The sum; NULL for no values. Integer overflow is an error, and integers are never rounded.
    case sum
    /// The mean, a real; NULL for no values.
    case average = "avg"
    /// The number of different values, compared by the field's collation.
    case countDistinct
  }

  /// Returns the SELECT for the result: all fields in schema order.
  ///
  /// - Throws: ``StoreError`` with code `invalidValue` when the condition holds a value that cannot
  ///   be stored; the other statements do so too. With code `invalidQuery` for an order by a
  ///   decimal without a collation, because decimals are stored as text.
  @usableFromInline package func selectText() throws(StoreError) -> SQLText {
    try selectText(fields: Array(schema.fields.indices))
  }

  /// Returns the SELECT for the result's keys, in key order.
  package func keySelectText() throws(StoreError) -> SQLText {
    try selectText(fields: schema.keyIndices)
  }

  /// Returns the SELECT for some fields of the result, by position.
  package func selectText(fields: [Int]) throws(StoreError) -> SQLText {
    let columns = SQLText.quotedList(fields.map { schema.fields[$0].column })
    var text = try source(selecting: columns)
    try checkOrder()
    appendOrder(to: &text)
    appendWindow(to: &text)
    return text
  }

  /// Returns the SELECT for the number of records in the result, limit and offset included.
  package func countText() throws(StoreError) -> SQLText {
    guard isWindow else { return try source(selecting: "count(*)") }
    var inner = try source(selecting: "1")
    appendWindow(to: &inner)
    return "SELECT count(*) FROM (\n\(inner)\n)"
  }

  /// Returns the SELECT for one aggregate over a field of the result, limit and offset included.
  ///
  /// A field of any type may hold texts. In a sum or mean, each text counts as the number at its
  /// beginning, or as 0: <https://sqlite.org/lang_aggfunc.html#sumunc>.
  ///
  /// - Throws: ``StoreError`` with code `invalidQuery` for the sum or mean of a field whose type is
  ///   not a number, because SQLite would read texts as numbers and lose digits of decimals. Also
  ///   for the smallest or largest decimal, because decimals are stored as text, where 10 precedes
  ///   9.
  package func aggregateText(
    _ aggregate: Aggregate, of fieldIndex: Int
  ) throws(StoreError) -> SQLText {
    let field = schema.fields[fieldIndex]
    guard aggregate.accepts(field) else {
      throw StoreError(
        .invalidQuery,
        "\(schema.name).\(field.name) has type \(field.type.rawValue), which has no \(aggregate).",
        model: schema.name, field: field.name)
    }
    let call = aggregate.call(on: SQLText.quoted(field.column))
    guard isWindow else { return try source(selecting: call) }
    let inner = try selectText(fields: [fieldIndex])
    return "SELECT \(SQLText(sql: call)) FROM (\n\(inner)\n)"
  }

  /// Returns the WHERE clause, with its keyword, that selects exactly the result's records in an
  /// UPDATE or DELETE; empty for all records.
  func selectionText() throws(StoreError) -> SQLText {
    if isWindow {
      let key = schema.keyIndices.map { schema.fields[$0].column }
      let columns = SQLText.quotedList(key)
      let subject = key.count == 1 ? columns : "(\(columns))"
      return "WHERE \(SQLText(sql: subject)) IN (\n\(try keySelectText())\n)"
    }
    guard let condition else { return "" }
    return "WHERE \(try condition.sqlText(schema: schema))"
  }

  /// Returns the SELECT of expressions over the records that meet the condition, in no order and
  /// without limit and offset.
  package func source(selecting columns: String) throws(StoreError) -> SQLText {
    var text = SQLText(sql: "SELECT \(columns)\nFROM \(SQLText.quoted(schema.table))")
    if let condition {
      text.append("\nWHERE ")
      text.append(try condition.sqlText(schema: schema))
    }
    return text
  }

  /// Refuses an order by a decimal, because it is stored as text, where 10 precedes 9. An explicit
  /// collation requests exactly that order, so it is accepted.
  private func checkOrder() throws(StoreError) {
    for ordering in orderings where ordering.collation == nil {
      let field = schema.fields[ordering.fieldIndex]
      guard field.type != .decimal else {
        throw StoreError(
          .invalidQuery,
          "\(schema.name).\(field.name) is a decimal, which is stored as text and cannot be ordered by size.",
          model: schema.name, field: field.name)
      }
    }
  }

  private func appendOrder(to text: inout SQLText) {
    let terms = totalOrderings
    if terms.isEmpty { return }
    text.append(
      sql: "\nORDER BY " + terms.map { $0.sql(schema: schema) }.joined(separator: ", "))
  }

  private func appendWindow(to text: inout SQLText) {
    guard isWindow else { return }
    // A negative LIMIT means no limit, and OFFSET requires LIMIT:
    // https://sqlite.org/lang_select.html#limitoffset
    text.append("\nLIMIT \(Int64(limit ?? -1)) OFFSET \(Int64(offset))")
  }
}

extension StoreQuery.Aggregate {
  fileprivate func call(on column: String) -> String {
    self == .countDistinct ? "count(DISTINCT \(column))" : "\(rawValue)(\(column))"
  }

  fileprivate func accepts(_ field: FieldSchema) -> Bool {
    switch (self, field.type) {
    case (.countDistinct, _): true
    case (.minimum, .decimal), (.maximum, .decimal): false
    case (.minimum, _), (.maximum, _): true
    case (.average, .date): field.form?.isText != true
    case (_, .integer), (_, .real), (_, .boolean), (_, .any): true
    default: false
    }
  }
}
