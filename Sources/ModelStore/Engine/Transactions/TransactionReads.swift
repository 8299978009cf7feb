/// What every transaction can do: read. ``ReadTransaction`` does only this, ``WriteTransaction``
/// also writes.
///
/// All reads of one transaction see one state of the store.
public protocol TransactionReads: ~Copyable {
  /// The means to read. Not for use by programs.
  var access: _TransactionAccess { borrowing get }
}

extension TransactionReads where Self: ~Copyable {
  /// The records that `query` selects, in its order.
  ///
  /// - Throws: ``StoreError`` with code `invalidValue` when a stored value does not fit the model.
  @inlinable
  public borrowing func fetch<Element>(_ query: StoreQuery<Element>) throws -> [Element] {
    try access.records(try query.selectText(), of: query.schema)
  }

  /// Calls `body` with each record that `query` selects, in its order, keeping none of them: for
  /// results that need not fit in memory.
  ///
  /// - Throws: What `body` throws, which ends the reading; otherwise as ``fetch(_:)``.
  public borrowing func forEach<Element>(
    _ query: StoreQuery<Element>, _ body: (Element) throws -> Void
  ) throws {
    try access.forEachRecord(try query.selectText(), of: query.schema, body)
  }

  /// The first record that `query` selects, or nil when there is none.
  public borrowing func fetchFirst<Element>(_ query: StoreQuery<Element>) throws -> Element? {
    var query = query
    query.limit = min(query.limit ?? 1, 1)
    return try fetch(query).first
  }

  /// How many records `query` selects.
  public borrowing func count<Element>(_ query: StoreQuery<Element>) throws -> Int {
    let number = try access.firstRow(try query.countText(), of: query.schema) { row in
      try row.integer(at: 0)
    }
    return Int(number ?? 0)
  }

  /// Returns how many records `query` selects, or nil when SQLite would take more than
  /// `maxStepCount` steps of its virtual machine to count them: a view may have rows without end.
  ///
  /// A table without a condition is counted in a few steps, however large it is. A view or a
  /// condition takes some 5 to 20 steps for each row that it looks at.
  ///
  /// - Parameter maxStepCount: At least 1000; counted in thousands.
  /// - Throws: As ``count(_:)``.
  public borrowing func count<Element>(
    _ query: StoreQuery<Element>, maxStepCount: Int
  ) throws -> Int? {
    try access.count(query, maxStepCount: maxStepCount)
  }

  /// The smallest, largest, sum, mean or number of different values of one field among the records
  /// that `query` selects; nil when there are no values.
  ///
  /// - Parameter type: What the answer is read as: `Double` for a mean, `Int` for a number of
  ///   values.
  /// - Throws: ``StoreError`` with code `invalidQuery` for the sum or mean of a field without
  ///   numbers, and for the smallest or largest of a decimal, which is kept as text.
  public borrowing func aggregate<M: Model, Value: ColumnValue, Answer: ColumnValue>(
    _ aggregate: StoreQuery<M>.Aggregate, of field: any KeyPath<M, Value> & Sendable,
    in query: StoreQuery<M>, as type: Answer.Type
  ) throws -> Answer? {
    guard let index = M.definition.fieldIndex(of: field) else {
      throw StoreError(
        .unknownField, M.definition.notStored(field), model: M.schema.name)
    }
    let text = try query.aggregateText(aggregate, of: index)
    return try access.firstRow(text, of: query.schema) { row in
      try row.decode(Answer?.self, at: 0)
    } ?? nil
  }

  /// As ``aggregate(_:of:in:as:)``, read as the field's own type: for the smallest, the largest and
  /// the sum.
  public borrowing func aggregate<M: Model, Value: ColumnValue>(
    _ aggregate: StoreQuery<M>.Aggregate, of field: any KeyPath<M, Value> & Sendable,
    in query: StoreQuery<M>
  ) throws -> Value? {
    try self.aggregate(aggregate, of: field, in: query, as: Value.self)
  }

  /// The record with that key, or nil when there is none.
  @inlinable
  public borrowing func find<M: Model>(_ model: M.Type, _ key: M.Key) throws -> M? {
    try access.record(model, key: key)
  }

  /// The record of `schema` with that key, or nil when there is none.
  public borrowing func find(_ schema: ModelSchema, key: [SQLValue]) throws -> DynamicRecord? {
    try access.record(schema, key: key)
  }

  /// The rows of any SELECT, PRAGMA or other statement that changes nothing.
  ///
  /// - Throws: ``StoreError`` with code `misuse` when the statement could write.
  public borrowing func rows(_ sql: SQLText) throws -> [ResultRow] {
    try access.rows(sql)
  }

  /// Calls `body` with each row of a SELECT, PRAGMA or other statement that changes nothing, and
  /// keeps none of them: for results that need not fit in memory, or have no end.
  ///
  /// - Throws: What `body` throws, which ends the reading; otherwise as ``rows(_:)``.
  public borrowing func forEachRow(
    _ sql: SQLText, _ body: (ResultRow) throws -> Void
  ) throws {
    try access.forEachRow(sql, body)
  }

  /// The names of the columns that a SELECT, PRAGMA or other statement gives, rows or none, in
  /// order. The statement is compiled, not run.
  ///
  /// - Throws: ``StoreError`` with code `misuse` when the statement could write.
  package borrowing func columnNames(of sql: SQLText) throws -> [String] {
    try access.columnNames(of: sql)
  }

  /// Stops code that works for long between its reads, such as a validator, when the task that it
  /// works for was cancelled. A read stops by itself.
  ///
  /// - Throws: ``StoreError`` with code `cancelled`.
  public borrowing func checkCancellation() throws {
    try access.runner.checkNotCancelled()
  }

  /// The first column of the first row of a statement that changes nothing, or nil without rows.
  public borrowing func value<Value: ColumnValue>(
    _ type: Value.Type = Value.self, _ sql: SQLText
  ) throws -> Value? {
    try access.firstRow(sql) { row in try row.decode(Value.self, at: 0) }
  }
}
