// Types that the user chooses.
extension StoredTypes {
  /// Returns the choice with its form, after comparing every stored value with it.
  ///
  /// - Throws: ``StoreError`` with code `unknownField`; with code `unsupportedSchema` for a type
  ///   that the column cannot store; with code `invalidValue` when stored values do not fit.
  /// - Complexity: Reads the column of all rows, twice if the form is open.
  func decision(
    _ choice: TypeChoice, in catalog: Catalog, on connection: Connection
  ) throws -> TypeDecision {
    guard var field = schema.field(named: choice.field),
      let column = table.column(named: field.column)
    else {
      throw StoreError(
        .unknownField, "\(schema.name) has no field \(choice.field).", model: schema.name,
        field: choice.field)
    }
    func refusal(_ code: StoreError.Code, _ message: String, key: [SQLValue]? = nil) -> StoreError {
      StoreError(code, message, model: schema.name, field: field.name, key: key)
    }
    let place = "\(schema.name).\(field.name)"
    if let form = choice.form, !form.suits(choice.type) {
      throw refusal(
        .unsupportedSchema,
        "\(place): the form \(form.rawValue) is not one of the type \(choice.type.rawValue).")
    }
    field.declaredType = column.declaredType
    field.type = choice.type
    field.form = try choice.form ?? storedForm(of: field, on: connection)
    let comparison = TableComparison(schema: schema, table: table, catalog: catalog)
    guard comparison.isTypeKept(field, in: column) else {
      throw refusal(
        .unsupportedSchema,
        """
        \(place) is declared \(column.declaredType.isEmpty ? "without a type" : column.declaredType); \
        SQLite would convert values of the type \(choice.type.rawValue) in it. Choose another type.
        """)
    }
    let found = try misfits(of: field, on: connection)
    if let first = found.first {
      throw refusal(
        .invalidValue,
        """
        \(place) cannot be of the type \(choice.type.rawValue)\
        \(field.form.map { " (\($0.rawValue))" } ?? ""): \(found.misfitCount) of its \
        \(found.count) values do not fit, the first of them \(first.value). Change those values \
        first, or choose another type.
        """, key: first.key)
    }
    return TypeDecision(
      field: field.name, declaredType: column.declaredType, type: field.type, form: field.form,
      valueCount: found.count)
  }

  /// Returns the form of the stored values, for types with several forms.
  private func storedForm(of field: FieldSchema, on connection: Connection) throws -> FieldForm? {
    let meaning: DeclaredMeaning
    switch field.type {
    case .date: meaning = .date
    case .uuid: meaning = .uuid
    default: return nil
    }
    var values = ColumnValues(meaning)
    try forEachValue(of: field, on: connection) { row in _ = try values.add(row, at: 0) }
    return values.form
  }

  private func misfits(
    of field: FieldSchema, on connection: Connection
  ) throws -> (count: Int, misfitCount: Int, first: (key: [SQLValue], value: String)?) {
    var count = 0
    var misfitCount = 0
    var first: (key: [SQLValue], value: String)?
    try forEachValue(of: field, on: connection) { row in
      count += 1
      let value: SQLValue?
      do throws(ColumnError) {
        value = try row.value(at: 0)
      } catch {
        // A text that is not UTF-8 fits no type.
        value = nil
      }
      if let value, FieldText.fits(value, field) { return }
      misfitCount += 1
      guard first == nil else { return }
      let text = value?.description ?? "a text that is not UTF-8"
      first = (
        try schema.key.indices.map { try row.value(at: 1 + $0) },
        text.count > 60 ? "\(text.prefix(60))…" : text
      )
    }
    return (count, misfitCount, first)
  }

  /// Calls `body` with the value and the key's values of each row that has a value.
  private func forEachValue(
    of field: FieldSchema, on connection: Connection, _ body: (borrowing RowView) throws -> Void
  ) throws {
    let column = SQLText.quoted(field.column)
    let key = schema.keyIndices.map { schema.fields[$0].column }
    let list = SQLText.quotedList([field.column] + key)
    let sql = "SELECT \(list) FROM \(SQLText.quoted(schema.table)) WHERE \(column) IS NOT NULL"
    try connection.withStatement(sql) { statement in
      while try statement.step() { try body(RowView(statement: statement.handle)) }
    }
  }
}
