/// The records that one call inserts, many with one statement where that is the same as one by one.
@usableFromInline
struct RecordBatches {
  private let access: _TransactionAccess
  private let sql: RecordSQL
  /// nil before the first batch, and a nil inside to insert one by one.
  private var found: BatchInsertion??
  /// The greatest row number in the table: nil if it has to be read, and a nil inside if the table
  /// is empty.
  private var greatestNumber: Int64??

  init(_ access: _TransactionAccess, _ sql: RecordSQL) {
    self.access = access
    self.sql = sql
  }

  private var schema: ModelSchema { sql.schema }

  /// The number of records that one statement inserts.
  @usableFromInline static var recordCount: Int { BatchInsertion.rowCount }

  /// Inserts ``recordCount`` records with one statement.
  ///
  /// - Parameters:
  ///   - encode: Binds the fields of the record with that index, each at its field's position.
  ///   - record: Receives the row numbers of the records before the statement runs.
  /// - Returns: false if nothing was inserted. Insert the records one by one then, which also
  ///   reports the error of the refused record.
  /// - Throws: ``StoreError`` if the transaction cannot continue.
  @usableFromInline
  mutating func insert(
    encode: (Int, inout ArgumentWriter) throws -> Void, record: ([Int64]) throws -> Void
  ) throws -> Bool {
    guard let batch = try batch() else { return false }
    access.notes.addsRecords = true
    let known = greatestNumber
    greatestNumber = nil
    var lastAssigned: Int64?
    let isDone = try access.runner.attempt(batch.text, of: schema) { statement in
      let bound = try access.bindRows(batch, to: statement, encode)
      guard let bound,
        let numbers = try numbers(of: bound, in: batch, after: known)
      else { return false }
      lastAssigned = numbers.lastAssigned
      try record(numbers.each)
      return true
    }
    guard isDone else { return false }
    if let last = lastAssigned {
      // The numbers were handed out already, so a table that counts otherwise cannot be used.
      guard access.connection.lastInsertRowID == last else {
        throw StoreError(
          .corrupt, "\(schema.name): the table does not count its rows in order.",
          model: schema.name)
      }
      greatestNumber = .some(last)
    }
    return true
  }

  private mutating func batch() throws -> BatchInsertion? {
    if let found { return found }
    // With triggers, a returned record is read after its own statement, not after later ones.
    let batch = sql.rewritesInserts ? nil : try access.batchInsertion(sql)
    found = .some(batch?.needsDeferredReferences == true ? nil : batch)
    return found ?? nil
  }

  private struct Numbers {
    let each: [Int64]
    /// The last number if SQLite assigns them.
    var lastAssigned: Int64?
  }

  /// Returns the row numbers that the records will have; nil if they are not known for certain.
  ///
  /// - Parameter known: The greatest number in the table, as ``greatestNumber``.
  private func numbers(
    of bound: ArgumentWriter.RowNumbers, in batch: BatchInsertion, after known: Int64??
  ) throws -> Numbers? {
    let column: String
    switch batch.rowNumber {
    case .none:
      let number = access.connection.lastInsertRowID
      return Numbers(each: Array(repeating: number, count: BatchInsertion.rowCount))
    case .field(let index, let isAssignedByCounter):
      // A mixture is rare, and a text would be converted or refused.
      guard !bound.hasOther else { return nil }
      if bound.integers.count == BatchInsertion.rowCount { return Numbers(each: bound.integers) }
      guard bound.integers.isEmpty, !isAssignedByCounter else { return nil }
      column = SQLText.quoted(schema.fields[index].column)
    case .hidden(let name): column = name
    }
    let greatest = try known ?? greatest(in: column)
    // SQLite continues after the greatest number, and chooses at random after the greatest integer:
    // https://sqlite.org/autoinc.html
    let first = greatest.map { $0 &+ 1 } ?? 1
    guard greatest ?? 0 <= .max - Int64(BatchInsertion.rowCount) else { return nil }
    let last = first + Int64(BatchInsertion.rowCount) - 1
    return Numbers(each: Array(first...last), lastAssigned: last)
  }

  /// Reads the greatest row number; nil if the table is empty.
  private func greatest(in column: String) throws -> Int64? {
    let sql = SQLText(sql: "SELECT max(\(column)) FROM \(SQLText.quoted(schema.table))")
    return try access.connection.firstRow(sql) { row in
      row.isNull(at: 0) ? nil : try row.integer(at: 0)
    } ?? nil
  }
}

