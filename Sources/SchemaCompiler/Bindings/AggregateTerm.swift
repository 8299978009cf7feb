/// The expression that an aggregate computes for each source record.
package struct AggregateTerm: Hashable, Sendable {
  let expression: SQLExpression
  /// The source's fields that it reads.
  let fields: [FieldSchema]
  /// The digits after the point of each decimal; nil if the result is a whole number.
  let decimals: Int?
  private let arithmetic: Arithmetic?
  private let source: ModelSchema

  init(_ expression: SQLExpression, decimals: Int?, of source: ModelSchema) {
    self.expression = expression
    self.decimals = decimals
    self.source = source
    fields = source.fields(in: expression)
    arithmetic = Arithmetic(expression, columnsOf: source)
  }

  /// How many digits after the point the computed whole numbers have; 0 without decimals.
  var scale: Int { decimals.flatMap { arithmetic?.scale(decimals: $0) } ?? 0 }

  /// Returns the value for a stored row, or for OLD or NEW if it does not compare values there.
  func value(of row: String) -> String {
    arithmetic.map { exact($0, row) }
      ?? "(\(expression.spelling(columnsOf: source) { RowColumn(row, $0).sql }))"
  }

  /// Returns the value for OLD or NEW of a STRICT table. They have no affinity, so their columns
  /// are cast to the type that the table's columns have.
  func valueOfChangedRow(_ row: String) -> String {
    guard arithmetic == nil, expression.comparesValues, !source.isAdopted else {
      return value(of: row)
    }
    return "(\(expression.spelling(columnsOf: source) { $0.cast(RowColumn(row, $0).sql) }))"
  }

  private func exact(_ arithmetic: Arithmetic, _ row: String) -> String {
    arithmetic.sql(decimals: decimals ?? 0, isLoose: source.isAdopted) { RowColumn(row, $0).sql }
  }

  /// Returns a condition that is true if the value is not NULL. `value` computes it.
  func hasValue(_ row: String, _ value: String) -> String {
    guard arithmetic != nil else { return "(\(value) IS NOT NULL)" }
    // A sum or product is NULL if one of its columns is.
    let present = fields.filter { $0.isOptional || source.isAdopted }
      .map { "\(RowColumn(row, $0)) IS NOT NULL" }
    return present.isEmpty ? "1" : "(\(present.joined(separator: " AND ")))"
  }

  /// Whether its value for OLD and NEW depends on the affinity of columns.
  var needsColumns: Bool { arithmetic == nil && expression.comparesValues }

  /// The reason why no sum of its values is exact; nil if there is none. It ends with the remedy.
  var inexactness: String? {
    guard let arithmetic else { return inexactnessOfCalls }
    if let field = arithmetic.fields.first(where: { $0.type == .decimal }), decimals == nil {
      return
        "\(source.name).\(field.name) is a decimal, which is stored as text. Say with how many "
        + "digits after the point it is computed: the scale."
    }
    let isNumber = { (field: FieldSchema) in field.type == .decimal || field.affinity == .integer }
    if let field = arithmetic.fields.first(where: { !isNumber($0) }) {
      guard field.affinity == .real || field.affinity == .numeric else {
        return "\(source.name).\(field.name) (\(field.declaration)) is not a whole number."
      }
      return Self.rounding(named: "\(source.name).\(field.name)")
    }
    if arithmetic.hasFraction, decimals == nil {
      return "a number with a point makes each value a real number, whose sum accumulates rounding "
        + "errors. Pass a scale, and bind a decimal."
    }
    guard scale <= DecimalSQL.maxDigitCount else {
      return "its values have \(scale) digits after the point, and 64 bits hold "
        + "\(DecimalSQL.maxDigitCount). Pass a smaller scale."
    }
    return nil
  }

  private var inexactnessOfCalls: String? {
    if decimals != nil || fields.contains(where: { $0.type == .decimal }) {
      return
        "only sums, differences and products of fields and numbers can be computed exactly for "
        + "decimals. Derive other values into a field first."
    }
    let isCast = expression.comparesValues || expression.calledNames.contains("cast")
    let real = fields.first { $0.affinity == .real || $0.affinity == .numeric }
    return isCast ? nil : real.map { Self.rounding(named: "\(source.name).\($0.name)") }
  }

  private static func rounding(named name: String) -> String {
    "a running sum of real numbers accumulates rounding errors. Store \(name) as a whole number of "
      + "the smallest unit, or convert it in the expression: CAST(round(price * 100) AS INTEGER)."
  }
}

extension FieldSchema {
  /// Returns `cell`, a column of OLD or NEW in a STRICT table, with the affinity of the column. A
  /// cast has the affinity of its type: <https://sqlite.org/datatype3.html>.
  func cast(_ cell: String) -> String {
    let type = affinity.columnType
    return type.isEmpty ? cell : "CAST(\(cell) AS \(type))"
  }
}

extension SQLExpression {
  /// Whether it compares values, by operators that convert them to the affinity of a column:
  /// <https://sqlite.org/datatype3.html#type_conversions_prior_to_comparison>.
  var comparesValues: Bool {
    let words: Set = ["in", "between", "case", "is"]
    return tokens.contains { token in
      switch token {
      case .symbol(let symbol): ["=", "<", ">", "!"].contains(symbol)
      case .name(let name): words.contains(name)
      case .string, .constant: false
      }
    }
  }
}
