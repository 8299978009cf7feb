import ModelStore

/// The names of types and properties in generated Swift, each of them usable and used once.
struct SwiftNames {
  /// By the names of models.
  private(set) var types: [String: String] = [:]
  /// By the names of models, then of fields and lists.
  private var properties: [String: [String: String]] = [:]
  /// What was renamed because its name is taken, a sentence for each.
  private(set) var notes: [String] = []

  init(_ models: [ModelSchema]) {
    var taken = Self.reservedTypes
    for model in models {
      let wanted = SwiftText.identifier(model.name, isType: true)
      let name = Self.free(wanted, "Model", &taken)
      if name != wanted {
        notes.append("The model \(model.name) is the type \(name), because \(wanted) is taken.")
      }
      types[model.name] = name
      properties[model.name] = names(of: model)
    }
  }

  private mutating func names(of model: ModelSchema) -> [String: String] {
    var taken = Self.reservedProperties
    // The key of one field may be the property that every model has.
    if model.key == ["key"] { taken.remove("key") }
    var result: [String: String] = [:]
    for name in model.fields.map(\.name) + model.lists.map(\.name) {
      let wanted = SwiftText.identifier(name, isType: false)
      let property = Self.free(wanted, "Field", &taken)
      if property != wanted {
        notes.append(
          "\(model.name).\(name) is the property \(property), because \(wanted) is taken.")
      }
      result[name] = property
    }
    return result
  }

  /// Returns `wanted`, or a name that begins with it if it is taken.
  private static func free(
    _ wanted: String, _ ending: String, _ taken: inout Set<String>
  ) -> String {
    var name = wanted
    var number = 2
    // File systems and readers confuse names that differ only in case; Swift does not.
    if taken.contains(name), reserved.contains(name) { name = wanted + ending }
    while !taken.insert(name).inserted {
      name = "\(wanted)\(number)"
      number += 1
    }
    return name
  }

  func type(of model: ModelSchema) -> String { types[model.name] ?? model.name }

  /// The property as it is declared.
  func property(_ field: String, of model: ModelSchema) -> String {
    SwiftText.written(bare(field, of: model))
  }

  /// The property's name without backticks.
  func bare(_ field: String, of model: ModelSchema) -> String {
    properties[model.name]?[field] ?? field
  }

  /// A key path with its type, or without it where the type is known.
  func path(_ field: String, of model: ModelSchema, isTyped: Bool = true) -> String {
    "\\\(isTyped ? type(of: model) : "").\(property(field, of: model))"
  }

  private static let reservedTypes: Set<String> = [
    "Aggregation", "Any", "ArgumentWriter", "Array", "BindingMatch", "Bool", "Codable",
    "CodableModel", "CodingKey", "ColumnError", "Data", "Date", "Decimal", "Decodable", "Decoder",
    "DecodingError", "Double", "Encodable", "Encoder", "FieldBinding", "Foundation", "Hashable",
    "Int", "Int64", "JSON", "JSONContent", "ListSchema", "Migration", "Model", "ModelDefinition",
    "ModelField", "ModelKey", "ModelList", "ModelStore", "Never", "Optional", "OrderedList",
    "Protocol", "ReferenceSchema", "RowView", "Rule", "RuleSchema", "SQLText", "SQLValue", "Self",
    "Sendable", "SingleValueDecodingContainer", "Store", "StoreConfiguration", "StoreDeclarations",
    "String", "Swift", "Type", "URL", "UUID",
  ]

  private static let reservedProperties: Set<String> = [
    "Protocol", "Self", "Type", "_", "await", "encode", "hash", "hashValue", "init", "key", "self",
    "sqlValues", "CodingKeys", "Key",
  ]

  private static let reserved = reservedTypes.union(reservedProperties)
}
