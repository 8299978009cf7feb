import ModelStore
import RecordFormats

/// Referenced records that a result shows beside the references: `albumID` is followed by
/// `albumID.title`, and in JSON an object takes the place of the reference.
struct Expansion {
  /// A reference, and what is shown of the record to which it leads.
  struct Reference {
    let field: FieldSchema
    /// The position of the reference in its model.
    let index: Int
    let target: ModelSchema
    /// The position of the referenced field.
    let targetIndex: Int
    /// The positions of the shown fields.
    var shown: [Int] = []
    /// Whether JSON has all fields of the record.
    var isWhole = false
    var references: [Reference] = []
  }

  /// Finds the record whose field has a value; nil without such a record.
  typealias Find = (_ model: ModelSchema, _ fieldIndex: Int, _ value: SQLValue) throws
    -> DynamicRecord?

  /// In the order in which they were named.
  private(set) var references: [Reference] = []

  /// - Parameter paths: Each is references separated by points, and may end with a field of the
  /// last   referenced record.
  /// - Throws: ``CommandError`` for a field that is not a reference, with those that are.
  init(_ paths: [String], of schema: ModelSchema, in models: [ModelSchema]) throws {
    for path in paths {
      let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard names.allSatisfy({ !$0.isEmpty }) else {
        throw CommandError.usage(
          "--expand takes fields separated by points; got \(path.isEmpty ? "nothing" : path).",
          model: schema.name)
      }
      try Self.add(names[...], to: &references, of: schema, in: models)
    }
  }

  private static func add(
    _ names: ArraySlice<String>, to references: inout [Reference], of schema: ModelSchema,
    in models: [ModelSchema]
  ) throws {
    guard let name = names.first else { return }
    let place: Int
    if let known = references.firstIndex(where: { $0.field.name == name }) {
      place = known
    } else {
      references.append(try reference(name, of: schema, in: models))
      place = references.count - 1
    }
    let rest = names.dropFirst()
    let target = references[place].target
    if rest.isEmpty {
      references[place].isWhole = true
      show(DisplayFields.indices(of: target), in: &references[place])
    } else if rest.count == 1,
      try target.requiredField(named: rest[rest.startIndex]).reference == nil
    {
      show([target.fieldIndex(named: rest[rest.startIndex]) ?? 0], in: &references[place])
    } else {
      try add(rest, to: &references[place].references, of: target, in: models)
    }
  }

  private static func show(_ indices: [Int], in reference: inout Reference) {
    reference.shown += indices.filter { !reference.shown.contains($0) }
  }

  private static func reference(
    _ name: String, of schema: ModelSchema, in models: [ModelSchema]
  ) throws -> Reference {
    let field = try schema.requiredField(named: name)
    guard let reference = field.reference else {
      let others = schema.fields.filter { $0.reference != nil }.map(\.name)
      throw CommandError.usage(
        "\(schema.name).\(name) refers to no other record, so it cannot be expanded.",
        hint: others.isEmpty
          ? "\(schema.name) has no references; storecli models \(Shell.quoted(schema.name))"
          : "--expand takes \(others.joined(separator: ", "))", model: schema.name, field: name)
    }
    guard
      let target = models.first(where: { $0.table.lowercased() == reference.table.lowercased() })
    else {
      throw CommandError.usage(
        "\(schema.name).\(name) refers to the table \(reference.table), which is not a model.",
        hint: "storecli adopt \(Shell.quoted(reference.table))", model: schema.name, field: name)
    }
    let column = reference.column?.lowercased()
    let targetIndex =
      column.map { name in target.fields.firstIndex { $0.column.lowercased() == name } }
      ?? target.keyIndices.first
    guard let targetIndex, column != nil || target.key.count == 1 else {
      throw CommandError.usage(
        "\(schema.name).\(name) refers to no single field of \(target.name).", model: schema.name,
        field: name)
    }
    return Reference(
      field: field, index: schema.fieldIndex(named: name) ?? 0, target: target,
      targetIndex: targetIndex)
  }

  /// The model to which references lead; nil if a name is not a reference to a model.
  static func target(
    of names: some Sequence<String>, from schema: ModelSchema, in models: [ModelSchema]
  ) -> ModelSchema? {
    var end: ModelSchema? = schema
    for name in names {
      let table = end?.field(named: name)?.reference?.table.lowercased()
      end = models.first { $0.table.lowercased() == table }
    }
    return end
  }

  /// The columns that follow the reference at `index`, with the fields that they show.
  static func columns(of reference: Reference) -> [OutputColumn] {
    columns(of: reference, after: reference.field.name)
  }

  private static func columns(of reference: Reference, after prefix: String) -> [OutputColumn] {
    let own = reference.shown.map { index in
      let field = reference.target.fields[index]
      return OutputColumn("\(prefix).\(field.name)", meaning: FieldColumns.meaning(of: field))
    }
    return own
      + reference.references.flatMap { columns(of: $0, after: "\(prefix).\($0.field.name)") }
  }

  /// The cells for ``columns(of:)``; null without a record.
  static func cells(
    of reference: Reference, for value: SQLValue, _ find: Find
  ) throws -> [CellValue] {
    let record = try value.isNull ? nil : find(reference.target, reference.targetIndex, value)
    let own = reference.shown.map { index in
      record.map {
        CellValue(FieldColumns.shown($0.values[index], reference.target.fields[index]))
      } ?? .null
    }
    return try own
      + reference.references.flatMap { inner in
        try cells(of: inner, for: record?.values[inner.index] ?? .null, find)
      }
  }

  /// The referenced record as an object: all its fields, or its key and the shown ones. Without a
  /// record, only the value that refers to it.
  static func json(
    of reference: Reference, for value: SQLValue, _ find: Find
  ) throws -> JSONValue {
    guard !value.isNull else { return .null }
    let target = reference.target
    guard let record = try find(target, reference.targetIndex, value) else {
      let field = target.fields[reference.targetIndex]
      return .object([.init(field.name, JSONValue(value, in: field))])
    }
    let members = try target.fields.indices.compactMap { index -> JSONValue.Member? in
      let field = target.fields[index]
      if let inner = reference.references.first(where: { $0.index == index }) {
        return .init(field.name, try json(of: inner, for: record.values[index], find))
      }
      let isShown =
        reference.isWhole || reference.shown.contains(index) || target.key.contains(field.name)
      return isShown ? .init(field.name, JSONValue(record.values[index], in: field)) : nil
    }
    return .object(members)
  }
}

/// The fields by which a person recognizes a record.
enum DisplayFields {
  /// Names that say what they are, in the order of preference.
  private static let names = ["name", "title", "label", "subject", "caption", "description"]

  /// The positions of the fields: a name or title, else a first and a last name, else the first
  /// text that is not the key, else the first field that is not the key.
  static func indices(of schema: ModelSchema) -> [Int] {
    func index(_ name: String) -> Int? {
      schema.fields.firstIndex {
        $0.name.lowercased().filter { $0 != "_" && $0 != " " } == name
      }
    }
    let model = schema.name.lowercased()
    for name in names { if let found = index(name) ?? index(model + name) { return [found] } }
    if let first = index("firstname"), let last = index("lastname") { return [first, last] }
    let others = schema.fields.indices.filter { !schema.key.contains(schema.fields[$0].name) }
    let text = others.first {
      schema.fields[$0].type == .text && schema.fields[$0].reference == nil
    }
    return (text ?? others.first).map { [$0] } ?? []
  }
}
