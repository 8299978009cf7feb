import ModelStore
import RecordFormats

/// A model that `import --new-model` makes: a STRICT table, adopted with the types that its values
/// have. Texts such as dates stay in it as they were written.
struct NewModel {
  let name: String
  /// The names of the key's fields.
  let key: [String]
  /// Whether SQLite chooses the key.
  private let isKeyGenerated: Bool
  private let fields: [FieldInference]
  private let recordCount: Int
  private let isSample: Bool

  /// The key of a model whose input has none.
  static let generatedKey = "id"

  /// - Throws: ``CommandError`` for names that cannot be those of fields, and for a key that a
  ///   record lacks.
  init(named name: String, key: [String]?, from inference: ModelInference) throws {
    self.name = name
    fields = inference.fields
    recordCount = inference.recordCount
    isSample = inference.sampleCount.map { inference.recordCount >= $0 } ?? false
    isKeyGenerated = key == nil
    self.key = key ?? [Self.generatedKey]
    try checkNames()
    for name in key ?? [] {
      guard let field = fields.first(where: { $0.name == name }) else {
        throw CommandError.usage(
          "The input has no field \(name)"
            + CommandError.meant(NearMiss.suggestions(for: name, among: fields.map(\.name))),
          field: name)
      }
      guard field.nullCount == 0 else {
        throw CommandError.usage(
          "\(name) cannot be the key: \(Grouped.text(field.nullCount, "record")) "
            + "of the input \(field.nullCount == 1 ? "has" : "have") no value for it.", field: name)
      }
    }
  }

  private func checkNames() throws {
    guard !fields.isEmpty else {
      throw CommandError.usage("The input has no fields, so no model can be made of it.")
    }
    var seen: Set<String> = []
    for field in fields {
      guard !field.name.isEmpty else {
        throw CommandError.usage(
          "A field of the input has an empty name.", hint: "add --map =NAME")
      }
      guard seen.insert(field.name.asciiFolded).inserted else {
        throw CommandError.usage(
          "Two fields of the input are called \(field.name), apart from upper and lower case.",
          hint: "add --map \(Shell.quoted(field.name))=NAME", field: field.name)
      }
    }
    guard !isKeyGenerated || !seen.contains(Self.generatedKey) else {
      throw CommandError.usage(
        "The input has a field \(Self.generatedKey), so the key that is generated without --key "
          + "cannot be called that.",
        hint: "add --key \(Self.generatedKey), or --map \(Self.generatedKey)=NAME",
        field: Self.generatedKey)
    }
  }

  /// - Throws: ``CommandError`` if the database has a table or model of that name.
  static func checkFree(_ name: String, in opened: OpenedStore) throws {
    let folded = name.asciiFolded
    guard !name.isEmpty, !folded.hasPrefix("sqlite_"), !folded.hasPrefix("_ms_") else {
      throw CommandError.usage("A model cannot be called “\(name)”.", model: name)
    }
    let models = opened.store.schema.models
    if models.contains(where: { $0.name == name || $0.table.asciiFolded == folded }) {
      throw CommandError.usage(
        "There is a model \(name) already; import into it with --model \(Shell.quoted(name)).",
        model: name)
    }
    if try opened.store.adoptableTables().contains(where: { $0.name.asciiFolded == folded }) {
      throw CommandError.usage(
        "There is a table \(name) already, which is not a model.",
        hint: "storecli adopt \(Shell.quoted(name))", model: name)
    }
  }

  /// Writes the fields as rows, and says what was read.
  func report(to context: CommandContext) throws {
    var writer = try context.reportWriter(columns: [
      OutputColumn("field", role: .key), OutputColumn("type"), OutputColumn("key", meaning: .truth),
      OutputColumn("values"), OutputColumn("nulls"), OutputColumn("example"),
    ])
    if isKeyGenerated {
      try writer.write([
        .text(Self.generatedKey), .text("integer"), .integer(1), .integer(0), .integer(0), .null,
      ])
    }
    for field in fields {
      let verdict = field.verdict
      try writer.write([
        .text(field.name), .text(TypeWords.text(verdict.type, verdict.form)),
        .integer(key.contains(field.name) ? 1 : 0), .integer(Int64(field.valueCount)),
        .integer(Int64(field.nullCount)), field.example ?? .null,
      ])
    }
    try context.finish(writer)
    let count = Grouped.text(recordCount, "record")
    try context.console.say(
      "\(name): \(Grouped.text(fields.count + (isKeyGenerated ? 1 : 0), "field")), from "
        + (isSample ? "the first \(count); later values may not fit" : count)
        + (isKeyGenerated ? "; the key \(Self.generatedKey) is generated" : ""))
  }

  /// Creates the table and makes it a model.
  ///
  /// - Returns: The model.
  func create(in store: Store) throws -> ModelSchema {
    try store.write { transaction in
      try transaction.execute(SQLText(sql: definition))
    }
    do {
      guard let schema = try store.adopt([name], types: types).first else {
        throw CommandError(.failed, code: "failed", "The table \(name) was not adopted.")
      }
      return schema
    } catch {
      try drop(from: store)
      throw error
    }
  }

  /// Removes the model and its table, which no other program can have used yet.
  func remove(from store: Store) throws {
    _ = try store.leave([name], losing: .accept)
    try drop(from: store)
  }

  private func drop(from store: Store) throws {
    try store.write { transaction in
      try transaction.execute(SQLText(sql: "DROP TABLE \(SQLText.quoted(name))"))
    }
  }

  /// The statement that creates the table.
  private var definition: String {
    var columns = fields.map { field in
      let verdict = field.verdict
      return FieldSchema(
        name: field.name, type: verdict.type, form: verdict.form,
        isOptional: !key.contains(field.name),
        isRowID: key == [field.name] && verdict.type == .integer)
    }
    if isKeyGenerated {
      columns.insert(FieldSchema(name: Self.generatedKey, type: .integer, isRowID: true), at: 0)
    }
    let table = ModelSchema(name: name, fields: columns, key: key)
    return SchemaSQL(table).objects.first?.sql ?? ""
  }

  /// The types that the columns' declarations do not say.
  private var types: [TypeChoice] {
    fields.compactMap { field in
      let verdict = field.verdict
      return switch verdict.type {
      case .boolean, .date, .decimal, .json:
        TypeChoice(model: name, field: field.name, type: verdict.type, form: verdict.form)
      default: nil
      }
    }
  }
}
