import ModelStore
import RecordFormats

extension JSONValue {
  /// The member that marks an object as a value that its field's type does not have, to be stored
  /// as it is: `{"$stored": "unknown"}`.
  private static let storedMemberName = "$stored"

  /// A field's value for programs: booleans as true and false, dates as ISO-8601.
  init(_ value: SQLValue, in field: FieldSchema) {
    switch (value, field.type) {
    case (.integer(0), .boolean): self = .boolean(false)
    case (.integer(1), .boolean): self = .boolean(true)
    default: self = JSONValue(FieldColumns.shown(value, field))
    }
  }

  /// A field's value so that ``stored(in:)`` gives it back, whatever the column of another design
  /// holds.
  init(exporting value: SQLValue, of exchanged: ExchangedField) {
    let field = exchanged.field
    self = field.form?.isText == false ? JSONValue(value) : JSONValue(value, in: field)
    if !exchanged.isExact(self, for: value) {
      self = .object([Member(Self.storedMemberName, JSONValue(value))])
    }
  }

  private var markedValue: SQLValue? {
    guard case .object(let members) = self, members.count == 1,
      members[0].name == Self.storedMemberName
    else { return nil }
    return members[0].value.storedValue
  }

  /// This value as `field` stores it. A declared model's types are not bent: a text is not a
  /// number, 1 is not true. A column of another design reads texts as CSV does, and 0 and 1 as
  /// false and true.
  ///
  /// - Throws: ``StoreError`` with code `invalidValue`.
  func stored(in field: FieldSchema) throws(StoreError) -> SQLValue {
    let isAdopted = field.declaredType != nil
    if isAdopted || field.type == .any, let marked = markedValue { return marked }
    switch (self, field.type) {
    case (.null, _): return .null
    case (.string(let text), .integer), (.string(let text), .real), (.string(let text), .boolean):
      guard isAdopted else {
        throw refusal("the text \u{201C}\(text.prefix(40))\u{201D}", field)
      }
      return try FieldText.parse(text, for: field)
    case (.string(let text), _): return try FieldText.parse(text, for: field)
    case (.boolean(let truth), .boolean): return .integer(truth ? 1 : 0)
    case (.integer(let number), .boolean) where isAdopted && (number == 0 || number == 1):
      return .integer(number)
    case (.object, .json) where isAdopted:
      // The column may hold a blob, such as SQLite's own JSONB, which an export writes like this.
      if let blob = storedValue { return blob }
      return .text(try jsonText(field))
    case (_, .json): return .text(try jsonText(field))
    case (.boolean(let truth), .any): return .integer(truth ? 1 : 0)
    case (.integer(let number), .integer), (.integer(let number), .any): return .integer(number)
    case (.integer(let number), .real), (.integer(let number), .decimal):
      return try FieldText.parse(String(number), for: field)
    case (.integer, .date) where field.form != nil, (.real, .date) where field.form != nil:
      return try FieldText.parse(noun, for: field)
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
