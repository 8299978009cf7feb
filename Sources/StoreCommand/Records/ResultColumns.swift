import ModelStore
import RecordFormats

/// The columns of records in one format: their fields, and the referenced records that `--expand`
/// adds.
struct ResultColumns {
  private let fields: FieldColumns
  private let format: OutputFormat
  private let expansion: Expansion?
  let columns: [OutputColumn]
  /// What each column or group of columns shows.
  private let parts: [Part]

  private enum Part {
    /// A cell of ``fields``.
    case field(Int)
    case reference(Expansion.Reference)
  }

  /// - Throws: ``CommandError`` for unknown fields and references.
  init(
    of schema: ModelSchema, _ options: GlobalOptions, expanding paths: [String] = [],
    as format: OutputFormat, in models: [ModelSchema]
  ) throws {
    guard format != .sql || paths.isEmpty else {
      throw CommandError.usage("-o sql writes the records of one table, so it takes no --expand.")
    }
    let names =
      format == .sql ? try Self.insertable(options.fieldNames, of: schema) : options.fieldNames
    try Self.check(names ?? [], of: schema, expanding: paths, as: format)
    let fields = try FieldColumns(of: schema, names: names)
    self.fields = fields
    self.format = format
    guard !paths.isEmpty else {
      expansion = nil
      parts = fields.indices.indices.map { .field($0) }
      columns =
        format == .sql
        ? fields.indices.map { OutputColumn(schema.fields[$0].column) } : fields.columns
      return
    }
    let expansion = try Expansion(paths, of: schema, in: models)
    let isObject = Self.hasObjects(format)
    var parts: [Part] = []
    var columns: [OutputColumn] = []
    func add(_ reference: Expansion.Reference) {
      parts.append(.reference(reference))
      columns +=
        isObject
        ? [OutputColumn(reference.field.name, meaning: .json)]
        : Expansion.columns(of: reference)
    }
    for (place, index) in fields.indices.enumerated() {
      let reference = expansion.references.first { $0.index == index }
      if reference == nil || !isObject {
        parts.append(.field(place))
        columns.append(fields.columns[place])
      }
      if let reference { add(reference) }
    }
    for reference in expansion.references where !fields.indices.contains(reference.index) {
      add(reference)
    }
    self.expansion = expansion
    self.parts = parts
    self.columns = columns
  }

  private static func check(
    _ names: [String], of schema: ModelSchema, expanding paths: [String], as format: OutputFormat
  ) throws {
    let other = names.first { schema.field(named: $0) == nil && $0.contains(".") }
    if let other, !paths.isEmpty {
      throw CommandError.usage(
        "--fields takes fields of \(schema.name), and \(other) is one of another record. "
          + "--expand adds all of these.", model: schema.name, field: other)
    }
    let repeated = names.indices.first { names[..<$0].contains(names[$0]) }
    guard let repeated, hasObjects(format) else { return }
    throw CommandError.usage(
      "--fields names \(names[repeated]) twice, and \(format.rawValue) needs distinct names.",
      model: schema.name, field: names[repeated])
  }

  /// Whether an object can take the place of a reference.
  static func hasObjects(_ format: OutputFormat) -> Bool {
    [.json, .ndjson, .yaml].contains(format)
  }

  /// The fields that an INSERT can set.
  private static func insertable(_ names: [String]?, of schema: ModelSchema) throws -> [String] {
    guard let names else { return schema.fields.filter { $0.generated == nil }.map(\.name) }
    for name in names where try schema.requiredField(named: name).generated != nil {
      throw CommandError.usage(
        "\(schema.name).\(name) is computed by the database, so an INSERT cannot set it.",
        model: schema.name, field: name)
    }
    return names
  }

  /// The columns of an export, from which an import restores the values.
  var exportColumns: [OutputColumn] {
    format == .sql ? columns : fields.exportColumns(as: format)
  }

  /// The cells of one record for ``exportColumns``.
  ///
  /// - Throws: ``CommandError`` for a value that an import would change; ``OutputError``.
  func exportRow(of record: DynamicRecord) throws -> [CellValue] {
    guard format != .sql else { return fields.indices.map { CellValue(record.values[$0]) } }
    try fields.checkReadable(record, as: format)
    return try fields.exportRow(of: record.values, as: format)
  }

  /// The cells of one record.
  ///
  /// - Parameter find: Finds the referenced records.
  func row(of values: [SQLValue], _ find: Expansion.Find) throws -> [CellValue] {
    if format == .sql { return fields.indices.map { CellValue(values[$0]) } }
    let cells = fields.row(of: values)
    guard expansion != nil else { return cells }
    var row: [CellValue] = []
    for part in parts {
      switch part {
      case .field(let place): row.append(cells[place])
      case .reference(let reference):
        let value = values[reference.index]
        if Self.hasObjects(format) {
          row.append(.text(try JSONText.text(try Expansion.json(of: reference, for: value, find))))
        } else {
          row += try Expansion.cells(of: reference, for: value, find)
        }
      }
    }
    return row
  }
}
