/// A model that the store reads and writes by its `Codable` conformance, which Swift writes.
///
/// ```swift
/// struct Artist: CodableModel {
///   var id: Int64
///   var name: String
///   var key: Int64 { id }
///   static let definition = ModelDefinition<Artist>(
///     "Artist", key: \.id, fields: [.init("id", \.id), .init("name", \.name)])
/// }
/// ```
/// The name of each coding key is the name of a field of the definition. Opening a store compares
/// them, and the fields' key paths with the properties. To do so, it decodes the type from sample
/// values, such as 0 and the empty text. An `init(from:)` of your own may throw for such values; it
/// must not stop the program. Conform an enum with texts to `CaseIterable`: otherwise there is no
/// sample of it, and opening compares only the keys up to it.
///
/// Each field is stored as its ``ColumnValue`` conformance says, whatever its own `Codable` does.
/// For example, a `Date` is the same REAL as in a model by hand. Declare a nested `Codable` value
/// as ``JSON``.
///
/// For more speed, use the macro, or write the conformance to ``Model`` by hand; see
/// <doc:models-by-hand-and-by-macro>.
///
/// - Important: Declare `definition` as a `static let`: it also keeps the columns for decoding.
public protocol CodableModel: Model, Codable {}

extension CodableModel {
  /// Reads the fields by their names.
  ///
  /// - Throws: ``ColumnError`` if a stored value does not fit its field; otherwise what the type's
  ///   `init(from:)` throws.
  @inlinable
  public init(row: borrowing RowView) throws {
    self = try Self.definition.coding.decode(Self.self, from: row)
  }

  /// Writes the fields by their names. A field that `encode(to:)` leaves out becomes NULL.
  @inlinable
  public func encode(to arguments: inout ArgumentWriter) throws {
    try Self.definition.coding.encode(self, to: &arguments)
  }
}

extension JSON: Codable {
  /// Decodes the value itself, without a wrapper.
  public init(from decoder: any Decoder) throws {
    self.init(try Value(from: decoder))
  }

  /// Encodes the value itself, without a wrapper.
  public func encode(to encoder: any Encoder) throws {
    try value.encode(to: encoder)
  }
}

// The property of a list holds nothing. So it is absent from a row, and from JSON of its record.
extension KeyedDecodingContainer {
  /// Returns the list without decoding anything.
  public func decode<Element: Model>(
    _ type: OrderedList<Element>.Type, forKey key: Key
  ) throws -> OrderedList<Element> {
    OrderedList()
  }
}

extension KeyedEncodingContainer {
  /// Encodes nothing.
  public mutating func encode<Element: Model>(
    _ value: OrderedList<Element>, forKey key: Key
  ) throws {}
}
