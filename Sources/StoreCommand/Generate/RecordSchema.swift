import ModelStore
import RecordFormats

/// The records of models as JSON Schema, draft 2020-12: the JSON that `export` writes and `import`
/// reads. See <https://json-schema.org/draft/2020-12>.
struct RecordSchema {
  private let description: StoreDescription

  init(_ description: StoreDescription) {
    self.description = description
  }

  /// One schema for one model; otherwise an object with a definition for each model.
  var json: JSONValue {
    let draft = JSONValue.Member("$schema", .string("https://json-schema.org/draft/2020-12/schema"))
    guard description.models.count == 1 else {
      let definitions = description.models.map { model in
        JSONValue.Member(model.name, .object(members(of: model)))
      }
      return .object([draft, .init("$defs", .object(definitions))])
    }
    return .object([draft] + members(of: description.models[0]))
  }

  private func members(of model: ModelSchema) -> [JSONValue.Member] {
    let required = model.fields.filter { field in
      !field.isOptional && field.defaultSQL == nil && field.generated == nil
        && model.rowIDFieldIndex.map { model.fields[$0].name } != field.name
    }
    var members: [JSONValue.Member] = [
      .init("title", .string(model.name)), .init("type", .string("object")),
      .init(
        "properties",
        .object(model.fields.map { .init($0.name, schema(of: $0, in: model)) })),
      .init("required", .array(required.map { .string($0.name) })),
      .init("additionalProperties", .boolean(false)),
    ]
    let remarks = remarks(about: model)
    if !remarks.isEmpty {
      members.append(.init("description", .string(remarks.joined(separator: ". ") + ".")))
    }
    return members
  }

  /// What a schema of one record cannot check.
  private func remarks(about model: ModelSchema) -> [String] {
    var remarks: [String] = []
    if !model.key.isEmpty { remarks.append("The key is \(model.key.joined(separator: ", "))") }
    remarks += model.uniques.map { "\($0.joined(separator: ", ")) are unique together" }
    remarks += model.rules.map { "A record \($0.message)" }
    remarks += description.rules.filter { $0.model == model.name && $0.fields.count != 1 }.map {
      "\($0.fields.isEmpty ? "A record" : $0.fields.joined(separator: ", ")) \($0.message)"
    }
    return remarks
  }

  private func schema(of field: FieldSchema, in model: ModelSchema) -> JSONValue {
    var members = typeMembers(of: field)
    members += ruleMembers(of: field, in: model)
    if let value = defaultValue(of: field) { members.append(.init("default", value)) }
    let isBound = description.bindings.contains { binding in
      binding.boundFields.contains(.init(model: model.name, field: field.name))
    }
    if isBound || field.generated != nil { members.append(.init("readOnly", .boolean(true))) }
    let remarks = remarks(about: field, in: model)
    let describing: [JSONValue.Member] =
      remarks.isEmpty ? [] : [.init("description", .string(remarks.joined(separator: "; ")))]
    guard ExchangedField(field, of: model).hasMarks else { return .object(members + describing) }
    let alternatives: [JSONValue] = [.object(members), Self.marked]
    return .object([.init("anyOf", .array(alternatives))] + describing)
  }

  /// A value that the field's type does not have, which an adopted table may hold.
  private static let marked = JSONValue.object([
    .init("type", .string("object")),
    .init("properties", .object([.init("$stored", .boolean(true))])),
    .init("required", .array([.string("$stored")])),
    .init("additionalProperties", .boolean(false)),
  ])

  private static let blob: [JSONValue.Member] = [
    .init(
      "properties",
      .object([
        .init(
          "$base64",
          .object([
            .init("type", .string("string")), .init("contentEncoding", .string("base64")),
          ]))
      ])),
    .init("required", .array([.string("$base64")])),
    .init("additionalProperties", .boolean(false)),
  ]

  private func typeMembers(of field: FieldSchema) -> [JSONValue.Member] {
    func members(_ type: String, _ others: [JSONValue.Member] = []) -> [JSONValue.Member] {
      let types: JSONValue =
        field.isOptional ? .array([.string(type), .string("null")]) : .string(type)
      return [.init("type", types)] + others
    }
    func formatted(_ format: String) -> [JSONValue.Member] {
      members("string", [.init("format", .string(format))])
    }
    switch field.type {
    case .integer: return members("integer")
    case .real: return members("number")
    case .text: return members("string")
    case .boolean: return members("boolean")
    case .blob: return members("object", Self.blob)
    case .uuid: return formatted("uuid")
    case .url: return formatted("uri")
    case .decimal:
      return members("string", [.init("pattern", .string("^-?[0-9]+(\\.[0-9]+)?$"))])
    case .json: return members("string", [.init("contentMediaType", .string("application/json"))])
    case .any: return []
    case .date:
      guard field.form?.isText != false else { return members("number") }
      // Texts of an adopted column have its own spelling, which is no RFC 3339.
      guard field.form == nil else { return members("string") }
      return formatted("date-time")
    }
  }

