/// The access of a transaction to the store: a connection and the known models.
///
/// It lives as long as its transaction.
public final class _TransactionAccess {
  /// Runs the transaction's statements.
  @usableFromInline let runner: StatementRunner
  let refusals: StoreConfiguration.Refusals
  /// The notes that its calls make for the end of the transaction. No code of the application runs
  /// while one is set, so accesses need no check.
  @exclusivity(unchecked) var notes: TransactionNotes

  init(
    connection: Connection, models: ModelRegistry, capture: CaptureSession?,
    lists: ListOrders? = nil, refusals: StoreConfiguration.Refusals = .init(),
    journalPlace: Int64? = nil, isWritable: Bool
  ) {
    runner = StatementRunner(
      connection: connection, models: models, capture: capture, lists: lists,
      isWritable: isWritable)
    self.refusals = refusals
    notes = TransactionNotes(journalPlace: journalPlace)
  }

  var connection: Connection { runner.connection }
  var models: ModelRegistry { runner.models }

  // Reading

  @inlinable
  func records<Element: Fetchable>(_ text: SQLText, of schema: ModelSchema) throws -> [Element] {
    try runner.records(text, of: schema)
  }

  @inlinable
  func record<M: Model>(_ model: M.Type, key: M.Key) throws -> M? {
    try runner.record(model, key: key)
  }

  func forEachRecord<Element: Fetchable>(
    _ text: SQLText, of schema: ModelSchema, _ body: (Element) throws -> Void
  ) throws {
    try runner.forEachRow(text, of: schema) { row in
      try body(try Element(row: row, schema: schema))
    }
  }

  func statements<M: Model>(for model: M.Type) throws -> RecordSQL {
    try runner.statements(for: model)
  }

  func record(_ schema: ModelSchema, key: [SQLValue]) throws -> DynamicRecord? {
    guard schema.kind == .table else {
      throw StoreError(
        .misuse, "\(schema.name) is a view; its rows have no key.", model: schema.name)
    }
    let sql = models.statements(for: schema)
    try Self.check(key, of: schema)
    return try runner.run(sql.select, of: schema) { statement in
      try statement.bind(key)
      guard try statement.step() else { return nil }
      return try runner.reading(statement, of: schema) { row in
        try DynamicRecord(row: row, schema: schema)
      }
    }
  }

  func rows(_ text: SQLText) throws -> [ResultRow] {
    var rows: [ResultRow] = []
    try forEachRow(text) { rows.append($0) }
    return rows
  }

  func forEachRow(_ text: SQLText, _ body: (ResultRow) throws -> Void) throws {
    // If the schema has changed, SQLite recompiles a cached statement in its first step. It may
    // then have other columns.
    var columns: [String]?
    try forEachRowView(text) { statement, row in
      let names = columns ?? statement.columnNames
      columns = names
      try body(ResultRow(columns: names, values: try row.values()))
    }
  }

  /// Calls `body` with each row of a statement that changes nothing.
  func forEachRowView(
    _ text: SQLText, _ body: (borrowing Statement, borrowing RowView) throws -> Void
  ) throws {
    try StatementPolicy.check(text.sql)
    try runner.run(text.sql) { statement in
      guard statement.isReadOnly else { throw Self.changesSomething }
      try statement.bind(text)
      try statement.forEachRowOfRun { row in try body(statement, row) }
    }
  }

  /// Returns the number of records that `query` selects; nil if counting takes more than
  /// `maxStepCount` steps.
  func count<Element>(_ query: StoreQuery<Element>, maxStepCount: Int) throws -> Int? {
    func count(_ text: SQLText) throws -> Int? {
      try connection.limitingSteps(to: maxStepCount) {
        try firstRow(text, of: query.schema) { row in Int(try row.integer(at: 0)) } ?? 0
      }
    }
    do {
      return try count(try query.countText())
    } catch let error as StoreError where error.code == .unsupportedSchema {
      // SQLite counts with the smallest index, which may have a collation that is missing here.
      guard query.condition == nil, !query.isWindow, query.schema.kind == .table else {
        throw error
      }
      return try count("SELECT count(*) FROM \(identifier: query.schema.table) NOT INDEXED")
    }
  }

  func columnNames(of text: SQLText) throws -> [String] {
    try StatementPolicy.check(text.sql)
    return try runner.run(text.sql) { statement in
      guard statement.isReadOnly else { throw Self.changesSomething }
      // A cached statement may be older than the schema, and is not stepped here.
      let fresh = try Statement(text.sql, on: connection.handle)
      return fresh.columnNames
    }
  }

  /// What SQLite does to run a statement that changes nothing.
  func work(of text: SQLText, maxStepCount: Int) throws -> StatementWork {
    try StatementPolicy.check(text.sql)
    return try runner.run(text.sql) { statement in
      guard statement.isReadOnly else { throw Self.changesSomething }
      return try connection.work(of: text, maxStepCount: maxStepCount)
    }
  }

  private static var changesSomething: StoreError {
    StoreError(.misuse, "This statement may write. Run it with execute in a write transaction.")
  }

  func rows<Row>(_ text: SQLText, _ body: (borrowing RowView) throws -> Row) throws -> [Row] {
    try runner.run(text.sql) { statement in
      try statement.bind(text)
      var rows: [Row] = []
      try statement.forEachRow { row in rows.append(try body(row)) }
      return rows
    }
  }

  func firstRow<Row>(
    _ text: SQLText, of schema: ModelSchema? = nil, _ body: (borrowing RowView) throws -> Row
  ) throws -> Row? {
    try StatementPolicy.check(text.sql)
    return try runner.run(text.sql, of: schema) { statement in
      guard statement.isReadOnly else { throw Self.changesSomething }
      try statement.bind(text)
      guard try statement.step() else { return nil }
      return try body(RowView(statement: statement.handle))
    }
  }

