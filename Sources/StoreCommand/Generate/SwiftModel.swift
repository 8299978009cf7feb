import ModelStore

/// A declared model as a struct.
struct SwiftModel {
  private let model: ModelSchema
  private let names: SwiftNames
  private let form: SwiftSource.Form
  private let access: SwiftSource.Access
  /// All models of the file, among which the elements of lists are found.
  private let models: [ModelSchema]

  init(
    _ model: ModelSchema, _ names: SwiftNames, _ form: SwiftSource.Form,
    _ access: SwiftSource.Access, _ models: [ModelSchema]
  ) {
    self.model = model
    self.names = names
    self.form = form
    self.access = access
    self.models = models
  }

  private var prefix: String { access.prefix }
  private var type: String { names.type(of: model) }

  var text: String {
    let conformance = form == .codable ? "CodableModel" : "Model"
    var parts = [properties]
    if let keyProperty { parts.append(keyProperty) }
    if let keyType { parts.append(keyType) }
    parts.append(definition)
    if form == .codable, let codingKeys { parts.append(codingKeys) }
    if access == .public { parts.append(initializer) }
    let body = SwiftText.indented(parts.joined(separator: "\n\n"))
    let structure = "\(prefix)struct \(type): \(conformance), Hashable {\n\(body)\n}"
    return form == .codable ? structure : structure + "\n\n" + coding
  }

  private func property(_ field: String) -> String { names.property(field, of: model) }

  /// The property in a function with a parameter that may have the same name.
  private func member(_ field: String, besides parameter: String) -> String {
    let name = property(field)
    return name == parameter ? "self.\(name)" : name
  }

  private func label(_ field: String) -> String { SwiftText.label(names.bare(field, of: model)) }

  // Properties

  private var properties: String {
    let fields = model.fields.map { field in
      let value = standard(of: field).map { " = \($0)" } ?? ""
      return "\(prefix)var \(property(field.name)): \(SwiftType.declared(field, in: model))\(value)"
    }
    let lists = model.lists.map { list in
      "\(prefix)var \(property(list.name)) = OrderedList<\(element(of: list))>()"
    }
    return (fields + lists).joined(separator: "\n")
  }

  private func element(of list: ListSchema) -> String {
    models.first { $0.table.lowercased() == list.elementTable.lowercased() }.map(names.type)
      ?? list.elementTable
  }

  /// The default of the property that is the default of the column; nil if it is another
  /// expression.
  private func standard(of field: FieldSchema) -> String? {
    guard let sql = field.defaultSQL, !field.isOptional else { return nil }
    let cut = SQLTokens(sql)
    switch field.type {
    case .integer: return Int64(sql).map(String.init)
    case .boolean: return sql == "1" ? "true" : sql == "0" ? "false" : nil
    case .text where cut.tokens.count == 1 && cut.tokens[0].kind == .string:
      return SwiftText.literal(cut.name(cut.tokens[0]))
    default: return nil
    }
  }

  private var initializer: String {
    let parameters = model.fields.map { field in
      let value = standard(of: field) ?? (field.isOptional ? defaultOfOptional(field) : nil)
      return "\(label(field.name)): \(SwiftType.declared(field, in: model))"
        + (value.map { " = \($0)" } ?? "")
    }
    let assignments = model.fields.map { field in
      "self.\(property(field.name)) = \(property(field.name))"
    }
    return SwiftText.call("\(prefix)init", parameters, width: 84)
      + " {\n\(SwiftText.indented(assignments.joined(separator: "\n")))\n}"
  }

  private func defaultOfOptional(_ field: FieldSchema) -> String {
    SwiftType.declared(field, in: model) == "SQLValue" ? ".null" : "nil"
  }

  // The key

  /// The types that are keys by themselves.
  private static let keyTypes: Set<String> = ["Int64", "String", "UUID", "SQLValue"]

