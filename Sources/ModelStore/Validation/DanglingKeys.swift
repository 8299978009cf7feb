/// The keys of records in a WITHOUT ROWID table whose references are broken. SQLite's own check
/// counts these records but does not identify them.
struct DanglingKeys {
  private let table: TableFacts
  private let model: ModelSchema?
  private let connection: Connection
  private var keys: [Int64: [[SQLValue]]] = [:]

  init(of table: TableFacts, as model: ModelSchema?, on connection: Connection) {
    self.table = table
    self.model = model
    self.connection = connection
  }

  /// Returns the key of another record that breaks a foreign key; nil when it is unknown.
  ///
  /// - Parameter foreignKey: The foreign key's number in `PRAGMA foreign_key_list`.
  mutating func next(for foreignKey: Int64) throws -> [SQLValue]? {
    var found = try keys[foreignKey] ?? read(foreignKey)
    let next = found.popLast()
    keys[foreignKey] = found
    return next
  }

  /// Reads the keys in reverse order.
  private func read(_ foreignKey: Int64) throws -> [[SQLValue]] {
    guard let model else { return [] }
    let parts = try connection.rows(
      """
      SELECT "table", "from", "to" FROM pragma_foreign_key_list(\(table.name), 'main')
      WHERE id = \(foreignKey)
      ORDER BY seq
      """
    ) { row in
      (
        parent: try row.text(at: 0), column: try row.text(at: 1),
        referenced: row.isNull(at: 2) ? nil : try row.text(at: 2)
      )
    }
    guard let parent = parts.first?.parent else { return [] }
    let primaryKey = try connection.rows(
      "SELECT name FROM pragma_table_info(\(parent), 'main') WHERE pk > 0 ORDER BY pk"
    ) { row in try row.text(at: 0) }
    guard parts.allSatisfy({ $0.referenced != nil }) || parts.count == primaryKey.count else {
      return []
    }
    var isSet: SQLText = "1"
    var isMet: SQLText = "1"
    for (place, part) in parts.enumerated() {
      isSet.append(" AND c.\(identifier: part.column) IS NOT NULL")
      isMet.append(
        " AND p.\(identifier: part.referenced ?? primaryKey[place]) = c.\(identifier: part.column)")
    }
    let columns = SQLText(
      sql: model.keyIndices.map { "c." + SQLText.quoted(model.fields[$0].column) }
        .joined(separator: ", "))
    return try connection.rows(
      """
      SELECT \(columns) FROM \(identifier: table.name) AS c
      WHERE \(isSet) AND NOT EXISTS (SELECT 1 FROM \(identifier: parent) AS p WHERE \(isMet))
      """
    ) { row in try row.values() }
    .reversed()
  }
}