  // Writing

  /// Inserts or upserts one record of `model`.
  ///
  /// - Parameter encode: Binds the record's fields, each at its field's position.
  @usableFromInline
  func write<M: Model>(
    _ model: M.Type, with verb: RecordVerb, _ encode: (inout ArgumentWriter) throws -> Void
  ) throws -> WrittenRecord {
    notes.addsRecords = true
    let sql = try statements(for: model)
    // A statement of the body may have changed the table.
    let mayFail = verb == .insert && sql.failsAsAWhole && !notes.ranRawSQL
    let text = mayFail ? sql.insertOrFail : verb == .insert ? sql.insert : sql.upsert
    do {
      try runner.run(text, of: sql.schema) { statement in
        try Self.bind(
          to: statement, of: sql.schema, room: connection.argumentRoom, encode)
        if mayFail { try runner.runOrFail(statement) } else { try statement.run() }
      }
    } catch {
      throw completed(
        error, by: try proposal(sql, sql.writableFields, isUpsert: verb == .upsert, encode), encode)
    }
    return WrittenRecord(rowID: connection.lastInsertRowID, isRewritten: sql.rewritesInserts)
  }

  @usableFromInline
  enum RecordVerb { case insert, upsert }

  /// The facts about a record that was just written.
  @usableFromInline
  struct WrittenRecord {
    @usableFromInline let rowID: Int64
    /// Whether the stored record may differ from the given one.
    @usableFromInline let isRewritten: Bool
  }

  /// Returns the stored record after a write.
  @usableFromInline
  func stored<M: Model>(_ model: M.Type, key: M.Key) throws -> M {
    guard let stored = try record(model, key: key) else {
      throw StoreError(
        .recordNotFound, "\(M.schema.name): a trigger removed the record as it was inserted.",
        model: M.schema.name)
    }
    return stored
  }

  /// - Parameters:
  ///   - schema: Called only for an error, because a copy of a schema costs as much as binding.
  ///   - room: The place for texts. It is in use until the statement has no arguments.
  static func bind(
    to statement: borrowing Statement, of schema: @autoclosure () -> ModelSchema,
    room: ArgumentRoom? = nil,
    _ encode: (inout ArgumentWriter) throws -> Void
  ) throws {
    var arguments = ArgumentWriter(statement: statement.handle, room: room)
    do {
      try encode(&arguments)
    } catch let error as ColumnError {
      let schema = schema()
      let fields = schema.fields.indices
      let field = fields.contains(error.column) ? schema.fields[error.column].name : nil
      throw StoreError(
        .invalidValue,
        "\(schema.name)\(field.map { ".\($0)" } ?? ""): the value cannot be stored: \(error).",
        model: schema.name, field: field)
    }
    do {
      try statement.check(arguments)
    } catch {
      let schema = schema()
      guard let index = arguments.failedIndex, schema.fields.indices.contains(index) else {
        throw error
      }
      let name = schema.fields[index].name
      var failure = StoreError(error)
      failure.message = "\(schema.name).\(name): \(failure.message)"
      failure.model = schema.name
      failure.field = name
      throw failure
    }
  }

  func execute(_ text: SQLText) throws {
    try execute(text) { statement in try statement.run() }
  }

  /// Runs a statement as ``execute(_:)`` does.
  func executeReturning(_ text: SQLText) throws -> ReturnedRows {
    var returned = ReturnedRows()
    try execute(text) { statement in
      try statement.forEachRow { row in returned.rows.append(try row.values()) }
      returned.columns = statement.columnNames
    }
    return returned
  }

  private func execute(
    _ text: SQLText, _ run: (borrowing Statement) throws -> Void
  ) throws {
    try StatementPolicy.check(text.sql)
    notes.ranRawSQL = true
    if text.sql.drop(while: \.isWhitespace).prefix(6).uppercased() == "DELETE" {
      notes.removesRecords = true
    } else {
      notes.addsRecords = true
    }
    // The statement may have changed table names that the hook caches.
    defer {
      runner.capture?.forgetTableNames()
      runner.lists?.forgetTableNames()
    }
    do {
      try runner.run(text.sql) { statement in
        try statement.bind(text)
        try run(statement)
      }
    } catch {
      throw completed(error, rerunning: text)
    }
  }

  static func bind<Key: ModelKey>(
    _ key: Key, to statement: borrowing Statement, of sql: RecordSQL
  ) throws {
    try StatementRunner.bind(to: statement, of: sql.schema, keyCount: sql.keyCount) {
      arguments throws(ColumnError) in try key._bind(to: &arguments)
    }
  }

  static func check(_ key: [SQLValue], of schema: ModelSchema) throws {
    guard key.count == schema.key.count else {
      throw StoreError(
        .invalidValue,
        "A key of \(schema.name) has \(schema.key.count) values (\(schema.key.joined(separator: ", "))); got \(key.count).",
        model: schema.name)
    }
  }
}

extension StoreError {
  /// Creates the error for a stored value that does not fit its field.
  ///
  /// - Parameter key: The key of its record, if known.
  init(_ error: ColumnError, reading schema: ModelSchema, key: [SQLValue]? = nil) {
    let field =
      schema.fields.indices.contains(error.column) ? schema.fields[error.column].name : nil
    let record =
      key.map { "\(schema.name)[\($0.map(\.description).joined(separator: ", "))]" } ?? schema.name
    let place = field.map { "\(record).\($0)" } ?? record
    self.init(
      .invalidValue, "\(place): a stored value does not fit its type: \(error).",
      model: schema.name, field: field, key: key)
  }
}
