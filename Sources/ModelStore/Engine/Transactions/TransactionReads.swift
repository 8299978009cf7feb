/// The reads that every transaction can do. ``ReadTransaction`` only reads, ``WriteTransaction``
/// also writes.
///
/// All reads of one transaction see one state of the store.
public protocol TransactionReads: ~Copyable {
  /// The access to the store. It is an implementation detail: do not use it.
  var access: _TransactionAccess { borrowing get }
}

extension TransactionReads where Self: ~Copyable {
  /// Returns the records that `query` selects, in its order.
  ///
  /// - Throws: ``StoreError`` with code `invalidValue` if a stored value does not fit the model.
  @inlinable
  public borrowing func fetch<Element>(_ query: StoreQuery<Element>) throws -> [Element] {
    try access.records(try query.selectText(), of: query.schema)
  }

  /// Calls `body` with each record that `query` selects, in its order.
  ///
  /// It keeps none of the records, so the result does not have to fit in memory.
  ///
  /// - Throws: What `body` throws, which ends the reading; otherwise as ``fetch(_:)``.
  public borrowing func forEach<Element>(
    _ query: StoreQuery<Element>, _ body: (Element) throws -> Void
  ) throws {
    try access.forEachRecord(try query.selectText(), of: query.schema, body)
  }

  /// Returns the first record that `query` selects, or nil if there is none.
  public borrowing func fetchFirst<Element>(_ query: StoreQuery<Element>) throws -> Element? {
    var query = query
    query.limit = min(query.limit ?? 1, 1)
    return try fetch(query).first
  }

  /// Returns the number of records that `query` selects.
  public borrowing func count<Element>(_ query: StoreQuery<Element>) throws -> Int {
    let number = try access.firstRow(try query.countText(), of: query.schema) { row in
      try row.integer(at: 0)
    }
    return Int(number ?? 0)
  }

  /// Returns the number of records that `query` selects, or nil if counting takes too long.
  ///
  /// SQLite counts up to `maxStepCount` steps of its virtual machine: a view may have infinitely
  /// many rows. A table without a condition needs a few steps, independent of its size. A view or a
  /// condition needs about 5 to 20 steps for each row that it reads.
  ///
  /// - Parameter maxStepCount: At least 1000; counted in thousands.
  /// - Throws: As ``count(_:)``.
  public borrowing func count<Element>(
    _ query: StoreQuery<Element>, maxStepCount: Int
  ) throws -> Int? {
    try access.count(query, maxStepCount: maxStepCount)
  }

  /// Returns the minimum, maximum, sum, mean or number of distinct values of one field.
  ///
  /// It uses the records that `query` selects. If there are none, or all values are NULL, it
  /// returns nil.
  ///
  /// - Parameter type: The type of the result: for example `Double` for a mean, or `Int` for a
  ///   number of values.
  /// - Throws: ``StoreError`` with code `invalidQuery` for the sum or mean of a field without
  ///   numbers, and for the minimum or maximum of a decimal, which is stored as text.
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

  /// Returns ``aggregate(_:of:in:as:)`` as the field's own type: for the minimum, the maximum and
  /// the sum.
  public borrowing func aggregate<M: Model, Value: ColumnValue>(
    _ aggregate: StoreQuery<M>.Aggregate, of field: any KeyPath<M, Value> & Sendable,
    in query: StoreQuery<M>
  ) throws -> Value? {
    try self.aggregate(aggregate, of: field, in: query, as: Value.self)
  }

  /// Returns the record with that key, or nil if there is none.
  @inlinable
  public borrowing func find<M: Model>(_ model: M.Type, _ key: M.Key) throws -> M? {
    try access.record(model, key: key)
  }

  /// Returns the record of `schema` with that key, or nil if there is none.
  public borrowing func find(_ schema: ModelSchema, key: [SQLValue]) throws -> DynamicRecord? {
    try access.record(schema, key: key)
  }

  /// Returns the rows of any SELECT, PRAGMA or other statement that does not write.
  ///
  /// - Throws: ``StoreError`` with code `misuse` if the statement could write.
  public borrowing func rows(_ sql: SQLText) throws -> [ResultRow] {
    try access.rows(sql)
  }

  /// Calls `body` with each row of a SELECT, PRAGMA or other statement that does not write.
  ///
  /// It keeps none of the rows, so the result does not have to fit in memory, and may be infinite.
  ///
  /// - Throws: What `body` throws, which ends the reading; otherwise as ``rows(_:)``.
  public borrowing func forEachRow(
    _ sql: SQLText, _ body: (ResultRow) throws -> Void
  ) throws {
    try access.forEachRow(sql, body)
  }

  /// Returns the names of the result columns of a SELECT, PRAGMA or other statement, in order.
  ///
  /// The statement is compiled but does not run.
  ///
  /// - Throws: ``StoreError`` with code `misuse` if the statement could write.
  package borrowing func columnNames(of sql: SQLText) throws -> [String] {
    try access.columnNames(of: sql)
  }

  /// Runs a statement that does not write, ignores its rows, and returns what SQLite did.
  ///
  /// - Parameter maxStepCount: The statement is stopped after that many steps of SQLite's virtual
  ///   machine, counted in thousands.
  /// - Throws: ``StoreError`` with code `misuse` if the statement could write.
  package borrowing func work(of sql: SQLText, maxStepCount: Int) throws -> StatementWork {
    try access.work(of: sql, maxStepCount: maxStepCount)
  }

  /// Throws if the current task was cancelled.
  ///
  /// Call it in code that works for a long time between reads, for example in a validator. Reads
  /// check for cancellation themselves.
  ///
  /// - Throws: ``StoreError`` with code `cancelled`.
  public borrowing func checkCancellation() throws {
    try access.runner.checkNotCancelled()
  }

  /// Returns the first column of the first row of a statement that does not write, or nil without
  /// rows.
  public borrowing func value<Value: ColumnValue>(
    _ type: Value.Type = Value.self, _ sql: SQLText
  ) throws -> Value? {
    try access.firstRow(sql) { row in try row.decode(Value.self, at: 0) }
  }
}
