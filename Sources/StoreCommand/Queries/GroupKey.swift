import ModelStore
import RecordFormats

/// What the records of a group have in common: the value of a field, or the period of a date.
struct GroupKey: Hashable, Sendable {
  let field: FieldSchema
  let period: DatePeriod?

  /// Reads `field` or `field:period`.
  ///
  /// - Throws: ``CommandError`` for an unknown field or period, and for a field that has no
  /// periods.
  init(_ text: String, in schema: ModelSchema) throws {
    // A name may contain a colon.
    if let field = schema.field(named: text) {
      self.field = field
      period = nil
      return
    }
    guard let colon = text.lastIndex(of: ":") else {
      field = try schema.requiredField(named: text)
      period = nil
      return
    }
    field = try schema.requiredField(named: String(text[..<colon]))
    let word = String(text[text.index(after: colon)...])
    let names = DatePeriod.allCases.map(\.rawValue)
    guard let period = DatePeriod(rawValue: word) else {
      throw CommandError.usage(
        "There is no period \(word)"
          + CommandError.meant(NearMiss.suggestions(for: word, among: names)),
        hint: "the periods are \(names.joined(separator: ", "))", model: schema.name,
        field: field.name)
    }
    guard period.expression(for: field) != nil else {
      let type = TypeWords.text(field.type, field.form)
      throw CommandError.usage(
        field.type == .date
          ? "\(schema.name).\(field.name) holds days (\(type)), which have no hours."
          : "\(schema.name).\(field.name) is of type \(type); only dates have a \(word).",
        hint: "--by \(Shell.quoted(field.name)) groups by its values", model: schema.name,
        field: field.name)
    }
    self.period = period
  }

  /// Its expression. Values are equal byte by byte, so that no group has two spellings.
  var sql: String {
    if let sql = period?.expression(for: field) { return sql }
    let column = SQLText.quoted(field.column)
    return field.collation == .binary ? column : "\(column) COLLATE BINARY"
  }

  var column: OutputColumn {
    OutputColumn(
      period.map { "\(field.name)_\($0.rawValue)" } ?? field.name, role: .key,
      meaning: period == nil ? FieldColumns.meaning(of: field) : .stored)
  }

  func cell(of value: SQLValue) -> CellValue {
    CellValue(period == nil ? FieldColumns.shown(value, field) : value)
  }
}
