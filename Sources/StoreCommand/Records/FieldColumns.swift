import ModelStore

/// The fields of a model that a result shows, as output columns, and a record's values in them.
struct FieldColumns {
  /// Positions in the model, in the order shown.
  let indices: [Int]
  let columns: [OutputColumn]
  private let fields: [FieldSchema]

  /// - Parameter names: The fields to show; nil for all.
  /// - Throws: ``CommandError`` for an unknown one, with near misses.
  init(of schema: ModelSchema, names: [String]?) throws {
    let chosen = try names?.map { name in
      _ = try schema.requiredField(named: name)
      return schema.fieldIndex(named: name) ?? 0
    }
    indices = chosen ?? Array(schema.fields.indices)
    let keys = Set(schema.key)
    fields = indices.map { schema.fields[$0] }
    columns = fields.map { field in
      OutputColumn(
        field.name, role: keys.contains(field.name) ? .key : .field,
        meaning: field.type == .boolean ? .truth : .stored)
    }
  }

  /// The values of one record, dates as ISO-8601.
  func row(of values: [SQLValue]) -> [SQLValue] {
    zip(indices, fields).map { Self.shown(values[$0], $1) }
  }

  /// Refuses a record that `format` could not carry back: a blob, or a number in a field without a
  /// type, would come back as text.
  ///
  /// - Throws: ``CommandError`` naming the record and the field.
  func checkReadable(_ record: Record, as format: OutputFormat) throws {
    guard format == .csv || format == .tsv else { return }
    for (index, field) in zip(indices, fields) {
      let value = record.values[index]
      if field.survivesText(value) { continue }
      let key = record.key.isEmpty ? "" : " \(KeyText.text(record.key))"
      throw CommandError(
        .failed, code: "output",
        "\(record.schema.name)\(key): \(format.rawValue) cannot tell the \(Self.noun(value)) in "
          + "\(field.name) from \(field.takesBytes ? "a blob" : "text").",
        hint: "add -o ndjson", model: record.schema.name, field: field.name)
    }
  }

  private static func noun(_ value: SQLValue) -> String {
    switch value {
    case .null: "null"
    case .integer, .real: "number"
    case .text: "text"
    case .blob: "blob"
    }
  }

  /// A value as it leaves the program: dates are numbers in the file and text everywhere else.
  static func shown(_ value: SQLValue, _ field: FieldSchema) -> SQLValue {
    guard field.type == .date else { return value }
    switch value {
    case .real, .integer: return .text(FieldText.text(of: value, for: field))
    case .null, .text, .blob: return value
    }
  }
}
