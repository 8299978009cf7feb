extension Condition {
  /// Returns the condition as an SQL expression: columns quoted and unqualified, values as
  /// arguments.
  ///
  /// - Throws: ``StoreError`` with code `invalidValue` for a condition with an
  ///   ``invalid(field:reason:)`` part.
  /// - Precondition: Every field position is one of `schema`'s.
  package func sqlText(schema: ModelSchema) throws(StoreError) -> SQLText {
    var text = SQLText(sql: "")
    try write(to: &text, schema: schema)
    return text
  }

  private func write(to text: inout SQLText, schema: ModelSchema) throws(StoreError) {
    switch self {
    case .constant(let value):
      text.append(sql: value.map { $0 ? "TRUE" : "FALSE" } ?? "NULL")
    case .comparison(let left, let comparison, let right):
      left.write(to: &text, schema: schema)
      text.append(sql: " \(comparison.rawValue) ")
      right.write(to: &text, schema: schema)
    case .isNull(let operand):
      operand.write(to: &text, schema: schema)
      text.append(sql: " IS NULL")
    case .isNotNull(let operand):
      operand.write(to: &text, schema: schema)
      text.append(sql: " IS NOT NULL")
    case .isIn(let operand, let values):
      operand.write(to: &text, schema: schema)
      let places = values.map { _ in "?" }.joined(separator: ", ")
      text.append(SQLText(sql: " IN (\(places))", arguments: values))
    case .between(let operand, let lower, let upper):
      operand.write(to: &text, schema: schema)
      text.append(sql: " BETWEEN ")
      lower.write(to: &text, schema: schema)
      text.append(sql: " AND ")
      upper.write(to: &text, schema: schema)
    case .like(let operand, let pattern):
      operand.write(to: &text, schema: schema)
      text.append(SQLText(sql: " LIKE ?", arguments: [.text(pattern)]))
    case .glob(let operand, let pattern):
      operand.write(to: &text, schema: schema)
      text.append(SQLText(sql: " GLOB ?", arguments: [.text(pattern)]))
    case .text(let operand, let place, let wanted):
      place.write(wanted, in: operand, to: &text, schema: schema)
    case .and(let parts):
      try Self.write(parts[...], joinedBy: " AND ", ifEmpty: "TRUE", to: &text, schema: schema)
    case .or(let parts):
      try Self.write(parts[...], joinedBy: " OR ", ifEmpty: "FALSE", to: &text, schema: schema)
    case .not(let part):
      text.append(sql: "NOT (")
      try part.write(to: &text, schema: schema)
      text.append(sql: ")")
    case .sql(let fragment):
      text.append(sql: "(")
      text.append(fragment)
      // Without the line break, a comment at the fragment's end would contain the parenthesis.
      text.append(sql: fragment.sql.contains("--") ? "\n)" : ")")
    case .invalid(let field, let reason):
      throw StoreError(
        .invalidValue, "\(schema.name).\(schema.fields[field].name): \(reason).",
        model: schema.name, field: schema.fields[field].name)
    }
  }

  // SQLite refuses expressions deeper than 1000, and `a AND b AND c` is as deep as it is long:
  // https://sqlite.org/limits.html#max_expr_depth. Groups keep long conditions shallow.
  static let chainLengthMax = 100

  private static func write(
    _ parts: ArraySlice<Condition>, joinedBy separator: String, ifEmpty: String,
    to text: inout SQLText, schema: ModelSchema
  ) throws(StoreError) {
    if parts.isEmpty {
      text.append(sql: ifEmpty)
      return
    }
    if parts.count > chainLengthMax {
      let middle = parts.startIndex + parts.count / 2
      for (half, start) in [(parts[..<middle], "("), (parts[middle...], ")\(separator)(")] {
        text.append(sql: start)
        try write(half, joinedBy: separator, ifEmpty: ifEmpty, to: &text, schema: schema)
      }
      text.append(sql: ")")
      return
    }
    for (index, part) in parts.enumerated() {
      if index > 0 { text.append(sql: separator) }
      if part.isCompound {
        text.append(sql: "(")
        try part.write(to: &text, schema: schema)
        text.append(sql: ")")
      } else {
        try part.write(to: &text, schema: schema)
      }
    }
  }

  var isCompound: Bool {
    switch self {
    case .and, .or: true
    default: false
    }
  }
}

extension Condition.Operand {
  func write(to text: inout SQLText, schema: ModelSchema) {
    switch self {
    case .field(let index): text.append(sql: SQLText.quoted(schema.fields[index].column))
    case .value(let value): text.append(SQLText(sql: "?", arguments: [value]))
    }
  }
}
