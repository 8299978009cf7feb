internal import Synchronization

/// A check of one record against the rules of its model that concern the record alone.
///
/// It works without the store, in an in-memory database with one table. That table has the model's
/// columns but none of its constraints. So SQLite itself evaluates all conditions, with the same
/// types and collations as in the file. Conditions that use generated columns are checked only by
/// the file.
final class RecordProbe: Sendable {
  /// A record as the table would store it, and the rules it breaks.
  struct Judged {
    /// In field order.
    var image: [SQLValue]
    /// In the order of ``RecordChecks/checks``, including warnings.
    var violations: [Violation]
    /// The names of the conditional unique rules that apply to this record.
    var uniqueRules: Set<String> = []
  }

  private let schema: ModelSchema
  private let checks: [RecordChecks.Check]
  /// The names of the rules that demand unique values among certain records only.
  private let partialRules: [String]
  private let evaluation: SQLText
  private let queue: ConnectionQueue<Connection>

  /// - Parameter rules: The rules beside the table's definition. They may include rules of other
  ///   models.
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
        // The file's table may have columns that the model does not declare.
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

  /// Returns whether the check uses a value that only the file's own definition can compute.
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

  /// Checks one record.
  ///
  /// - Parameters:
  ///   - fields: The fields that are given values; the others get their defaults.
  ///   - encode: Binds their values, each at its field's position.
  /// - Throws: Any error of `encode`; ``SQLiteError``; ``ColumnError``.
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
  /// Returns the violation with the given record's key and, if requested, its values.
  func about(
    _ image: [SQLValue], of schema: ModelSchema, key: [SQLValue], includesValues: Bool
  ) -> Violation {
    var violation = self
    // A draft may not have a key yet.
    violation.key = key.contains(.null) ? nil : key
    if includesValues {
      violation.values = fields.compactMap { schema.fieldIndex(named: $0).map { image[$0] } }
    }
    return violation
  }
}

/// The probes of model types, for records that belong to no store.
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
  /// Returns the rules that the record or draft breaks by itself: required values, types, and the
  /// conditions of its model.
  ///
  /// It needs no store. So it does not check rules about other records, nor rules added to a file.
  /// For those call ``Store/violations(of:)``.
  ///
  /// - Returns: The violations in field order; empty if there are none.
  /// - Throws: ``StoreError`` when a value cannot be stored at all, such as NaN.
  /// - Complexity: A few microseconds for each condition. The first call for a type creates an
  ///   in-memory database, which is kept.
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