  private var hasKeyType: Bool {
    model.keyFields.count != 1
      || !Self.keyTypes.contains(SwiftType.of(model.keyFields[0], in: model))
  }

  private var keyProperty: String? {
    guard hasKeyType else {
      let name = property(model.keyFields[0].name)
      let declared = SwiftType.declared(model.keyFields[0], in: model)
      return name == "key" ? nil : "\(prefix)var key: \(declared) { \(name) }"
    }
    let arguments = model.keyFields.map { "\(label($0.name)): \(property($0.name))" }
    return "\(prefix)var key: Key { Key(\(arguments.joined(separator: ", "))) }"
  }

  private var keyType: String? {
    guard hasKeyType else { return nil }
    let fields = model.keyFields
    let count = fields.count == 1 ? "1 value" : "\(fields.count) values"
    func lines(_ line: (String, String, Int) -> String) -> String {
      fields.enumerated()
        .map { line(property($1.name), SwiftType.declared($1, in: model), $0) }
        .joined(separator: "\n")
    }
    let parameters = fields.map { "\(label($0.name)): \(SwiftType.declared($0, in: model))" }
    let values = fields.map { "try \(property($0.name)).sqlValue()" }.joined(separator: ", ")
    return """
      \(prefix)struct Key: ModelKey {
      \(SwiftText.indented(lines { name, type, _ in "\(prefix)var \(name): \(type)" }))

        \(prefix)init(\(parameters.joined(separator: ", "))) {
      \(SwiftText.indented(lines { name, _, _ in "self.\(name) = \(name)" }, by: 2))
        }

        \(prefix)init(sqlValues: [SQLValue]) throws(ColumnError) {
          guard sqlValues.count == \(fields.count) else {
            throw ColumnError("the key has \(count), not \\(sqlValues.count)")
          }
      \(SwiftText.indented(lines { "\($0) = try \($1)(sqlValue: sqlValues[\($2)])" }, by: 2))
        }

        \(prefix)func sqlValues() throws(ColumnError) -> [SQLValue] {
          [\(values)]
        }
      }
      """
  }

  // The definition

  private var definition: String {
    var arguments = [SwiftText.literal(model.name)]
    if model.table != model.name { arguments.append("table: \(SwiftText.literal(model.table))") }
    let paths = model.key.map { names.path($0, of: model, isTyped: false) }
    arguments.append("key: \(paths.joined(separator: ", "))")
    arguments.append("fields: \(SwiftText.list(model.fields.map(definition)))")
    if !model.uniques.isEmpty {
      let sets = model.uniques.map { set in
        "[\(set.map { names.path($0, of: model, isTyped: false) }.joined(separator: ", "))]"
      }
      arguments.append("uniques: [\(sets.joined(separator: ", "))]")
    }
    let rules =
      model.rules
      + model.fields.flatMap { field in
        field.rules.filter { self.rule($0, of: field) == nil }
      }
    if !rules.isEmpty { arguments.append("rules: \(SwiftText.list(rules.map(definition)))") }
    if !model.lists.isEmpty {
      arguments.append("lists: \(SwiftText.list(model.lists.map(definition)))")
    }
    return "\(prefix)static let definition = "
      + SwiftText.call("ModelDefinition<\(type)>", arguments)
  }

  private func definition(of field: FieldSchema) -> String {
    var arguments = [
      SwiftText.literal(field.name), names.path(field.name, of: model, isTyped: false),
    ]
    if field.column != field.name { arguments.append("column: \(SwiftText.literal(field.column))") }
    if field.isUnique { arguments.append("isUnique: true") }
    if let sql = field.defaultSQL { arguments.append("defaultSQL: \(SwiftText.literal(sql))") }
    switch field.collation {
    case .binary: break
    case .nocase: arguments.append("collation: .nocase")
    case .rtrim: arguments.append("collation: .rtrim")
    case .custom(let name): arguments.append("collation: .custom(\(SwiftText.literal(name)))")
    }
    if let reference = field.reference {
      arguments.append("reference: \(definition(of: reference))")
    }
    let rules = field.rules.compactMap { rule($0, of: field) }
    if !rules.isEmpty { arguments.append("rules: [\(rules.joined(separator: ", "))]") }
    return SwiftText.call(".init", arguments)
  }

