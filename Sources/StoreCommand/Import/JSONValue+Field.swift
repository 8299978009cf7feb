import ModelStore

extension JSONValue {
  /// This value as `field` stores it. Types are not bent: a text is no number, 1 is not true.
  ///
  /// - Throws: ``StoreError`` with code `invalidValue`.
  func stored(in field: FieldSchema) throws(StoreError) -> SQLValue {
    switch (self, field.type) {
    case (.null, _): return .null
    case (.string(let text), .integer), (.string(let text), .real), (.string(let text), .boolean):
      throw refusal("the text \u{201C}\(text.prefix(40))\u{201D}", field)
    case (.string(let text), _): return try FieldText.parse(text, for: field)
    case (.boolean(let truth), .boolean): return .integer(truth ? 1 : 0)
    case (_, .json): return .text(try jsonText(field))
    case (.boolean(let truth), .any): return .integer(truth ? 1 : 0)
    case (.integer(let number), .integer), (.integer(let number), .any): return .integer(number)
    case (.integer(let number), .real), (.integer(let number), .decimal):
      return try FieldText.parse(String(number), for: field)
    case (.real(let number), .real), (.real(let number), .any): return .real(number)
    case (.object, .blob), (.object, .any):
      guard let value = storedValue else { throw refusal("an object", field) }
      return value
    default: throw refusal(noun, field)
    }
  }

  private func jsonText(_ field: FieldSchema) throws(StoreError) -> String {
    do {
      return try JSONText.text(self)
    } catch {
      throw refusal("a number that JSON cannot express", field)
    }
  }

  private var noun: String {
    switch self {
    case .null: "null"
    case .boolean(let truth): truth ? "true" : "false"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .string: "a text"
    case .array: "an array"
    case .object: "an object"
    }
  }

  private func refusal(_ found: String, _ field: FieldSchema) -> StoreError {
    StoreError(
      .invalidValue, "\(field.name) is of type \(field.type.rawValue) and does not take \(found).",
      field: field.name)
  }
}
