import ModelStore

/// The Swift types of fields.
enum SwiftType {
  /// The type of a field's values, without the question mark of an optional one.
  static func of(_ field: FieldSchema, in model: ModelSchema) -> String {
    guard model.isDeclarable else { return ofStoredValues(field) }
    return switch field.type {
    case .integer: "Int64"
    case .real: "Double"
    case .text: "String"
    case .blob: "Data"
    case .boolean: "Bool"
    case .date: "Date"
    case .uuid: "UUID"
    case .url: "URL"
    case .decimal: "Decimal"
    case .json: "JSON<JSONContent>"
    case .any: "SQLValue"
    }
  }

  /// The type in which a column of another design can be read, whatever form its values have.
  private static func ofStoredValues(_ field: FieldSchema) -> String {
    switch field.type {
    case .integer: "Int64"
    case .real: "Double"
    case .text, .url, .decimal, .json: "String"
    case .blob: "Data"
    case .boolean: "Bool"
    case .uuid: "String"
    case .date: ofDates(field.form)
    case .any: "SQLValue"
    }
  }

  /// The storage classes that such a type reads, as texts of SQL.
  static func storageClasses(of field: FieldSchema) -> String {
    let classes =
      switch ofStoredValues(field) {
      case "Int64", "Bool": ["integer"]
      case "Double", "Date": ["integer", "real"]
      case "String": ["text"]
      case "Data": ["blob"]
      default: ["integer", "real", "text", "blob"]
      }
    return (classes + ["null"]).map(SQLText.literal).joined(separator: ", ")
  }

  private static func ofDates(_ form: FieldForm?) -> String {
    guard let form else { return "Date" }
    return form.isText ? "String" : form == .unixMilliseconds ? "Int64" : "Double"
  }

  /// The type as it is declared. An `SQLValue` can be NULL itself.
  static func declared(_ field: FieldSchema, in model: ModelSchema) -> String {
    let type = of(field, in: model)
    return type + (field.isOptional && type != "SQLValue" ? "?" : "")
  }
}
