import ModelStore
import RecordFormats

/// Record keys as a person writes them: `42`, `10248,11` in key order, or `OrderId=10248,Line=11`.
/// A value with a comma is in double quotes, with inner quotes doubled. A part that begins with a
/// quote is a value, never `NAME=VALUE`.
enum KeyText {
  /// The key values that `text` means in `schema`, in key order.
  ///
  /// - Throws: ``CommandError`` with the fields of the key.
  static func parse(_ text: String, for schema: ModelSchema) throws -> [SQLValue] {
    let fields = schema.keyIndices.map { schema.fields[$0] }
    guard !fields.isEmpty else {
      throw CommandError.usage(
        "\(schema.name) is a view; its records have no key.",
        hint: "storecli query \(Shell.quoted(schema.name))", model: schema.name)
    }
    if fields.count == 1 { return [try single(text, fields[0], schema)] }
    let list = CommaList(text)
    guard list.isClosed else { throw wrongShape(text, schema, "a quote is not closed") }
    guard list.parts.count == fields.count else {
      throw wrongShape(text, schema, list.texts)
    }
    let isNamed = list.parts.allSatisfy { part in
      !part.isQuoted && fields.contains { part.text.hasPrefix($0.name + "=") }
    }
    guard isNamed else {
      return try zip(list.texts, fields).map { try value($0, $1, schema) }
    }
    return try fields.map { field in
      guard let part = list.texts.first(where: { $0.hasPrefix(field.name + "=") }) else {
        throw wrongShape(text, schema, "\(field.name) is missing")
      }
      return try value(String(part.dropFirst(field.name.count + 1)), field, schema)
    }
  }

  /// A key of one field: the whole text if the field takes it, as a text field takes any text.
  private static func single(
    _ text: String, _ field: FieldSchema, _ schema: ModelSchema
  ) throws -> SQLValue {
    do {
      return try value(text, field, schema)
    } catch {
      let prefix = field.name + "="
      guard text.hasPrefix(prefix) else { throw error }
      return try value(String(text.dropFirst(prefix.count)), field, schema)
    }
  }

  /// A key as ``parse(_:for:)`` reads it.
  static func text(_ key: [SQLValue]) -> String {
    key.map { value in
      let text = CellText.visible(CellText.exchange(CellValue(value)) ?? "null")
      guard key.count > 1, text.contains(where: { ",\"=".contains($0) }) else { return text }
      return "\""
        + text.split(separator: "\"", omittingEmptySubsequences: false)
        .joined(separator: "\"\"") + "\""
    }
    .joined(separator: ",")
  }

  /// A key for programs: the value, or an array of the values of a composite key.
  static func json(_ key: [SQLValue]) -> JSONValue {
    key.count == 1 ? JSONValue(key[0]) : .array(key.map { JSONValue($0) })
  }

  private static func value(
    _ text: String, _ field: FieldSchema, _ schema: ModelSchema
  ) throws -> SQLValue {
    do {
      if field.takesBytes, let bytes = Base64.decoded(text) { return .blob(bytes) }
      return try field.parse(text)
    } catch {
      throw CommandError.usage(
        error.message, hint: "storecli models \(Shell.quoted(schema.name))", model: schema.name,
        field: field.name)
    }
  }

  /// The error for a wrong number of values. One too many is often a comma inside a value.
  private static func wrongShape(
    _ text: String, _ schema: ModelSchema, _ values: [String]
  ) -> CommandError {
    var error = wrongShape(text, schema, "it has \(Grouped.text(values.count, "value"))")
    guard values.count > schema.key.count else { return error }
    let last = schema.key.count - 1
    let meant = Array(values[..<last]) + [values[last...].joined(separator: ",")]
    error.message += " Put a value with a comma in double quotes."
    error.hint =
      "storecli get \(Shell.quoted(schema.name)) "
      + Shell.quoted(Self.text(meant.map { .text($0) }))
    return error
  }

  private static func wrongShape(
    _ text: String, _ schema: ModelSchema, _ problem: String
  ) -> CommandError {
    CommandError.usage(
      "\(text) is not a key of \(schema.name): \(problem); "
        + "its key is \(schema.key.joined(separator: ",")).",
      hint: "storecli get \(Shell.quoted(schema.name)) "
        + schema.key.map { "\($0)=…" }.joined(separator: ","), model: schema.name)
  }
}
