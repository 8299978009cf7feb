extension _TransactionAccess {
  /// Throws for a record without a key.
  ///
  /// SQLite accepts NULL in most primary keys, but such a record could never be found again:
  /// <https://sqlite.org/lang_createtable.html#the_primary_key>.
  ///
  /// - Parameter values: The values to write, with the position of each field.
  /// - Throws: ``StoreError`` with code `rejected` and every rule that the record breaks.
  func checkKey(
    in values: [(index: Int, value: SQLValue)], of sql: RecordSQL, isUpsert: Bool
  ) throws {
    let schema = sql.schema
    let missing = schema.keyIndices.filter { index in
      guard index != schema.rowIDFieldIndex else { return false }
      let field = schema.fields[index]
      if let given = values.first(where: { $0.index == index }) { return given.value.isNull }
      return field.generated == nil && (field.defaultSQL.map { $0.asciiFolded == "null" } ?? true)
    }
    guard !missing.isEmpty else { return }
    let violations = missing.map { index in
      let name = schema.fields[index].name
      return Violation(
        kind: .required, model: schema.name, fields: [name],
        rule: "\(schema.name).\(name).required", message: "must have a value",
        remedy: "Give it one: it is \(missing.count == schema.key.count ? "" : "part of ")the key.")
    }
    func encode(_ arguments: inout ArgumentWriter) {
      for (index, value) in values { arguments.set(value, at: index) }
    }
    let refusal = StoreError(rejecting: violations, count: violations.count)
    guard violations.count == 1 else { throw refusal }
    throw completed(
      refusal, by: try proposal(sql, values.map(\.index), isUpsert: isUpsert, encode), encode)
  }
}
