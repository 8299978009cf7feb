/// A write transaction, passed to a `write` closure.
///
/// It commits when the closure returns, and rolls back when the closure throws. It cannot leave the
/// closure.
///
/// Your reads inside the transaction see its own writes. Other code sees nothing, and observers are
/// not notified, before COMMIT has returned.
public struct WriteTransaction: ~Copyable, TransactionReads {
  public let access: _TransactionAccess

  init(access: _TransactionAccess) {
    self.access = access
  }

  /// Runs `body`. If it throws, undoes the changes of `body` and rethrows. You can then continue
  /// the transaction.
  public borrowing func savepoint<Result>(
    _ body: (borrowing WriteTransaction) throws -> Result
  ) throws -> Result {
    try access.runner.savepoint { try body(self) }
  }

  /// Runs any single SQL statement and ignores its rows. Observers receive its changes like any
  /// other.
  ///
  /// - Throws: ``StoreError`` with code `misuse` for BEGIN, COMMIT and similar statements.
  public borrowing func execute(_ sql: SQLText) throws {
    try access.execute(sql)
  }

  /// Runs a statement as ``execute(_:)`` does, and returns the rows of its RETURNING clause.
  package borrowing func executeReturning(_ sql: SQLText) throws -> ReturnedRows {
    try access.executeReturning(sql)
  }
}

/// What a RETURNING clause says about the rows that a statement has written.
package struct ReturnedRows: Sendable {
  /// The names of the columns; empty without a RETURNING clause.
  package internal(set) var columns: [String] = []
  package internal(set) var rows: [[SQLValue]] = []
}

// The change journal.
extension WriteTransaction {
  /// Records in the change journal who wrote the transaction, and why.
  ///
  /// The last call applies. Without a journal it does nothing.
  ///
  /// - Parameters:
  ///   - author: The person or program for whom you write.
  ///   - tag: A label for the transaction, for example "nightly import".
  public borrowing func sign(author: String? = nil, tag: String? = nil) {
    access.notes.signature = TransactionSignature(author: author, tag: tag)
  }

  /// The id of the transaction in the change journal, valid in every process.
  ///
  /// Keep it if you may have to find out the outcome of a COMMIT later; see
  /// ``ChangeJournal/outcome(of:)``.
  public var id: TransactionID { access.notes.transactionID }
}

// Records of a Swift type.
extension WriteTransaction {
  /// Inserts a record or a draft.
  ///
  /// - Returns: The stored record, including the key that SQLite assigned and values set by
  ///   bindings.
  /// - Throws: ``StoreError`` with code `rejected` if the record breaks a rule of the file, for
  ///   example because the key already exists. You can then continue the transaction.
  @discardableResult
  @inlinable
  public borrowing func insert<Value: Insertable>(_ value: Value) throws -> Value.Inserted {
    try write(value, with: .insert)
  }

  /// Inserts a record with a key that SQLite chooses. The key of `record` is ignored.
  ///
  /// Give the key a default value, and leave it out:
  /// ```swift
  /// struct Note: CodableModel {
  ///   var id: Int64 = 0
  ///   var title: String
  ///   …
  /// }
  /// let note = try tx.insert(generatingKey: Note(title: "Buy bread"))
  /// ```
  ///
  /// It also reads the stored record. To insert many records quickly, choose their keys yourself or
  /// insert drafts.
  ///
  /// - Returns: The stored record, with its key.
  /// - Throws: ``StoreError`` with code `misuse` if the key is not a single integer that SQLite can
  ///   choose; `rejected` as for ``insert(_:)``. You can then continue the transaction.
  @discardableResult
  public borrowing func insert<M: Model>(generatingKey record: M) throws -> M {
    let schema = M.schema
    guard let index = schema.rowIDFieldIndex else {
      throw StoreError(
        .misuse,
        "\(schema.name): SQLite cannot choose the key (\(schema.key.joined(separator: ", "))), because it is not a single integer. Set the key, and call insert(_:).",
        model: schema.name, field: schema.key.first)
    }
    let written = try access.write(M.self, with: .insert) { arguments in
      try record.encode(to: &arguments)
      arguments.setNull(at: index)
    }
    return try access.stored(M.self, key: M.Key(sqlValues: [.integer(written.rowID)]))
  }

