extension TransactionReads where Self: ~Copyable {
  /// Returns the rows of any statement that changes nothing, each decoded by the names of its
  /// columns.
  ///
  /// ```swift
  /// struct Total: Decodable {
  ///   var shelfMark: String
  ///   var pages: Int
  /// }
  /// let totals = try tx.rows(
  ///   "SELECT shelfMark, sum(pages) AS pages FROM Book GROUP BY shelfMark", as: Total.self)
  /// ```
  /// To read only the first column, pass a type that a field can have, such as `Int` or `Date`.
  /// Values are read in the form in which fields store them: see ``ColumnValue``. Further columns
  /// are ignored. If several columns have one name, the first counts.
  ///
  /// - Throws: ``StoreError`` with code `invalidQuery` if a column is missing, `invalidValue` if a
  ///   value does not fit its property; otherwise as ``rows(_:)``.
  public borrowing func rows<Row: Decodable>(_ sql: SQLText, as type: Row.Type) throws -> [Row] {
    try access.rows(sql, as: type)
  }
}

extension ResultRow {
  /// Returns the value in the first column called `name`.
  ///
  /// ```swift
  /// let pages = try row.decode("pages", as: Int.self)
  /// ```
  /// - Throws: ``StoreError`` with code `invalidQuery` if there is no such column, `invalidValue`
  ///   if the value does not fit `Value`.
  public func decode<Value: ColumnValue>(
    _ name: String, as type: Value.Type = Value.self
  ) throws -> Value {
    guard let value = self[name] else {
      throw CodingPlan(.statement(row: "\(ResultRow.self)"), names: columns).unknown(name)
    }
    do throws(ColumnError) {
      return try Value(sqlValue: value)
    } catch {
      throw StoreError(error, readingColumn: name, of: "\(ResultRow.self)")
    }
  }
}

extension _TransactionAccess {
  fileprivate func rows<Row: Decodable>(_ text: SQLText, as type: Row.Type) throws -> [Row] {
    var rows: [Row] = []
    var plan: CodingPlan?
    try forEachRowView(text) { statement, row in
      // The names are those of the rows only after the first step; see `forEachRow`.
      let columns =
        plan ?? CodingPlan(.statement(row: "\(type)"), names: statement.columnNames)
      plan = columns
      do {
        rows.append(try columns.decode(type, from: row))
      } catch let error as ColumnError {
        let name = columns.names.indices.contains(error.column) ? columns.names[error.column] : nil
        throw StoreError(error, readingColumn: name, of: "\(type)")
      }
    }
    return rows
  }
}

extension StoreError {
  /// A value of a statement's row that does not fit its type.
  fileprivate init(_ error: ColumnError, readingColumn name: String?, of row: String) {
    self.init(
      .invalidValue,
      "\(row)\(name.map { ".\($0)" } ?? ""): a value of the statement does not fit its type: \(error).",
      field: name)
  }
}
