/// The access of a transaction to the store: a connection and the known models.
///
/// It lives as long as its transaction.
public final class _TransactionAccess {
  /// Runs the transaction's statements.
  let runner: StatementRunner
  let refusals: StoreConfiguration.Refusals
  /// The notes that its calls make for the end of the transaction.
  var notes: TransactionNotes
  /// The last statements that were used: a loop over records of one type asks the registry once.
  private var latest: (model: ObjectIdentifier, sql: RecordSQL)?

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
      binding: { arguments throws(ColumnError) in try key._bind(to: &arguments) }
    ) { row in record = try M(row: row) }
    return record
  }

  @usableFromInline
  func forEachRow(
    _ text: SQLText, of schema: ModelSchema, _ body: (borrowing RowView) throws -> Void
  ) throws {
    try runner.run(text.sql, of: schema) { statement in
      try statement.bind(text)
      try reading(statement, of: schema) { row in
        while try statement.step() { try body(row) }
      }
    }
  }

  func forEachRecord<Element: Fetchable>(
    _ text: SQLText, of schema: ModelSchema, _ body: (Element) throws -> Void
  ) throws {
    try forEachRow(text, of: schema) { row in try body(try Element(row: row, schema: schema)) }
  }

  /// Calls `body` with the row of the record with a key, if there is one.
  ///
  /// - Parameter bind: Binds the values of the key, and returns their number.
  @usableFromInline
  func withRow(
    _ sql: RecordSQL, binding bind: (inout ArgumentWriter) throws(ColumnError) -> Int,
    _ body: (borrowing RowView) throws -> Void
  ) throws {
    try runner.run(sql.select, of: sql.schema) { statement in
      try Self.bind(to: statement, of: sql.schema, keyCount: sql.keyCount, bind)
      guard try statement.step() else { return }
      try reading(statement, of: sql.schema, body)
    }
  }

  @usableFromInline
  func statements<M: Model>(for model: M.Type) throws -> RecordSQL {
    let identity = ObjectIdentifier(model)
    if let latest, latest.model == identity { return latest.sql }
    let found = try models.statements(for: model)
    latest = (identity, found)
    return found
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
      return try reading(statement, of: schema) { row in
        try DynamicRecord(row: row, schema: schema)
      }
    }
  }

  /// Runs `body` on the statement's current row, also if `body` steps to further rows.
  ///
  /// - Parameter schema: Called only for an error.
  /// - Throws: What `body` throws. For a value that it cannot read, a ``StoreError`` that names the
  ///   field and the record.
  private func reading<Result>(
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
      let row = RowView(statement: statement.handle, companion: connection.rowCompanion)
      while try statement.step() { try body(statement, row) }
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
    let text = verb == .insert ? sql.insert : sql.upsert
    do {
      try runner.run(text, of: sql.schema) { statement in
        try Self.bind(
          to: statement, of: sql.schema, room: connection.argumentRoom, encode)
        try statement.run()
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
        try statement.run()
      }
    } catch {
      throw completed(error, rerunning: text)
    }
  }

  static func bind<Key: ModelKey>(
    _ key: Key, to statement: borrowing Statement, of sql: RecordSQL
  ) throws {
    try bind(to: statement, of: sql.schema, keyCount: sql.keyCount) {
      arguments throws(ColumnError) in try key._bind(to: &arguments)
    }
  }

  /// Binds a key's values.
  ///
  /// - Parameters:
  ///   - schema: Called only for an error.
  ///   - keyCount: The number of the model's key fields, which are the statement's parameters.
  ///   - bind: Binds the values and returns their number.
  private static func bind(
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