  /// Inserts records or drafts, in their order.
  ///
  /// ```swift
  /// try tx.insert(contentsOf: names.map { Artist.Draft(name: $0) })
  /// ```
  ///
  /// It has the effect of one ``insert(_:)`` for each value, and is faster: where possible, one
  /// statement inserts many records. It takes up to 64 values before it inserts them, so after an
  /// error, a sequence that is passed only once may have lost values behind the refused one.
  ///
  /// - Returns: The stored records, in the same order.
  /// - Throws: ``StoreError`` with code `rejected` for the first record that breaks a rule of the
  ///   file. The records before it stay inserted, and you can continue the transaction. To keep
  ///   all or none of them, use ``savepoint(_:)``.
  @discardableResult
  @inlinable
  public borrowing func insert<Values: Sequence>(
    contentsOf values: Values
  ) throws -> [Values.Element.Inserted] where Values.Element: Insertable {
    var inserted: [Values.Element.Inserted] = []
    inserted.reserveCapacity(values.underestimatedCount)
    var batches = try access.batches(of: Values.Element.Inserted.self)
    var waiting: [Values.Element] = []
    for value in values {
      waiting.append(value)
      guard waiting.count == RecordBatches.recordCount else { continue }
      try insert(waiting, by: &batches, into: &inserted)
      waiting.removeAll(keepingCapacity: true)
    }
    for value in waiting { inserted.append(try insert(value)) }
    return inserted
  }

  /// Inserts as many values as a batch has, and appends the stored records to `inserted`.
  @inlinable
  borrowing func insert<Value: Insertable>(
    _ values: [Value], by batches: inout RecordBatches, into inserted: inout [Value.Inserted]
  ) throws {
    let count = inserted.count
    let isDone = try batches.insert { index, arguments in
      try values[index].encode(to: &arguments)
    } record: { numbers in
      for index in values.indices {
        inserted.append(try values[index].record(rowID: numbers[index]))
      }
    }
    guard !isDone else { return }
    inserted.removeLast(inserted.count - count)
    for value in values { inserted.append(try insert(value)) }
  }

  /// Inserts a record. If its key already exists, updates the fields of the existing record.
  @discardableResult
  @inlinable
  public borrowing func upsert<Value: Insertable>(_ value: Value) throws -> Value.Inserted {
    try write(value, with: .upsert)
  }

  /// Sets every field of the record that has the key of `record`.
  ///
  /// - Throws: ``StoreError`` with code `recordNotFound` if there is none.
  public borrowing func update<M: Model>(_ record: M) throws {
    let sql = try access.statements(for: M.self)
    guard !sql.update.isEmpty else { return try checkStored(record, sql.schema) }
    do {
      try access.runner.run(sql.update, of: sql.schema) { statement in
        try _TransactionAccess.bind(
          to: statement, of: sql.schema, room: access.connection.argumentRoom
        ) { try record.encode(to: &$0) }
        try statement.run()
      }
    } catch {
      let proposal = Proposal(
        schema: sql.schema, fields: sql.writableFields, replaced: .ofSameKey)
      throw access.completed(error, by: proposal) { try record.encode(to: &$0) }
    }
    if access.connection.changeCount == 0 {
      throw notFound(sql.schema, try Self.values(record.key))
    }
  }

  /// Checks that the record of a model that has only a key is stored.
  ///
  /// Not inlined: an update would look up the type of an optional record each time.
  ///
  /// - Throws: ``StoreError`` with code `recordNotFound` if it is not.
  @inline(never)
  private borrowing func checkStored<M: Model>(_ record: M, _ schema: ModelSchema) throws {
    guard try access.record(M.self, key: record.key) != nil else {
      throw notFound(schema, try Self.values(record.key))
    }
  }

  /// Sets one field of the record with that key.
  ///
  /// - Throws: ``StoreError`` with code `recordNotFound` if there is none.
  public borrowing func set<M: Model, Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable, to value: Value, for key: M.Key
  ) throws {
    let sql = try access.statements(for: M.self)
    let index = try Self.index(of: field)
    try update(
      sql.schema, by: sql, key: try Self.values(key),
      values: [(index, try Self.value(value, index, sql.schema))])
  }

  /// Deletes the record with that key.
  ///
  /// - Returns: false if there was none.
  @discardableResult
  public borrowing func delete<M: Model>(_ model: M.Type, _ key: M.Key) throws -> Bool {
    access.notes.removesRecords = true
    let sql = try access.statements(for: model)
    do {
      try access.runner.run(sql.delete, of: sql.schema) { statement in
        try _TransactionAccess.bind(key, to: statement, of: sql)
        try statement.run()
      }
    } catch {
      throw access.completed(
        error, deleting: sql.schema, sql.schema.selection(ofKey: try Self.values(key)))
    }
    return access.connection.changeCount > 0
  }

  @inlinable
  borrowing func write<Value: Insertable>(
    _ value: Value, with verb: _TransactionAccess.RecordVerb
  ) throws -> Value.Inserted {
    let written = try access.write(Value.Inserted.self, with: verb) { arguments in
      try value.encode(to: &arguments)
    }
    let record = try value.record(rowID: written.rowID)
    return written.isRewritten
      ? try access.stored(Value.Inserted.self, key: record.key) : record
  }

  static func values<Key: ModelKey>(_ key: Key) throws -> [SQLValue] {
    do {
      return try key.sqlValues()
    } catch {
      throw StoreError(.invalidValue, "The key cannot be stored: \(error).")
    }
  }

  static func index<M: Model, Value>(
    of field: any KeyPath<M, Value> & Sendable
  ) throws -> Int {
    guard let index = M.definition.fieldIndex(of: field) else {
      throw StoreError(
        .unknownField, M.definition.notStored(field), model: M.schema.name)
    }
    return index
  }

  static func value(
    _ value: some ColumnValue, _ index: Int, _ schema: ModelSchema
  ) throws -> SQLValue {
    do {
      return try value.sqlValue()
    } catch {
      throw StoreError(
        .invalidValue, "\(schema.name).\(schema.fields[index].name): \(error).",
        model: schema.name, field: schema.fields[index].name)
    }
  }
}