  private func ruleMembers(of field: FieldSchema, in model: ModelSchema) -> [JSONValue.Member] {
    let rules = field.rules.compactMap { KnownRule($0, of: field, in: model) }
    var members: [JSONValue.Member] = []
    for member in rules.flatMap({ Self.members(of: $0, isOptional: field.isOptional) })
    where !members.contains(where: { $0.name == member.name }) {
      members.append(member)
    }
    return members
  }

  private static func members(of rule: KnownRule, isOptional: Bool) -> [JSONValue.Member] {
    func number(_ bound: KnownRule.Bound) -> JSONValue {
      switch bound {
      case .integer(let number): .integer(Int64(number))
      case .real(let number): .real(number)
      }
    }
    func count(_ name: String, _ value: Int) -> JSONValue.Member {
      .init(name, .integer(Int64(max(0, value))))
    }
    func choice(_ values: [JSONValue]) -> [JSONValue.Member] {
      [.init("enum", .array(values + (isOptional ? [.null] : [])))]
    }
    return switch rule {
    case .length(let range):
      [count("minLength", range.lowerBound), count("maxLength", range.upperBound)]
    case .lengthFrom(let least): [count("minLength", least)]
    case .lengthThrough(let most): [count("maxLength", most)]
    case .notBlank: [.init("pattern", .string("[^ ]"))]
    case .range(let low, let high):
      [.init("minimum", number(low)), .init("maximum", number(high))]
    case .rangeFrom(let low): [.init("minimum", number(low))]
    case .rangeThrough(let high): [.init("maximum", number(high))]
    case .oneOf(let texts): choice(texts.map { .string($0) })
    case .oneOfNumbers(let bounds): choice(bounds.map(number))
    case .glob(let pattern):
      expression(ofGlob: pattern).map { [.init("pattern", .string($0))] } ?? []
    case .byteLength, .byteLengthThrough, .like: []
    }
  }

  /// A GLOB pattern as a regular expression; nil for a set of characters that begins or ends in a
  /// bracket, which both read differently.
  static func expression(ofGlob pattern: String) -> String? {
    var result = "^"
    var rest = pattern[...]
    while let character = rest.popFirst() {
      switch character {
      case "*": result += "[\\s\\S]*"
      case "?": result += "[\\s\\S]"
      case "[":
        guard let end = rest.firstIndex(of: "]") else { return nil }
        let set = rest[..<end]
        guard !set.isEmpty, set != "^", !set.contains("["), !set.contains("\\") else { return nil }
        result += "[\(set)]"
        rest = rest[rest.index(after: end)...]
      case "\\", "^", "$", ".", "|", "+", "(", ")", "{", "}", "]", "/": result += "\\\(character)"
      default: result.append(character)
      }
    }
    return result + "$"
  }

  private func defaultValue(of field: FieldSchema) -> JSONValue? {
    guard let sql = field.defaultSQL else { return nil }
    let cut = SQLTokens(sql)
    switch field.type {
    case .integer: return Int64(sql).map { .integer($0) }
    case .real: return Double(sql).flatMap { $0.isFinite ? .real($0) : nil }
    case .boolean: return sql == "1" ? .boolean(true) : sql == "0" ? .boolean(false) : nil
    case .text, .decimal, .uuid, .url:
      guard cut.tokens.count == 1, cut.tokens[0].kind == .string else { return nil }
      return .string(cut.name(cut.tokens[0]))
    case .blob, .date, .json, .any: return nil
    }
  }

  private func remarks(about field: FieldSchema, in model: ModelSchema) -> [String] {
    var remarks = field.rules.map(\.message)
    remarks += description.rules.filter { $0.model == model.name && $0.fields == [field.name] }
      .map(\.message)
    if field.isUnique { remarks.append("must be unique") }
    if let reference = field.reference { remarks.append("refers to \(reference.table)") }
    let bound = BindingSchema.Field(model: model.name, field: field.name)
    remarks += description.bindings.filter { $0.boundFields.contains(bound) }.map {
      "follows \($0)"
    }
    return remarks
  }

  /// The schema as text, with an indent of two blanks.
  func text() throws(OutputError) -> String {
    try Self.text(json, indent: "") + "\n"
  }

  private static func text(_ value: JSONValue, indent: String) throws(OutputError) -> String {
    let inner = indent + "  "
    switch value {
    case .object(let members) where !members.isEmpty:
      var lines: [String] = []
      for member in members {
        let name = try JSONText.text(.string(member.name))
        lines.append("\(inner)\(name): \(try text(member.value, indent: inner))")
      }
      return "{\n\(lines.joined(separator: ",\n"))\n\(indent)}"
    case .array(let elements) where elements.contains(where: \.isObject):
      var lines: [String] = []
      for element in elements { lines.append(inner + (try text(element, indent: inner))) }
      return "[\n\(lines.joined(separator: ",\n"))\n\(indent)]"
    default: return try JSONText.text(value)
    }
  }
}

extension JSONValue {
  fileprivate var isObject: Bool {
    if case .object = self { true } else { false }
  }
}
