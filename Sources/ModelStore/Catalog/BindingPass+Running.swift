extension BindingPass {
  /// Runs the statement in bounded steps.
  ///
  /// - Parameters:
  ///   - stepRowCount: The most records that one step reads.
  ///   - willStep: Called before each step, with the number of records that earlier steps read.
  /// - Returns: The number of changed rows.
  /// - Complexity: Reads the records once, and their keys once.
  func run(
    on connection: Connection, stepRowCount: Int, willStep: (_ done: Int) throws -> Void
  ) throws -> Int {
    let rows = try RowOrder(of: model, on: connection)
    var changeCount = 0
    var done = 0
    var lower: [SQLValue]?
    repeat {
      try willStep(done)
      let upper = try connection.firstRow(rows.row(stepRowCount, after: lower)) { row in
        try row.values()
      }
      var text = SQLText(sql: statement)
      if let lower { text.append(rows.condition(">", lower)) }
      if let upper { text.append(rows.condition("<=", upper)) }
      text.append(SQLText(sql: end))
      try connection.run(text)
      changeCount += connection.changeCount
      done += stepRowCount
      lower = upper
    } while lower != nil
    return changeCount
  }
}

/// The order in which a table stores its rows.
private struct RowOrder {
  private let table: String
  /// The rowid, or the key of a table without one; never NULL.
  private let columns: [String]

  init(of model: ModelSchema, on connection: Connection) throws {
    table = SQLText.quoted(model.table)
    guard !model.isWithoutRowID else {
      columns = model.keyFields.map { SQLText.quoted($0.column) }
      return
    }
    let names = try connection.rows("SELECT name FROM pragma_table_xinfo(\(model.table))") { row in
      try row.text(at: 0)
    }
    columns = [
      TableFacts.rowIDName(besides: names) ?? SQLText.quoted(model.keyFields[0].column)
    ]
  }

  private var list: String { columns.joined(separator: ", ") }

  /// Selects the row that is `count` rows further on; no row at the end.
  func row(_ count: Int, after lower: [SQLValue]?) -> SQLText {
    var text = SQLText(sql: "SELECT \(list) FROM \(table) WHERE 1")
    if let lower { text.append(condition(">", lower)) }
    text.append(SQLText(sql: " ORDER BY \(list) LIMIT 1 OFFSET \(count - 1)"))
    return text
  }

  /// Returns a condition to append to a WHERE clause.
  func condition(_ comparison: String, _ values: [SQLValue]) -> SQLText {
    let marks = values.map { _ in "?" }.joined(separator: ", ")
    return SQLText(sql: "\nAND (\(list)) \(comparison) (\(marks))", arguments: values)
  }
}
