internal import Synchronization

/// The SQL text of the statements for single records of one model, built once per version of the
/// schema.
@usableFromInline
final class RecordSQL: Sendable {
  let schema: ModelSchema
  /// The number of key fields.
  let keyCount: Int
  /// Whether triggers or SQLite itself may change a record while it is written.
  let rewritesInserts: Bool
  /// All fields of one record, by key.
  let select: String
  /// The fields to bind for insert and upsert, in order: all except generated ones.
  let writableFields: [Int]
  /// Inserts all writable fields.
  let insert: String
  /// As `insert`, for a transaction that has not changed the table's definition.
  ///
  /// Where SQLite refuses a record before it changes anything, the text says OR FAIL. Otherwise
  /// SQLite copies the pages that the statement and the journal's trigger change, to undo it: a
  /// third of the time. After a failure for which the statement was not undone, the transaction has
  /// to be rolled back.
  let insertOrFail: String
  /// Whether `insertOrFail` says OR FAIL.
  let failsAsAWhole: Bool
  /// As `insert`; updates the other fields when the key exists already.
  let upsert: String
  /// Sets every field outside the key; the arguments are the record's, by position.
  let update: String
  let delete: String
  /// The statements that set one field, by its position. They are made on first use.
  private let setters = Mutex<[Int: String]>([:])

  /// - Parameters:
  ///   - hasTriggers: Whether triggers may change a record as it is written.
  ///   - failsAsAWhole: Whether a refused insertion has changed nothing.
  init(schema: ModelSchema, hasTriggers: Bool = false, failsAsAWhole: Bool = false) {
    self.schema = schema
    self.failsAsAWhole = failsAsAWhole
    keyCount = schema.key.count
    rewritesInserts = hasTriggers || schema.fields.contains { $0.generated != nil }
    let table = SQLText.quoted(schema.table)
    let columns = schema.fields.map { SQLText.quoted($0.column) }
    writableFields = schema.fields.indices.filter { schema.fields[$0].generated == nil }
    let keys = schema.keyIndices
    let others = writableFields.filter { !keys.contains($0) }
    // Arguments are numbered, so that a record binds its fields in the same way for each statement.
    let byKey = keys.map { "\(columns[$0]) = ?\($0 + 1)" }.joined(separator: " AND ")
    let all = columns.joined(separator: ", ")
    let written = writableFields.map { columns[$0] }.joined(separator: ", ")
    let arguments = writableFields.map { "?\($0 + 1)" }.joined(separator: ", ")
    let keyList = keys.map { columns[$0] }.joined(separator: ", ")
    select =
      "SELECT \(all) FROM \(table) WHERE "
      + keys.map { "\(columns[$0]) = ?" }.joined(separator: " AND ")
    let insertion = "INTO \(table) (\(written)) VALUES (\(arguments))"
    insert = "INSERT " + insertion
    insertOrFail = failsAsAWhole ? "INSERT OR FAIL " + insertion : insert
    let excluded = others.map { "\(columns[$0]) = excluded.\(columns[$0])" }
    upsert =
      insert + " ON CONFLICT (\(keyList)) DO "
      + (excluded.isEmpty ? "NOTHING" : "UPDATE SET " + excluded.joined(separator: ", "))
    update =
      others.isEmpty
      ? ""
      : "UPDATE \(table) SET "
        + others.map { "\(columns[$0]) = ?\($0 + 1)" }
        .joined(separator: ", ") + " WHERE \(byKey)"
    delete =
      "DELETE FROM \(table) WHERE " + keys.map { "\(columns[$0]) = ?" }.joined(separator: " AND ")
  }

  /// Returns the statement that sets the given fields of one record; arguments: the fields' values,
  /// then the key's.
  func update(fields: [Int]) -> String {
    guard fields.count == 1 else { return newUpdate(fields: fields) }
    return setters.withLock { setters in
      if let text = setters[fields[0]] { return text }
      let text = newUpdate(fields: fields)
      setters[fields[0]] = text
      return text
    }
  }

  private func newUpdate(fields: [Int]) -> String {
    let sets = fields.map { "\(SQLText.quoted(schema.fields[$0].column)) = ?" }
    let keys = schema.keyIndices.map { "\(SQLText.quoted(schema.fields[$0].column)) = ?" }
    return "UPDATE \(SQLText.quoted(schema.table)) SET \(sets.joined(separator: ", ")) WHERE "
      + keys.joined(separator: " AND ")
  }

  /// Returns the statement that inserts the given fields; the others get their defaults. Arguments:
  /// the fields' values. It returns one row, the inserted key.
  func insert(fields: [Int]) -> String {
    insertion(fields: fields) + returning
  }

  private var returning: String {
    " RETURNING " + SQLText.quotedList(schema.keyIndices.map { schema.fields[$0].column })
  }

  private func insertion(fields: [Int]) -> String {
    guard !fields.isEmpty else {
      return "INSERT INTO \(SQLText.quoted(schema.table)) DEFAULT VALUES"
    }
    let columns = SQLText.quotedList(fields.map { schema.fields[$0].column })
    let arguments = fields.map { _ in "?" }.joined(separator: ", ")
    return "INSERT INTO \(SQLText.quoted(schema.table)) (\(columns)) VALUES (\(arguments))"
  }

  /// As `insert(fields:)`; updates the fields outside the key when the key exists already. It
  /// returns no row if no such fields were given.
  func upsert(fields: [Int]) -> String {
    // DEFAULT VALUES takes no ON CONFLICT: https://sqlite.org/syntax/insert-stmt.html
    guard !fields.isEmpty else { return insert(fields: []) }
    let keys = schema.keyIndices
    let sets = fields.filter { !keys.contains($0) }.map { field in
      let column = SQLText.quoted(schema.fields[field].column)
      return "\(column) = excluded.\(column)"
    }
    let keyList = SQLText.quotedList(keys.map { schema.fields[$0].column })
    return insertion(fields: fields) + " ON CONFLICT (\(keyList)) DO "
      + (sets.isEmpty ? "NOTHING" : "UPDATE SET " + sets.joined(separator: ", ")) + returning
  }
}
