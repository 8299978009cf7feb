extension StoreQuery {
  /// The side of a row on which to look for records.
  enum SeekSide {
    case before, after
  }

  /// Whether the records on one side of a row can be found by comparing with it: every field of the
  /// order has a value, and all fields have the same direction.
  var canSeek: Bool {
    let orderings = totalOrderings
    return schema.kind == .table && !orderings.isEmpty
      && Set(orderings.map(\.direction)).count == 1
      && orderings.allSatisfy { !schema.fields[$0.fieldIndex].isOptional }
  }

  /// Returns the records nearest to a row on one side of it, the nearest first.
  ///
  /// - Parameters:
  ///   - row: The row's values in field order.
  ///   - limit: The maximum number of records.
  /// - Precondition: ``canSeek``.
  func seeking(_ side: SeekSide, of row: [SQLValue], limit: Int) -> StoreQuery {
    let orderings = totalOrderings
    let columns = orderings.map { ordering in
      let field = schema.fields[ordering.fieldIndex]
      let collation = ordering.effectiveCollation(in: schema)
      let column = SQLText.quoted(field.column)
      return collation == field.collation
        ? column : "\(column) COLLATE \(SQLText.quoted(collation.name))"
    }
    let ascends = (orderings[0].direction == .ascending) == (side == .after)
    let places = columns.map { _ in "?" }.joined(separator: ", ")
    // Row values compare column by column: https://sqlite.org/rowvalue.html#scrolling_window_queries
    let comparison = SQLText(
      sql: "(\(columns.joined(separator: ", "))) \(ascends ? ">" : "<") (\(places))",
      arguments: orderings.map { row[$0.fieldIndex] })
    var query = filter(.sql(comparison)).limit(limit)
    query.orderings = orderings.map { ordering in
      var ordering = ordering
      ordering.direction = ascends ? .ascending : .descending
      ordering.nulls = nil
      return ordering
    }
    return query
  }
}

/// The statement of ``StoreQuery/seeking(_:of:limit:)`` for one side, made once for all rows.
struct SeekStatement: Sendable {
  private let text: SQLText
  private let orderFields: [Int]

  init(_ query: StoreQuery<DynamicRecord>, _ side: StoreQuery<DynamicRecord>.SeekSide) throws {
    let row = query.schema.fields.map { _ in SQLValue.null }
    text = try query.seeking(side, of: row, limit: 1).selectText()
    orderFields = query.totalOrderings.map(\.fieldIndex)
  }

  /// Returns the statement for one row, given in field order.
  func text(of row: [SQLValue], limit: Int) -> SQLText {
    // The last arguments are the row's values, the limit and the offset.
    var arguments = text.arguments
    let first = arguments.count - 2 - orderFields.count
    for (place, field) in orderFields.enumerated() { arguments[first + place] = row[field] }
    arguments[arguments.count - 2] = .integer(Int64(limit))
    return SQLText(sql: text.sql, arguments: arguments)
  }
}