// Records by query.
extension WriteTransaction {
  /// Deletes every record that `query` selects.
  ///
  /// - Returns: The number of deleted records.
  @discardableResult
  public borrowing func delete<Element>(_ query: StoreQuery<Element>) throws -> Int {
    try Self.checkWritable(query.schema)
    access.notes.removesRecords = true
    let selection = try query.selectionText()
    do {
      return try runCounting(
        "DELETE FROM \(identifier: query.schema.table) \(selection)", of: query.schema)
    } catch {
      throw access.completed(error, deleting: query.schema, selection)
    }
  }

  /// Sets one field of every record that `query` selects.
  ///
  /// - Returns: The number of updated records.
  @discardableResult
  public borrowing func update<M: Model, Value: ColumnValue>(
    _ query: StoreQuery<M>, set field: any KeyPath<M, Value> & Sendable, to value: Value
  ) throws -> Int {
    let index = try Self.index(of: field)
    let stored = try Self.value(value, index, query.schema)
    return try update(query, set: [query.schema.fields[index].name: stored])
  }

  /// Sets several fields of every record that `query` selects, in one statement.
  ///
  /// ```swift
  /// try tx.update(Track.where { $0.genreID == nil }) {
  ///   $0.set(\.genreID, to: 1)
  ///   $0.set(\.isReviewed, to: true)
  /// }
  /// ```
  ///
  /// Observers receive each changed record with the fields that differ, as for any other update.
  ///
  /// - Returns: How many records the query selected; 0 when `assign` sets nothing.
  /// - Throws: ``StoreError`` with code `invalidValue` for a value that cannot be stored and
  ///   `unknownField` for a property that is not stored; `rejected` when a rule refuses a record.
  ///   Then nothing of the statement is kept, and the transaction can go on.
  @discardableResult
  public borrowing func update<M: Model>(
    _ query: StoreQuery<M>, _ assign: (inout FieldAssignments<M>) throws -> Void
  ) throws -> Int {
    var assignments = FieldAssignments<M>()
    try assign(&assignments)
    return try update(query, set: assignments.values.get())
  }

  /// Sets fields, by name, of every record that `query` selects.
  ///
  /// - Returns: The number of updated records.
  @discardableResult
  public borrowing func update<Element>(
    _ query: StoreQuery<Element>, set values: [String: SQLValue]
  ) throws -> Int {
    let named = try Self.fields(values, of: query.schema)
    guard !named.isEmpty else { return 0 }
    var text: SQLText = "UPDATE \(identifier: query.schema.table) SET "
    for (place, (index, value)) in named.enumerated() {
      if place > 0 { text.append(", ") }
      text.append("\(identifier: query.schema.fields[index].column) = \(value)")
    }
    text.append(" \(try query.selectionText())")
    return try runCounting(text, of: query.schema)
  }

  private borrowing func runCounting(_ text: SQLText, of schema: ModelSchema) throws -> Int {
    do {
      try access.runner.run(text.sql, of: schema) { statement in
        try statement.bind(text)
        try statement.run()
      }
    } catch {
      throw access.completed(error, rerunning: text)
    }
    return access.connection.changeCount
  }
}

// Dynamic records.
extension WriteTransaction {
  /// Inserts a record by field names. Missing fields get their defaults.
  ///
  /// - Returns: The stored record.
  /// - Throws: ``StoreError`` with code `unknownField`, or `rejected`. You can then continue the
  ///   transaction.
  @discardableResult
  public borrowing func insert(
    _ values: [String: SQLValue], into schema: ModelSchema
  ) throws -> DynamicRecord {
    try write(values, into: schema, isUpsert: false) { $0.insert(fields: $1) }
  }

  /// Inserts a record by field names. If the key already exists, updates the given fields.
  ///
  /// See ``insert(_:into:)``.
  @discardableResult
  public borrowing func upsert(
    _ values: [String: SQLValue], into schema: ModelSchema
  ) throws -> DynamicRecord {
    try write(values, into: schema, isUpsert: true) { $0.upsert(fields: $1) }
  }

