import ModelStore
import RecordFormats

/// The fields of a model that a result shows, as output columns, and a record's values in them.
struct FieldColumns {
  /// Positions in the model, in the order shown.
  let indices: [Int]
  let columns: [OutputColumn]
  private let fields: [ExchangedField]

  /// - Parameter names: The fields to show; nil for all.
  /// - Throws: ``CommandError`` for an unknown one, with near misses.
  init(of schema: ModelSchema, names: [String]?) throws {
    let chosen = try names?.map { name in
      _ = try schema.requiredField(named: name)
      return schema.fieldIndex(named: name) ?? 0
    }
    indices = chosen ?? Array(schema.fields.indices)
    let keys = Set(schema.key)
    fields = indices.map { ExchangedField(schema.fields[$0], of: schema) }
    columns = fields.map(\.field).map { field in
      OutputColumn(
        field.name, role: keys.contains(field.name) ? .key : .field,
        meaning: Self.meaning(of: field))
    }
  }

  /// How to display the values of a field.
  static func meaning(of field: FieldSchema) -> OutputColumn.Meaning {
    field.type == .boolean ? .truth : .stored
  }

  /// The cells of one record, dates as ISO-8601.
  func row(of values: [SQLValue]) -> [CellValue] {
    zip(indices, fields).map { CellValue(Self.shown(values[$0], $1.field)) }
  }

  /// The columns of an export. In JSON those of another program's design mark values that their
  /// fields' types or declared types do not have.
  func exportColumns(as format: OutputFormat) -> [OutputColumn] {
    zip(columns, fields).map { column, field in
      var column = column
      if Self.isMarked(field, in: format) { column.meaning = .json }
      return column
    }
  }

  /// The cells of one record for ``exportColumns(as:)``.
  ///
  /// - Throws: ``OutputError/notANumber`` for a value that JSON cannot express.
  func exportRow(
    of values: [SQLValue], as format: OutputFormat
  ) throws(OutputError) -> [CellValue] {
    var row: [CellValue] = []
    row.reserveCapacity(indices.count)
    for (index, field) in zip(indices, fields) {
      let value = values[index]
      row.append(
        Self.isMarked(field, in: format)
          ? .text(try JSONText.text(JSONValue(exporting: value, of: field)))
          : CellValue(Self.exchanged(value, field.field)))
    }
    return row
  }

  /// A value as an export writes it. Dates that another program keeps as numbers stay numbers: a
  /// table that was adopted while it was empty does not know their unit.
  static func exchanged(_ value: SQLValue, _ field: FieldSchema) -> SQLValue {
    field.form?.isText == false ? value : shown(value, field)
  }

  private static func isMarked(_ field: ExchangedField, in format: OutputFormat) -> Bool {
    (format == .json || format == .ndjson) && field.hasMarks
  }

  /// Refuses a record that an import in `format` would change: a blob, or a number in a field
  /// without a type, would be read as text.
  ///
  /// - Throws: ``CommandError`` naming the record and the field.
  func checkReadable(_ record: DynamicRecord, as format: OutputFormat) throws {
    guard format == .csv || format == .tsv else { return }
    for (index, field) in zip(indices, fields) {
      let value = record.values[index]
      if field.survivesText(value) { continue }
      let key = record.key.isEmpty ? "" : " \(KeyText.text(record.key))"
      throw CommandError(
        .failed, code: "output",
        "\(record.schema.name)\(key): \(format.rawValue) \(field.textProblem(value)).",
        hint: "add -o ndjson", model: record.schema.name, field: field.field.name)
    }
  }

  /// A value as it leaves the program: dates are numbers in the file and text everywhere else.
  static func shown(_ value: SQLValue, _ field: FieldSchema) -> SQLValue {
    guard field.type == .date else { return value }
    switch value {
    case .real, .integer:
      // A number that is not a date in the column's form stays a number.
      guard field.form == nil || FieldText.fits(value, field) else { return value }
      return .text(FieldText.text(of: value, for: field))
    case .null, .text, .blob: return value
    }
  }
}
