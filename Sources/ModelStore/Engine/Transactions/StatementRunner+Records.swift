// Reading records by their models.
//
// The store's own reads need no more than this, and no object for it.
extension StatementRunner {
  // Inlinable so that the caller's compiler sees the record's type. Together with the registry's
  // look-ups, this reduced a fetch from 2.1 to 1.5 times the C API's time.
  @inlinable
  func records<Element: Fetchable>(_ text: SQLText, of schema: ModelSchema) throws -> [Element] {
    var records: [Element] = []
    try forEachRow(text, of: schema) { row in
      records.append(try Element(row: row, schema: schema))
    }
    return records
  }

  @inlinable
  func record<M: Model>(_ model: M.Type, key: M.Key) throws -> M? {
    var record: M?
    try withRow(
      try statements(for: model),
      binding: { arguments throws(ColumnError) in try key._bind(to: &arguments) },
      { row in record = try M(row: row) })
    return record
  }

  @usableFromInline
  func forEachRow(
    _ text: SQLText, of schema: ModelSchema, _ body: (borrowing RowView) throws -> Void
  ) throws {
    try run(text.sql, of: schema) { statement in
      try statement.bind(text)
      let isLimited = CachedFileReads.isLimited
      do {
        try statement.forEachRowOfRun { row in
          guard isLimited else { return try body(row) }
          let limit = CachedFileReads.lift()
          defer { limit.restore() }
          try limit.checkTime()
          try body(row)
        }
      } catch let error as ColumnError {
        let row = RowView(statement: statement.handle)
        throw StoreError(error, reading: schema, key: Self.key(in: row, of: schema))
      }
    }
  }

  /// Calls `body` with the row of the record with a key, if there is one.
  ///
  /// - Parameter bind: Binds the values of the key, and returns their number.
  @usableFromInline
  func withRow(
    _ sql: RecordSQL, binding bind: (inout ArgumentWriter) throws(ColumnError) -> Int,
    _ body: (borrowing RowView) throws -> Void
  ) throws {
    try run(sql.select, of: sql.schema) { statement in
      do {
        // A key type of the program encodes itself.
        let limit = CachedFileReads.lift()
        defer { limit.restore() }
        try Self.bind(to: statement, of: sql.schema, keyCount: sql.keyCount, bind)
      }
      guard try statement.step() else { return }
      let limit = CachedFileReads.lift()
      defer { limit.restore() }
      try reading(statement, of: sql.schema, body)
    }
  }

  /// Returns the statements for a model type. A loop over records of one type asks the registry
  /// once.
  ///
  /// - Throws: ``StoreError`` with code `unknownModel` if the store was opened without the type.
  @usableFromInline
  func statements<M: Model>(for model: M.Type) throws -> RecordSQL {
    let identity = ObjectIdentifier(model)
    if let latest = connection.latestStatements, latest.model == identity,
      latest.schemaNumber == models.number
    {
      return unsafeDowncast(latest.statements, to: RecordSQL.self)
    }
    let found = try models.statements(for: model)
    connection.latestStatements = Connection.LatestStatements(
      model: identity, schemaNumber: models.number, statements: found)
    return found
  }

  /// Runs `body` on the statement's current row.
  ///
  /// - Parameter schema: Called only for an error.
  /// - Throws: What `body` throws. For a value that it cannot read, a ``StoreError`` that names the
  ///   field and the record.
  func reading<Result>(
    _ statement: borrowing Statement, of schema: @autoclosure () -> ModelSchema,
    _ body: (borrowing RowView) throws -> Result
  ) throws -> Result {
    let row = RowView(statement: statement.handle, companion: connection.rowCompanion)
    do {
      return try body(row)
    } catch let error as ColumnError {
      let schema = schema()
      throw StoreError(error, reading: schema, key: Self.key(in: row, of: schema))
    }
  }

  /// Returns the key of the record in `row`, which has all fields of `schema`; nil if the key
  /// cannot be read.
  static func key(in row: borrowing RowView, of schema: ModelSchema) -> [SQLValue]? {
    guard schema.kind == .table, row.columnCount == schema.fields.count else { return nil }
    var key: [SQLValue] = []
    for index in schema.keyIndices {
      do throws(ColumnError) {
        key.append(try row.value(at: index))
      } catch {
        return nil
      }
    }
    return key
  }

  /// Binds a key's values.
  ///
  /// - Parameters:
  ///   - schema: Called only for an error.
  ///   - keyCount: The number of the model's key fields, which are the statement's parameters.
  ///   - bind: Binds the values and returns their number.
  static func bind(
    to statement: borrowing Statement, of schema: @autoclosure () -> ModelSchema, keyCount: Int,
    _ bind: (inout ArgumentWriter) throws(ColumnError) -> Int
  ) throws {
    var arguments = ArgumentWriter(statement: statement.handle)
    let count: Int
    do throws(ColumnError) {
      count = try bind(&arguments)
    } catch {
      let name = schema().name
      throw StoreError(
        .invalidValue, "\(name): the key cannot be stored: \(error).", model: name)
    }
    guard count == keyCount else { throw statement.wrongCount(of: count) }
    try statement.check(arguments)
  }
}