  /// The rule of a field; nil if it has a name that no such rule has.
  private func rule(_ rule: RuleSchema, of field: FieldSchema) -> String? {
    if let known = KnownRule(rule, of: field, in: model) { return known.swift }
    let start = "\(model.name).\(field.name)."
    guard rule.name.hasPrefix(start) else { return nil }
    let label = String(rule.name.dropFirst(start.count))
    let template = KnownRule.template(of: rule, field)
    let made = FieldRule.sql(label, rule.message, template)
      .schema(model: model.name, field: field.name, column: field.column)
    guard made == rule else { return nil }
    let texts = [label, rule.message, template].map(SwiftText.literal)
    return ".sql(\(texts.joined(separator: ", ")))"
  }

  private func definition(of reference: ReferenceSchema) -> String {
    var arguments = ["table: \(SwiftText.literal(reference.table))"]
    if let column = reference.column { arguments.append("column: \(SwiftText.literal(column))") }
    if reference.onDelete != .noAction { arguments.append("onDelete: .\(reference.onDelete)") }
    if reference.onUpdate != .noAction { arguments.append("onUpdate: .\(reference.onUpdate)") }
    return "ReferenceSchema(\(arguments.joined(separator: ", ")))"
  }

  private func definition(of rule: RuleSchema) -> String {
    SwiftText.call(
      "RuleSchema",
      [
        "name: \(SwiftText.literal(rule.name))", "message: \(SwiftText.literal(rule.message))",
        "condition: \(SwiftText.literal(rule.condition))",
      ])
  }

  private func definition(of list: ListSchema) -> String {
    var arguments = [
      SwiftText.literal(list.name), names.path(list.name, of: model, isTyped: false),
    ]
    if let columns = list.columns {
      arguments.append("in: \(SwiftText.literal(list.slotTable))")
      let roles = [
        ("owner", columns.owner), ("element", columns.element), ("position", columns.position),
      ]
      let named = roles.map { "\($0): \(SwiftText.literal($1))" }
      arguments.append("columns: ListSchema.Columns(\(named.joined(separator: ", ")))")
    }
    return SwiftText.call("ModelList", arguments)
  }

  // Reading and writing

  /// The coding keys; nil if each property is named like its field.
  private var codingKeys: String? {
    let isPlain = model.fields.allSatisfy { names.bare($0.name, of: model) == $0.name }
    guard !isPlain else { return nil }
    let cases = model.fields.map { field in
      let isNamedAlike = names.bare(field.name, of: model) == field.name
      return "case \(property(field.name))"
        + (isNamedAlike ? "" : " = \(SwiftText.literal(field.name))")
    }
    return "\(prefix)enum CodingKeys: String, CodingKey {\n"
      + "\(SwiftText.indented(cases.joined(separator: "\n")))\n}"
  }

  /// The initializer is in an extension, so that the struct keeps its memberwise one.
  private var coding: String {
    let reading = model.fields.enumerated().map { index, field in
      "\(member(field.name, besides: "row")) = try row.decode(at: \(index))"
    }
    let writing = model.fields.enumerated().map { index, field in
      "try \(member(field.name, besides: "arguments")).encode(to: &arguments, at: \(index))"
    }
    return """
      extension \(type) {
        \(prefix)init(row: borrowing RowView) throws {
      \(SwiftText.indented(reading.joined(separator: "\n"), by: 2))
        }

        \(prefix)func encode(to arguments: inout ArgumentWriter) throws {
      \(SwiftText.indented(writing.joined(separator: "\n"), by: 2))
        }
      }
      """
  }
}
