/// Determines the types of columns of a table of another design from the stored values, if the
/// declarations leave them open.
///
/// The cost is limited whatever the size of the table: ``TypeDecision/rowCountMax`` rows and
/// ``maxByteCount`` bytes.
struct StoredTypes {
  /// The schema by the affinity rules alone.
  let schema: ModelSchema
  let table: TableFacts

  /// The maximum number of bytes of text to read.
  static let maxByteCount = 16 << 20

  private struct OpenColumn {
    let field: FieldSchema
    let meaning: DeclaredMeaning
    var values: ColumnValues
  }

  /// Returns the decisions in column order. None for a view, whose rows may be expensive to
  /// compute, nor for a STRICT table, whose declarations are binding.
  ///
  /// - Throws: ``SQLiteError`` when SQLite cannot read the table.
  func decisions(on connection: Connection) throws -> [TypeDecision] {
    guard schema.kind == .table, !table.isStrict else { return [] }
    var columns = schema.fields.compactMap { field -> OpenColumn? in
      // An expression may call functions that only the program that created the table has.
      guard field.generated == nil,
        let meaning = DeclaredMeaning(declaredType: field.declaredType ?? "")
      else { return nil }
      return OpenColumn(field: field, meaning: meaning, values: ColumnValues(meaning))
    }
    if columns.isEmpty { return [] }
    let isComplete = try read(&columns, on: connection)
    return columns.map { column in
      let reading = column.values.reading(in: column.field.affinity)
      return TypeDecision(
        field: column.field.name, declaredType: column.field.declaredType ?? "",
        type: reading.type, form: reading.form, valueCount: column.values.count,
        misfitCount: column.values.count - reading.fitCount, isComplete: isComplete)
    }
  }

  /// Reads rows from both ends of the table.
  ///
  /// - Returns: Whether these were all rows.
  private func read(_ columns: inout [OpenColumn], on connection: Connection) throws -> Bool {
    let rowID =
      table.isWithoutRowID
      ? nil : TableFacts.rowIDName(besides: table.columns.map(\.name))
    let selected = columns.map { column in
      let name = SQLText.quoted(column.field.column)
      let text = column.meaning.needsContents ? name : "''"
      // The contents of a blob do not matter, so SQLite need not load it.
      return "CASE typeof(\(name)) WHEN 'blob' THEN x'' WHEN 'text' THEN \(text) ELSE \(name) END"
    }
    let source = "FROM \(SQLText.quoted(schema.table))"
    let list = selected.joined(separator: ", ")
    var budget = Budget(bytes: Self.maxByteCount)
    guard let rowID else {
      budget.rows = TypeDecision.rowCountMax
      return try read("SELECT \(list), 0 \(source)", into: &columns, &budget, on: connection) == nil
    }
    budget.rows = TypeDecision.rowCountMax / 10 * 9
    let last = try read(
      "SELECT \(list), \(rowID) \(source) ORDER BY \(rowID)", into: &columns, &budget,
      on: connection)
    guard let last else { return true }
    guard budget.bytes > 0 else { return false }
    budget.rows = TypeDecision.rowCountMax / 10
    return try read(
      "SELECT \(list), \(rowID) \(source) WHERE \(rowID) > \(last) ORDER BY \(rowID) DESC",
      into: &columns, &budget, on: connection) == nil
  }

  private struct Budget {
    var rows = 0
    var bytes: Int
  }

  /// - Returns: The last row's number when the budget ended the reading; nil after all rows.
  private func read(
    _ sql: String, into columns: inout [OpenColumn], _ budget: inout Budget,
    on connection: Connection
  ) throws -> Int64? {
    try connection.withStatement(sql) { statement in
      while try statement.step() {
        let row = RowView(statement: statement.handle)
        for index in columns.indices {
          budget.bytes -= try columns[index].values.add(row, at: index)
        }
        budget.rows -= 1
        if budget.rows <= 0 || budget.bytes <= 0 { return try row.integer(at: columns.count) }
      }
      return nil
    }
  }
}