extension _TransactionAccess {
  /// Prepares to insert many records of `model`.
  @usableFromInline
  func batches<M: Model>(of model: M.Type) throws -> RecordBatches {
    RecordBatches(self, try statements(for: model))
  }

  /// Returns how records can be inserted many at a time; nil for one by one.
  func batchInsertion(_ sql: RecordSQL) throws -> BatchInsertion? {
    // The transaction itself may have changed the table since its statements were made.
    guard try connection.schemaVersion() == models.facts.schemaVersion else { return nil }
    return try models.batchInsertion(sql, on: connection)
  }

  /// Binds the arguments of all rows of a batch.
  ///
  /// - Returns: nil if the rows are too large for one statement.
  fileprivate func bindRows(
    _ batch: BatchInsertion, to statement: borrowing Statement,
    _ encode: (Int, inout ArgumentWriter) throws -> Void
  ) throws -> ArgumentWriter.RowNumbers? {
    var numberedField: Int?
    if case .field(let index, _) = batch.rowNumber { numberedField = index }
    let width = statement.parameterCount / BatchInsertion.rowCount
    var arguments = ArgumentWriter(
      statement: statement.handle, rowWidth: width, numberedField: numberedField,
      room: connection.argumentRoom)
    for row in 0..<BatchInsertion.rowCount {
      try encode(row, &arguments)
      arguments.endRow()
      guard arguments.copiedByteCount <= BatchInsertion.maxByteCount else { return nil }
    }
    try statement.check(arguments)
    return arguments.rowNumbers
  }
}

/// A statement that inserts many records by the positions of their fields.
package struct RowInsertion {
  /// The number of records that it inserts.
  package static var rowCount: Int { BatchInsertion.rowCount }
  /// The most bytes of texts and blobs to gather for it.
  package static var maxByteCount: Int { BatchInsertion.maxByteCount }

  fileprivate let schema: ModelSchema
  /// The places of values that must not be NULL, because SQLite would accept them in a key.
  fileprivate let keyPlaces: [Int]
  fileprivate let text: String
}

extension WriteTransaction {
  /// Returns a statement for many records with values for the fields at `fields`; nil if records of
  /// `schema` must be inserted one by one.
  ///
  /// - Parameter defersReferences: Whether references are checked at the end of the transaction.
  package borrowing func rowInsertion(
    of fields: [Int], into schema: ModelSchema, defersReferences: Bool
  ) throws -> RowInsertion? {
    let sql = access.models.statements(for: schema)
    let keys = schema.keyIndices.filter { $0 != schema.rowIDFieldIndex }
    let places = keys.compactMap { fields.firstIndex(of: $0) }
    guard !fields.isEmpty, places.count == keys.count,
      let batch = try access.batchInsertion(sql), defersReferences || !batch.needsDeferredReferences
    else { return nil }
    return RowInsertion(
      schema: schema, keyPlaces: places,
      text: sql.insert(fields: fields, rowCount: BatchInsertion.rowCount))
  }

  /// Inserts records with one statement.
  ///
  /// - Parameter rows: As many rows as the statement takes, each with the values of its fields.
  /// - Returns: false if nothing was inserted. Insert the records one by one then, which also
  ///   reports the error of the refused record.
  /// - Throws: ``StoreError`` if the transaction cannot continue.
  package borrowing func insert(_ rows: [[SQLValue]], by insertion: RowInsertion) throws -> Bool {
    guard rows.allSatisfy({ row in insertion.keyPlaces.allSatisfy { !row[$0].isNull } }) else {
      return false
    }
    access.notes.addsRecords = true
    let room = access.connection.argumentRoom
    return try access.runner.attempt(insertion.text, of: insertion.schema) { statement in
      var arguments = ArgumentWriter(statement: statement.handle, room: room)
      var index = 0
      for row in rows {
        for value in row {
          arguments.set(value, at: index)
          index += 1
        }
        guard arguments.copiedByteCount <= BatchInsertion.maxByteCount else { return false }
      }
      guard index == statement.parameterCount else { return false }
      try statement.check(arguments)
      return true
    }
  }
}
