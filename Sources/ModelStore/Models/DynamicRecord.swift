/// A record of any model, with its values by field name. Use it in programs without a Swift type
/// for the model, such as `storecli`. With a type, use ``Model``.
public struct DynamicRecord: Fetchable, Hashable {
  /// The model's schema, which names `values`.
  public let schema: ModelSchema
  /// In field order.
  public private(set) var values: [SQLValue]

  /// - Precondition: One value for each field.
  package init(schema: ModelSchema, values: [SQLValue]) {
    precondition(
      values.count == schema.fields.count,
      "\(schema.name) has \(schema.fields.count) fields; got \(values.count) values.")
    self.schema = schema
    self.values = values
  }

  public init(row: borrowing RowView, schema: borrowing ModelSchema) throws {
    self.init(schema: copy schema, values: try row.values())
  }

  /// The value of the field called `name`; nil when the model has no such field.
  public subscript(name: String) -> SQLValue? {
    schema.fieldIndex(named: name).map { values[$0] }
  }

  /// The key's values, in key order.
  public var key: [SQLValue] {
    schema.keyIndices.map { values[$0] }
  }

  public func _key(named values: [SQLValue]) -> [SQLValue] { values }

  public static func _key(named values: [SQLValue]) throws -> [SQLValue] { values }
}

extension DynamicRecord: Encodable {
  private struct FieldName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Writes an object with the values by field name, each in the form of ``SQLValue``.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: FieldName.self)
    for (field, value) in zip(schema.fields, values) {
      try members.encode(value, forKey: FieldName(stringValue: field.name))
    }
  }
}
