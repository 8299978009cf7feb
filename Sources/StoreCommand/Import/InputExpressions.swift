import ModelStore
import RecordFormats

/// The values that `--set FIELD=EXPRESSION` gives to the fields of each record. SQLite evaluates
/// them in a database in memory that has no tables, so they see the record and nothing else.
final class InputExpressions {
  private struct Assignment {
    let field: InputField
    let expression: SQLExpression
  }

  private let assignments: [Assignment]
  /// The names in the expressions, in lower case.
  private let names: Set<String>
  private let store: Store

  /// - Throws: ``CommandError`` for an unknown field, and for a text that is not one expression.
  init(_ words: [String], of schema: ModelSchema) throws {
    assignments = try words.map { word in
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      _ = try schema.requiredField(named: parts[0])
      let index = schema.fieldIndex(named: parts[0]) ?? 0
      let field = InputField(schema.fields[index], at: index)
      guard !field.isComputed else {
        throw CommandError.usage(
          "\(parts[0]) is computed by the database and cannot be set.", model: schema.name,
          field: parts[0])
      }
      return Assignment(
        field: field, expression: try Self.expression(parts.count > 1 ? parts[1] : ""))
    }
    var seen: Set<Int> = []
    for assignment in assignments where !seen.insert(assignment.field.place).inserted {
      throw CommandError.usage("--set names \(assignment.field.schema.name) twice.")
    }
    names = assignments.reduce(into: []) {
      $0.formUnion(SQLExpression.columnNames(in: $1.expression.text))
    }
    var configuration = StoreConfiguration()
    configuration.stopRequest = Interruption.storeRequest
    store = try Store.inMemory(models: [], configuration: configuration)
  }

  deinit { store.close() }

  private static func expression(_ text: String) throws(CommandError) -> SQLExpression {
    let found: SQLExpression
    do throws(SQLExpression.Problem) {
      found = try SQLExpression(text)
    } catch {
      throw CommandError.usage("--set: the expression “\(text)” \(error.reason).")
    }
    let words = ["select", "values", "with"]
    guard !found.tokens.contains(where: { token in words.contains { token == .name($0) } }) else {
      throw CommandError.usage(
        "--set: the expression “\(text)” has a subquery; it may only use the record's own values.")
    }
    return found
  }

  /// The fields that it sets.
  var fields: [InputField] { assignments.map(\.field) }

  /// Whether an expression uses the value that the input calls `name`.
  func uses(_ name: String) -> Bool { names.contains(name.asciiFolded) }

  /// The values for one record, in the order of ``fields``.
  ///
  /// - Parameter row: The values of the input that the expressions use.
  /// - Throws: ``StoreError`` with code `invalidValue` for an expression that SQLite refuses and
  ///   for a value that does not fit its field.
  func values(for row: [(name: String, value: SQLValue)]) throws -> [SQLValue] {
    let expressions = assignments.map { "(\($0.expression.text))" }.joined(separator: ", ")
    let columns = row.map { "? AS \(SQLText.quoted($0.name))" }
    let source = columns.isEmpty ? "" : " FROM (SELECT \(columns.joined(separator: ", ")))"
    let text = SQLText(sql: "SELECT \(expressions)\(source)", arguments: row.map(\.value))
    let found: [SQLValue]
    do {
      found = try store.read { reads in try reads.rows(text) }.first?.values ?? []
    } catch let error as StoreError where error.code != .cancelled {
      throw StoreError(
        .invalidValue, "--set: \(CommandError.messageWithoutStatement(of: error))",
        field: assignments[0].field.schema.name)
    }
    return try zip(assignments, found).map { assignment, value in
      try Self.stored(value, in: assignment.field)
    }
  }

  /// The value of an expression as the field stores it, read like a cell of CSV.
  private static func stored(
    _ value: SQLValue, in field: InputField
  ) throws(StoreError) -> SQLValue {
    switch (value, field.schema.type) {
    case (.null, _): return .null
    case (.integer, .integer), (.real, .real), (_, .any): return value
    case (.blob, _) where field.schema.takesBytes: return value
    case (.blob, _):
      throw StoreError(
        .invalidValue, "\(field.schema.name) does not take a blob.", field: field.schema.name)
    default: return try field.value(ofCell: CellText.exchange(CellValue(value)) ?? "")
    }
  }
}
