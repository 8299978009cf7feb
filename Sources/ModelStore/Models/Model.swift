/// A type that can be read from one row: a ``Model`` or a ``DynamicRecord``.
public protocol Fetchable: Sendable {
  /// What identifies the record: a model's key, or a dynamic record's key values in key order.
  associatedtype Key: Hashable & Sendable

  /// The record's key, from its key fields.
  var key: Key { get }

  /// Returns the record's key. `values` are the key values that changes and results have for it.
  /// Not for use by programs.
  func _key(named values: [SQLValue]) -> Key

  /// Returns the key that these values form, for a record whose fields are unknown. Not for use by
  /// programs.
  ///
  /// - Throws: ``ColumnError`` if they form none, as for the numbered rows of a view.
  static func _key(named values: [SQLValue]) throws -> Key

  /// Reads the fields of `schema`, in field order from column 0.
  ///
  /// The schema is borrowed: most types do not need it, and a copy for each row would take longer
  /// than reading a short row.
  init(row: borrowing RowView, schema: borrowing ModelSchema) throws
}

/// A value that can be inserted: a model's record, or its draft, which may lack the key.
public protocol Insertable<Inserted>: Sendable {
  associatedtype Inserted: Model

  /// Binds the model's fields as arguments, each at its field's position. If SQLite is to assign
  /// the key, bind NULL.
  func encode(to arguments: inout ArgumentWriter) throws

  /// Returns the record that `encode(to:)` described, with the row number that SQLite assigned.
  func record(rowID: Int64) throws -> Inserted
}

/// A Swift type whose values are records of a store.
///
/// The `@Model` macro writes a conformance; by hand it takes a definition, reading and writing:
/// ```swift
/// struct Artist: Model {
///   var id: Int64
///   var name: String
///
///   static let definition = ModelDefinition<Artist>(
///     "Artist", key: \.id,
///     fields: [.init("id", \.id), .init("name", \.name, rules: [.length(1...120)])])
///
///   var key: Int64 { id }
///
///   init(row: borrowing RowView) throws {
///     id = try row.decode(at: 0)
///     name = try row.decode(at: 1)
///   }
///
///   func encode(to arguments: inout ArgumentWriter) throws {
///     try id.encode(to: &arguments, at: 0)
///     try name.encode(to: &arguments, at: 1)
///   }
/// }
/// ```
public protocol Model: Fetchable, Insertable where Inserted == Self, Key: ModelKey {
  static var definition: ModelDefinition<Self> { get }

  /// The name of the model's table. The default comes from the definition. If definitions of
  /// several types refer to each other's tables, declare a constant here to avoid an endless loop.
  static var tableName: String { get }

  /// Reads the fields, in the definition's order from column 0.
  init(row: borrowing RowView) throws
}

extension Model {
  public static var schema: ModelSchema { definition.schema }

  public static var tableName: String { schema.table }

  @inlinable
  public init(row: borrowing RowView, schema: borrowing ModelSchema) throws {
    try self.init(row: row)
  }

  @inlinable
  public func record(rowID: Int64) throws -> Self { self }

  // The rows of a view that have no key of their own are numbered, so the record's own key counts.
  public func _key(named values: [SQLValue]) -> Key { key }

  public static func _key(named values: [SQLValue]) throws -> Key { try Key(sqlValues: values) }
}

/// The identity of a record within its model: one column value, or several in key order.
public protocol ModelKey: Hashable, Sendable {
  /// - Throws: ``ColumnError`` when the values do not form such a key.
  init(sqlValues: [SQLValue]) throws(ColumnError)

  /// The key's values, in key order.
  func sqlValues() throws(ColumnError) -> [SQLValue]

  /// Binds the key's values from the first parameter on, and returns their number. Not for use by
  /// programs.
  func _bind(to arguments: inout ArgumentWriter) throws(ColumnError) -> Int
}

extension ModelKey {
  public func _bind(to arguments: inout ArgumentWriter) throws(ColumnError) -> Int {
    let values = try sqlValues()
    for (index, value) in values.enumerated() { arguments.set(value, at: index) }
    return values.count
  }
}

extension ModelKey where Self: ColumnValue {
  public init(sqlValues: [SQLValue]) throws(ColumnError) {
    guard sqlValues.count == 1 else {
      throw ColumnError(
        problem: .unrepresentable("the key has 1 value, not \(sqlValues.count)"))
    }
    try self.init(sqlValue: sqlValues[0])
  }

  public func sqlValues() throws(ColumnError) -> [SQLValue] { [try sqlValue()] }
}

extension Int64: ModelKey {
  // Without an array of values. A type with values of its own does not inherit this.
  @inlinable
  public func _bind(to arguments: inout ArgumentWriter) throws(ColumnError) -> Int {
    arguments.set(self, at: 0)
    return 1
  }
}

extension Int: ModelKey {
  @inlinable
  public func _bind(to arguments: inout ArgumentWriter) throws(ColumnError) -> Int {
    arguments.set(Int64(self), at: 0)
    return 1
  }
}

extension Int32: ModelKey {}
extension UInt32: ModelKey {}
extension String: ModelKey {
  // Without an array of values. A type with values of its own does not inherit this.
  @inlinable
  public func _bind(to arguments: inout ArgumentWriter) throws(ColumnError) -> Int {
    arguments.set(self, at: 0)
    return 1
  }
}

/// The key of a record without a Swift type: the value of its one key field.
extension SQLValue: ModelKey {}
