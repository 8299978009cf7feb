import ModelStore
import RecordFormats

/// Everything that the file says about one model, for a person or a program.
struct ModelSheet {
  private let schema: ModelSchema
  /// Nil if it is not shown, or takes too long to count.
  private let recordCount: Int?
  private let bindings: [BindingSchema]
  /// The rules beside the table's definition.
  private let rules: [Rule]
  private let validators: [String]

  init(schema: ModelSchema, store: Store, isCounted: Bool) throws {
    self.schema = schema
    recordCount =
      isCounted
      ? try store.read { reads in
        try reads.count(StoreQuery<DynamicRecord>(schema), maxStepCount: ModelsCommand.countStepMax)
      } : nil
    bindings = try store.bindings().filter { $0.target.model == schema.name }
    rules = try store.rules().filter { $0.model == schema.name }
    validators = try store.declaredValidators().filter { $0.models.contains(schema.name) }.map(
      \.name)
  }

  /// One row for each field, then messages about the model; JSON has all in one object.
  func write(to context: CommandContext) throws {
    guard context.format != .json, context.format != .ndjson else {
      try context.console.writeLine(try JSONText.text(json))
      return
    }
    let columns = [
      OutputColumn("field", role: .key), OutputColumn("type"), OutputColumn("key"),
      OutputColumn("null"), OutputColumn("default"), OutputColumn("follows"),
      OutputColumn("rules"),
    ]
    let rows = schema.fields.map(row)
    // A person sees no empty columns, so that there is room for the others.
    let shown = columns.indices.filter { index in
      !context.isForScreen || rows.contains { $0[index] != .text("") }
    }
    var writer = try context.reportWriter(columns: shown.map { columns[$0] })
    for row in rows { try writer.write(shown.map { row[$0] }) }
    try context.finish(writer)
    let count = recordCount.map { Grouped.text($0, "record") } ?? "? records"
    try context.console.say("\(schema.name)   \(count)")
    if schema.isWithoutRowID { try context.console.say("without rowid") }
    try context.console.say(remarks)
  }

  private func row(of field: FieldSchema) -> [CellValue] {
    func text(_ text: String?) -> CellValue { text.map { .text($0) } ?? .text("") }
    let place = schema.key.firstIndex(of: field.name)
    let key =
      place.map { schema.key.count == 1 ? "key" : "key \($0 + 1)" }
      ?? (field.isUnique ? "unique" : "")
    let followed = field.reference.map { reference in
      reference.table + (reference.column.map { ".\($0)" } ?? "")
        + (reference.onDelete == .noAction
          ? "" : ", delete \(reference.onDelete.rawValue.lowercased())")
    }
    let declared = field.declaredType ?? ""
    let type =
      TypeWords.text(field.type, field.form)
      + (field.generated == nil ? "" : ", computed")
      + (declared.isEmpty || declared.lowercased() == field.type.rawValue ? "" : " (\(declared))")
    return [
      .text(field.name), .text(type), .text(key), .text(field.isOptional ? "yes" : "no"),
      text(field.defaultSQL), text(followed ?? bindingSource(of: field)),
      .text(messages(of: field).joined(separator: "; ")),
    ]
  }

  private func messages(of field: FieldSchema) -> [String] {
    field.rules.map(\.message) + rules.filter { $0.fields == [field.name] }.map(\.message)
  }

  private func bindingSource(of field: FieldSchema) -> String? {
    bindings.first { $0.target.field == field.name }.map { binding in
      switch binding.formula {
      case .copy(let source, _): return "\(source) (binding)"
      case .derive(let sql): return "\(sql) (binding)"
      case .lookup, .aggregate, .twoWay:
        let start = "\(binding.target) = "
        let formula = "\(binding)"
        return (formula.hasPrefix(start) ? String(formula.dropFirst(start.count)) : formula)
          + " (binding)"
      }
    }
  }

  private var remarks: [Console.Remark] {
    var lines: [Console.Remark] = []
    if schema.table != schema.name { lines.append(("table", schema.table)) }
    lines += schema.uniques.map { ("unique together", $0.joined(separator: ", ")) }
    lines += schema.indexes.map {
      ("\($0.isUnique ? "unique index" : "index") \($0.name)", $0.fields.joined(separator: ", "))
    }
    lines += schema.rules.map { ("rule \($0.name)", $0.message) }
    lines += rules.map { rule in
      let fields = rule.fields.isEmpty ? "" : " (\(rule.fields.joined(separator: ", ")))"
      let word = rule.severity == .warning ? "warning" : "rule"
      return ("added \(word) \(rule.name)\(fields)", rule.message)
    }
    lines += bindings.map { ("binding \($0.name)", "\($0)") }
    lines += validators.map { ("validator in Swift", $0) }
    lines += schema.lists.map { ("list \($0.name)", "elements of \($0.elementTable)") }
    return lines
  }

  private var json: JSONValue {
    .object([
      .init("model", .string(schema.name)), .init("table", .string(schema.table)),
      .init("kind", .string(schema.kind.rawValue)), .init("adopted", .boolean(schema.isAdopted)),
      .init("records", recordCount.map { .integer(Int64($0)) } ?? .null),
      .init("key", .strings(schema.key)),
      .init("fields", .array(schema.fields.map(json))),
      .init("uniques", .array(schema.uniques.map { .strings($0) })),
      .init(
        "indexes",
        .array(
          schema.indexes.map {
            .object([
              .init("name", .string($0.name)), .init("fields", .strings($0.fields)),
              .init("unique", .boolean($0.isUnique)),
            ])
          })),
      .init("rules", .array(schema.rules.map(json))),
      .init("addedRules", .array(rules.map(json))),
      .init(
        "bindings",
        .array(
          bindings.map {
            .object([
              .init("name", .string($0.name)), .init("field", .string($0.target.field)),
              .init("formula", .string($0.description)),
            ])
          })),
      .init("codeValidators", .strings(validators)),
      .init("lists", .strings(schema.lists.map(\.name))),
    ])
  }

  private func json(_ field: FieldSchema) -> JSONValue {
    .object([
      .init("name", .string(field.name)), .init("column", .string(field.column)),
      .init("type", .string(field.type.rawValue)),
      .init("form", field.form.map { .string($0.rawValue) } ?? .null),
      .init("declaredType", field.declaredType.map { .string($0) } ?? .null),
      .init("optional", .boolean(field.isOptional)), .init("unique", .boolean(field.isUnique)),
      .init("generated", field.generated.map { .string($0.rawValue) } ?? .null),
      .init("default", field.defaultSQL.map { .string($0) } ?? .null),
      .init("references", field.reference.map { .string($0.table) } ?? .null),
      .init("rules", .array(field.rules.map(json))),
    ])
  }

  private func json(_ rule: Rule) -> JSONValue {
    .object([
      .init("name", .string(rule.name)), .init("fields", .strings(rule.fields)),
      .init("kind", .string(rule.kind.rawValue)), .init("message", .string(rule.message)),
      .init("severity", .string(rule.severity.rawValue)),
    ])
  }

  private func json(_ rule: RuleSchema) -> JSONValue {
    .object([
      .init("name", .string(rule.name)), .init("message", .string(rule.message)),
      .init("condition", .string(rule.condition)),
    ])
  }
}

extension JSONValue {
  /// An array of strings.
  fileprivate static func strings(_ texts: [String]) -> JSONValue {
    .array(texts.map { .string($0) })
  }
}
