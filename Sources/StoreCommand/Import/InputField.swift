import ModelStore
import RecordFormats

/// A field of a model as records of an input refer to it. It is an object, because a copy of a
/// field's schema costs more than reading a cell.
final class InputField: Sendable {
  let schema: FieldSchema
  /// Its position in the model.
  let place: Int
  let isComputed: Bool
  let isOptional: Bool
  private let type: FieldType
  private let takesBytes: Bool

  init(_ schema: FieldSchema, at place: Int) {
    self.schema = schema
    self.place = place
    isComputed = schema.generated != nil
    isOptional = schema.isOptional
    type = schema.type
    takesBytes = schema.takesBytes
  }

  /// The value of a cell of CSV or TSV.
  func value(ofCell cell: String) throws(StoreError) -> SQLValue {
    if !takesBytes {
      // As the field's own reading does, without asking its schema.
      if type == .text { return .text(cell) }
      if type == .integer, let number = Int64(cell) { return .integer(number) }
    }
    return try schema.parse(cell: cell)
  }

  /// The value of a member of a JSON object.
  func value(of member: JSONValue) throws(StoreError) -> SQLValue {
    switch (member, type) {
    case (.null, _): .null
    case (.string(let text), .text) where !takesBytes: .text(text)
    case (.integer(let number), .integer): .integer(number)
    default: try member.stored(in: schema)
    }
  }
}
