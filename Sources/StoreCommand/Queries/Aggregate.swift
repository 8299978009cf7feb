import ModelStore
import RecordFormats

/// A number, or another value, that a query computes of many records: their count, or the sum,
/// mean, minimum or maximum of a field.
struct Aggregate: Hashable, Sendable {
  enum Function: String, CaseIterable, Hashable, Sendable {
    case sum, avg, min, max
  }

  /// Nil for the count of records.
  let calculation: Calculation?

  struct Calculation: Hashable, Sendable {
    let function: Function
    let field: FieldSchema
  }

  static let count = Aggregate(calculation: nil)

  private init(calculation: Calculation?) {
    self.calculation = calculation
  }

  /// - Throws: ``CommandError`` for an unknown field, and for one whose type has no such aggregate.
  init(_ function: Function, of name: String, in schema: ModelSchema) throws {
    let field = try schema.requiredField(named: name)
    guard Self.accepts(function, field.type) else {
      let fitting = schema.fields.filter { Self.accepts(function, $0.type) }.map(\.name)
      throw CommandError(
        .usage, code: "usage",
        "\(schema.name).\(name) is of type \(TypeWords.text(field.type, field.form)); "
          + "--\(function.rawValue) takes \(Self.requirement(function)).",
        hint: fitting.isEmpty
          ? "storecli models \(Shell.quoted(schema.name))"
          : "--\(function.rawValue) takes \(fitting.joined(separator: ", "))",
        model: schema.name, field: name)
    }
    calculation = Calculation(function: function, field: field)
  }

  /// Whether values of `type` have the aggregate.
  static func accepts(_ function: Function, _ type: FieldType) -> Bool {
    switch (function, type) {
    case (.sum, .integer), (.sum, .real), (.sum, .boolean), (.sum, .decimal), (.sum, .any): true
    case (.avg, .integer), (.avg, .real), (.avg, .boolean), (.avg, .decimal), (.avg, .any): true
    case (.sum, _), (.avg, _): false
    case (_, .json), (_, .blob): false
    case (.min, _), (.max, _): true
    }
  }

  private static func requirement(_ function: Function) -> String {
    function == .sum || function == .avg ? "numbers" : "values that have an order"
  }

  /// Whether SQLite cannot compute it exactly: it stores decimals as texts, and those of a column
  /// that another program declared as NUMERIC or DECIMAL as reals. It rounds such a sum in each
  /// step.
  var isDecimal: Bool {
    guard let calculation else { return false }
    if calculation.field.type == .decimal { return true }
    let isSum = calculation.function == .sum || calculation.function == .avg
    return isSum && calculation.field.isDeclaredDecimal
  }

  /// Whether its values are decimals as texts.
  var isDecimalText: Bool { calculation?.field.type == .decimal }

  /// Whether a value in the column of another program may be something else than a number.
  var needsNumbers: Bool {
    guard let calculation, calculation.field.declaredType != nil || calculation.field.type == .any
    else { return false }
    return !isDecimalText && (calculation.function == .sum || calculation.function == .avg)
  }

  /// How whole numbers are added up.
  enum Addition {
    /// As SQLite does: it fails if the sum passes 64 bits on the way, even if the result does not.
    case direct
    /// In two halves, which is slower, and fails only for a result beyond 64 bits.
    case halves
  }

  /// Its expression; NULL where SQLite cannot compute it. All are aggregates, so that a query
  /// without groups has one row.
  func sql(_ addition: Addition) -> String {
    guard let calculation else { return "count(*)" }
    guard !isDecimal else { return "max(NULL)" }
    let column = SQLText.quoted(calculation.field.column)
    guard calculation.function == .sum, addition == .halves else {
      return "\(calculation.function.rawValue)(\(column))"
    }
    let low = "sum(\(column) & 4294967295)"
    let high = "(sum(\(column) >> 32) + (\(low) >> 32))"
    // The last branch fails with SQLite's error for an overflow.
    return """
      CASE WHEN count(\(column)) = 0 THEN NULL
        WHEN total(typeof(\(column)) = 'real') > 0 THEN total(\(column))
        WHEN \(high) BETWEEN -2147483648 AND 2147483647
        THEN (\(high) << 32) | (\(low) & 4294967295)
        ELSE abs(-9223372036854775807 - 1) END
      """
  }

  var column: OutputColumn {
    guard let calculation else { return OutputColumn("count") }
    let isValue = calculation.function == .min || calculation.function == .max
    return OutputColumn(
      "\(calculation.function.rawValue)_\(calculation.field.name)",
      meaning: isValue ? FieldColumns.meaning(of: calculation.field) : .stored)
  }

  /// The cell of its value. The minimum and maximum look like values of the field.
  func cell(of value: SQLValue) -> CellValue {
    guard let calculation, calculation.function == .min || calculation.function == .max else {
      return CellValue(value)
    }
    return CellValue(FieldColumns.shown(value, calculation.field))
  }
}

extension FieldSchema {
  /// Whether another program declared the column for decimals, which SQLite stores as numbers.
  fileprivate var isDeclaredDecimal: Bool {
    guard type == .real || type == .integer || type == .any, let declaredType else { return false }
    return ["NUMERIC", "DECIMAL"].contains { declaredType.uppercased().hasPrefix($0) }
  }
}