  /// Sets fields, by name, of the record with that key.
  ///
  /// - Throws: ``StoreError`` with code `recordNotFound` if there is none.
  public borrowing func update(
    _ schema: ModelSchema, key: [SQLValue], set values: [String: SQLValue]
  ) throws {
    try update(
      schema, by: access.models.statements(for: schema), key: key,
      values: try Self.fields(values, of: schema))
  }

  /// Deletes the record with that key.
  ///
  /// - Returns: false if there was none.
  @discardableResult
  public borrowing func delete(_ schema: ModelSchema, key: [SQLValue]) throws -> Bool {
    try Self.checkWritable(schema)
    try _TransactionAccess.check(key, of: schema)
    access.notes.removesRecords = true
    do {
      try access.runner.run(access.models.statements(for: schema).delete, of: schema) { statement in
        try statement.bind(key)
        try statement.run()
      }
    } catch {
      throw access.completed(error, deleting: schema, schema.selection(ofKey: key))
    }
    return access.connection.changeCount > 0
  }

  private borrowing func write(
    _ values: [String: SQLValue], into schema: ModelSchema, isUpsert: Bool,
    text: (RecordSQL, [Int]) -> String
  ) throws -> DynamicRecord {
    access.notes.addsRecords = true
    let named = try Self.fields(values, of: schema)
    let sql = access.models.statements(for: schema)
    try access.checkKey(in: named, of: sql, isUpsert: isUpsert)
    let indices = named.map(\.index)
    let statement = text(sql, indices)
    var returned: [SQLValue]?
    do {
      try access.runner.run(statement, of: schema) { statement in
        try statement.bind(named.map(\.value))
        try statement.forEachRow { row in returned = try row.values() }
      }
    } catch {
      func encode(_ arguments: inout ArgumentWriter) {
        for (index, value) in named { arguments.set(value, at: index) }
      }
      throw access.completed(
        error, by: try access.proposal(sql, indices, isUpsert: isUpsert, encode), encode)
    }
    // An upsert without fields to set returns no row. In that case every value of the key was
    // given.
    let key =
      returned
      ?? schema.keyIndices.map { index in named.first { $0.index == index }?.value ?? .null }
    guard let record = try access.record(schema, key: key) else {
      throw StoreError(
        .recordNotFound, "\(schema.name): a trigger removed the record as it was inserted.",
        model: schema.name, key: key)
    }
    return record
  }

  private borrowing func update(
    _ schema: ModelSchema, by sql: @autoclosure () -> RecordSQL, key: [SQLValue],
    values: [(index: Int, value: SQLValue)]
  ) throws {
    try _TransactionAccess.check(key, of: schema)
    guard !values.isEmpty else {
      guard try access.record(schema, key: key) != nil else { throw notFound(schema, key) }
      return
    }
    let text = sql().update(fields: values.map(\.index))
    do {
      try access.runner.run(text, of: schema) { statement in
        try statement.bind(values.map(\.value) + key)
        try statement.run()
      }
    } catch {
      throw access.completed(error, updating: schema, key: key, values: values)
    }
    if access.connection.changeCount == 0 { throw notFound(schema, key) }
  }

  /// Returns the named values by field position, in field order.
  private static func fields(
    _ values: [String: SQLValue], of schema: ModelSchema
  ) throws -> [(index: Int, value: SQLValue)] {
    try checkWritable(schema)
    return try values.map { name, value in
      guard let index = schema.fieldIndex(named: name) else {
        throw StoreError(unknownField: name, of: schema)
      }
      guard schema.fields[index].generated == nil else {
        throw StoreError(
          .invalidValue, "\(schema.name).\(name) is computed by the database and cannot be set.",
          model: schema.name, field: name)
      }
      if case .real(let number) = value, number.isNaN {
        throw StoreError(
          .invalidValue, "\(schema.name).\(name): NaN cannot be stored.", model: schema.name,
          field: name)
      }
      return (index, value)
    }
    .sorted { $0.index < $1.index }
  }

  private static func checkWritable(_ schema: ModelSchema) throws {
    guard schema.kind == .table else {
      throw StoreError(
        .readOnly, "\(schema.name) is a view and cannot be written.", model: schema.name)
    }
  }

  private borrowing func notFound(_ schema: ModelSchema, _ key: [SQLValue]) -> StoreError {
    let text = key.map(\.description).joined(separator: ", ")
    return StoreError(
      .recordNotFound, "There is no \(schema.name) with the key \(text).", model: schema.name,
      key: key)
  }
}

/// Whether a change of the file is committed.
public enum WriteMode: Hashable, Sendable {
  /// The change is committed.
  case commit
  /// The change is rolled back, and observers are not notified. The call returns what the change
  /// would do, or throws the error that it would cause.
  case preview
}
