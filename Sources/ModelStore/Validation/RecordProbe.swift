internal import Synchronization

/// Holds one record against what its model demands of each record by itself, without the store: in
/// a database in memory whose only table has the model's columns and none of its constraints. So
/// SQLite itself evaluates the conditions, all of them, with the types and collations that they
/// have in the file. What takes a generated column is left to the file.
final class RecordProbe: Sendable {
  /// A record as the table would hold it, and what is wrong with it.
  struct Judged {
    /// In field order.
    var image: [SQLValue]
    /// In the order of ``RecordChecks/checks``; those that only warn too.
    var violations: [Violation]
    /// The unique rules that are about records like this one, by name.
    var uniqueRules: Set<String> = []
  }

  private let schema: ModelSchema
  private let checks: [RecordChecks.Check]
  /// The rules that demand unique values among some records only.
  private let partialRules: [String]
  private let evaluation: SQLText
  private let queue: ConnectionQueue<Connection>

  /// - Parameter rules: Those beside the table's definition; of other models too.
  init(_ schema: ModelSchema, rules: [Rule]) throws {
    self.schema = schema
    var configuration = StoreConfiguration()
    configuration.cacheSize = 64 * 1024
    let connection = try Connection(
      path: ":memory:", role: .writer, policy: configuration.connectionPolicy)
    let columns = schema.fields.map(Self.definition).joined(separator: ", ")
    try connection.run(
      SQLText(sql: "CREATE TABLE \(SQLText.quoted(schema.table)) (\(columns))"))
    let table: SQLText = "FROM \(identifier: schema.table)"
    checks = try RecordChecks(schema: schema, models: [schema], rules: rules).checks
      .filter { check in
        guard !check.readsOthers, !Self.isAboutGenerated(check, in: schema) else { return false }
        // The file's table may have columns that the model does not.
        let isRule = rules.contains { $0.name == check.violation.rule }
        return try !isRule || connection.compiles("SELECT \(check.offence.sql) \(table.sql)")
      }
    var text: SQLText = "SELECT "
    for check in checks { text.append("(\(check.offence)) IS TRUE, ") }
    var partialRules: [String] = []
    for rule in rules where rule.model == schema.name && rule.severity == .error {
      guard case .unique(let condition?) = rule.demand,
        try connection.compiles("SELECT (\(condition)) \(table.sql)")
      else { continue }
      partialRules.append(rule.name)
      text.append(sql: "(\(condition)) IS TRUE, ")
    }
    self.partialRules = partialRules
    text.append(sql: SQLText.quotedList(schema.fields.map(\.column)))
    text.append(" \(table)")
    evaluation = text
    queue = ConnectionQueue(connection, connection: connection, label: "modelstore.probe")
  }

  /// Whether the check takes a value that only the file's own definition can compute.
  private static func isAboutGenerated(_ check: RecordChecks.Check, in schema: ModelSchema) -> Bool
  {
    let columns = schema.fields.filter { $0.generated != nil }.map(\.column.asciiFolded)
    guard !columns.isEmpty else { return false }
    do throws(SQLExpression.Problem) {
      let names = try SQLExpression(check.offence.sql).plainNames
      return names.contains(where: columns.contains)
    } catch {
      return true
    }
  }

  private static func definition(of field: FieldSchema) -> String {
    var parts = [SQLText.quoted(field.column)]
    let type = field.declaredType ?? field.columnType
    if type != "ANY" { parts.append(type) }
    if let value = field.defaultSQL { parts.append("DEFAULT (\(value))") }
    switch field.collation {
    case .binary, .custom: break
    default: parts.append("COLLATE \(field.collation.name)")
    }
    return parts.joined(separator: " ")
  }

  /// - Parameters:
  ///   - fields: The fields that are given values; the others get their defaults.
  ///   - encode: Binds their values, each at its field's position.
  /// - Throws: What `encode` throws; ``SQLiteError``; ``ColumnError``.
  func judge(
    fields: [Int], includesValues: Bool, _ encode: (inout ArgumentWriter) throws -> Void
  ) throws -> Judged {
    try queue.sync { connection -> Judged in
      try connection.execute("BEGIN")
      do {
        try connection.withStatement(insertion(of: fields)) { statement in
          try _TransactionAccess.bind(to: statement, of: schema, encode)
          try statement.run()
        }
        let found = try connection.firstRow(evaluation) { row in
          try judged(row, includesValues: includesValues)
        }
        try connection.rollBack()
        return found ?? Judged(image: [], violations: [])
      } catch {
        throw connection.rollBack(after: error)
      }
    }
  }

  private func insertion(of fields: [Int]) -> String {
    let table = SQLText.quoted(schema.table)
    guard !fields.isEmpty else { return "INSERT INTO \(table) DEFAULT VALUES" }
    let columns = SQLText.quotedList(fields.map { schema.fields[$0].column })
    let arguments = fields.map { "?\($0 + 1)" }.joined(separator: ", ")
    return "INSERT INTO \(table) (\(columns)) VALUES (\(arguments))"
  }

  private func judged(_ row: borrowing RowView, includesValues: Bool) throws -> Judged {
    let image = Array(try row.values().dropFirst(checks.count + partialRules.count))
    let key = schema.keyIndices.map { image[$0] }
    var violations: [Violation] = []
    for (index, check) in checks.enumerated() where try row.integer(at: index) != 0 {
      violations.append(
        check.violation.about(image, of: schema, key: key, includesValues: includesValues))
    }
    let uniqueRules = try partialRules.indices
      .filter { try row.integer(at: checks.count + $0) != 0 }.map { partialRules[$0] }
    return Judged(image: image, violations: violations, uniqueRules: Set(uniqueRules))
  }
}

extension Violation {
  /// The same about one record.
  func about(
    _ image: [SQLValue], of schema: ModelSchema, key: [SQLValue], includesValues: Bool
  ) -> Violation {
    var violation = self
    // A draft may have no key yet.
    violation.key = key.contains(.null) ? nil : key
    if includesValues {
      violation.values = fields.compactMap { schema.fieldIndex(named: $0).map { image[$0] } }
    }
    return violation
  }
}

/// The probes of types, for records that belong to no store.
enum RecordProbes {
  private static let probes = Mutex<[ObjectIdentifier: RecordProbe]>([:])

  static func probe<M: Model>(of model: M.Type) throws -> RecordProbe {
    let identity = ObjectIdentifier(model)
    if let probe = probes.withLock({ $0[identity] }) { return probe }
    let probe = try RecordProbe(M.schema, rules: [])
    return probes.withLock { probes in
      if let present = probes[identity] { return present }
      probes[identity] = probe
      return probe
    }
  }
}

extension Insertable {
  /// What is wrong with the record or draft by itself: values that must be there, types, and the
  /// conditions of its model. Takes no store, so what depends on other records, and rules that were
  /// added to a file, are not looked at; for those ask ``Store/violations(of:)``.
  ///
  /// - Returns: In the order of fields; empty when all is well.
  /// - Throws: ``StoreError`` when a value cannot be stored at all, such as NaN.
  /// - Complexity: A few microseconds for each condition; the first call for a type makes a
  ///   database in memory, which stays.
  public func violations() throws -> [Violation] {
    let schema = Inserted.schema
    do {
      return try RecordProbes.probe(of: Inserted.self).judge(
        fields: schema.fields.indices.filter { schema.fields[$0].generated == nil },
        includesValues: false
      ) { try encode(to: &$0) }.violations
    } catch {
      throw ModelRegistry.storeError(error, models: [schema], about: schema)
    }
  }
}
