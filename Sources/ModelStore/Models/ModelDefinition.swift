/// What a model declares, once per type: its schema, and which key path is which field.
public struct ModelDefinition<M: Model>: Sendable {
  /// The model's name, table, fields, indexes and rules.
  public let schema: ModelSchema
  private let indices: [FieldPath: Int]
  private let paths: [any PartialKeyPath<M> & Sendable]
  private let lists: [FieldPath: ListSchema]

  /// - Parameters:
  ///   - name: The model's name, unique in the store.
  ///   - table: The table's name where it is not the model's.
  ///   - key: The fields of the key, in key order.
  ///   - fields: All stored properties, in the order in which the model reads and writes them.
  /// - Precondition: Field names are unique, and every key path in `key` is one of `fields`.
  public init(
    _ name: String, table: String? = nil, key: any PartialKeyPath<M> & Sendable...,
    fields: [ModelField<M>], uniques: [[any PartialKeyPath<M> & Sendable]] = [],
    rules: [RuleSchema] = [], lists: [ModelList<M>] = []
  ) {
    paths = fields.map(\.path)
    var indices: [FieldPath: Int] = [:]
    for (index, field) in fields.enumerated() { indices[FieldPath(path: field.path)] = index }
    self.indices = indices
    func fieldName(_ path: any PartialKeyPath<M> & Sendable) -> String {
      guard let index = indices[FieldPath(path: path)] else {
        preconditionFailure("\(name): \(path) is not among the model's fields.")
      }
      return fields[index].schema.name
    }
    let keyNames = key.map { fieldName($0) }
    precondition(!keyNames.isEmpty, "\(name) needs a key.")
    precondition(
      Set(fields.map(\.schema.name)).count == fields.count, "\(name) declares a field twice.")
    let schemas = fields.map { field in
      var schema = field.schema
      schema.rules = field.rules.map {
        $0.schema(model: name, field: schema.name, column: schema.column)
      }
      schema.isRowID = keyNames == [schema.name] && schema.type == .integer && !schema.isOptional
      return schema
    }
    self.schema = ModelSchema(
      name: name, table: table, fields: schemas, key: keyNames,
      uniques: uniques.map { $0.map { fieldName($0) } }, rules: rules,
      lists: lists.map { $0.schema(owner: name) })
    self.lists = Dictionary(
      lists.map { (FieldPath(path: $0.path), $0.schema(owner: name)) },
      uniquingKeysWith: { first, _ in first })
  }

  /// The position of the field at `path`, or nil when `path` is no stored field.
  public func fieldIndex(of path: any PartialKeyPath<M> & Sendable) -> Int? {
    indices[FieldPath(path: path)]
  }

  /// The list at `path`, or nil when `path` is none.
  func list(at path: any PartialKeyPath<M> & Sendable) -> ListSchema? {
    lists[FieldPath(path: path)]
  }

  /// The key path of the field at `index`.
  public func path(at index: Int) -> any PartialKeyPath<M> & Sendable {
    paths[index]
  }

  /// A key path as a dictionary key: `PartialKeyPath` alone would lose that it is Sendable.
  private struct FieldPath: Hashable, Sendable {
    let path: any PartialKeyPath<M> & Sendable

    static func == (left: FieldPath, right: FieldPath) -> Bool { left.path == right.path }

    func hash(into hasher: inout Hasher) { path.hash(into: &hasher) }
  }
}

/// One stored property of a model and the column it lives in.
public struct ModelField<M: Model>: Sendable {
  let schema: FieldSchema
  let rules: [FieldRule]
  let path: any PartialKeyPath<M> & Sendable

  /// - Parameters:
  ///   - name: The property's name.
  ///   - column: The column's name where it is not the property's.
  ///   - defaultSQL: An SQL expression for records inserted by writers that leave the field out.
  public init<Value: ColumnValue>(
    _ name: String, _ path: any KeyPath<M, Value> & Sendable, column: String? = nil,
    isUnique: Bool = false, defaultSQL: String? = nil, collation: Collation = .binary,
    reference: ReferenceSchema? = nil, rules: [FieldRule] = []
  ) {
    schema = FieldSchema(
      name: name, column: column, type: Value.fieldType, isOptional: Value.isOptional,
      isUnique: isUnique, defaultSQL: defaultSQL, collation: collation, reference: reference)
    self.rules = rules
    self.path = path
  }
}

/// One property of a model that is an ordered list.
public struct ModelList<M: Model>: Sendable {
  fileprivate let path: any PartialKeyPath<M> & Sendable
  private let name: String
  private let elementTable: String
  private let adopted: (table: String, columns: ListSchema.Columns)?

  /// - Parameter name: The property's name.
  public init<Element: Model>(
    _ name: String, _ path: any KeyPath<M, OrderedList<Element>> & Sendable
  ) {
    self.name = name
    self.path = path
    elementTable = Element.tableName
    adopted = nil
  }

  /// A list in a table that another program or a migration made.
  ///
  /// - Parameters:
  ///   - name: The property's name.
  ///   - table: Its rows are the slots. Opening a store never changes it.
  public init<Element: Model>(
    _ name: String, _ path: any KeyPath<M, OrderedList<Element>> & Sendable, in table: String,
    columns: ListSchema.Columns
  ) {
    self.name = name
    self.path = path
    elementTable = Element.tableName
    adopted = (table, columns)
  }

  fileprivate func schema(owner: String) -> ListSchema {
    ListSchema(
      name: name, elementTable: elementTable, slotTable: adopted?.table ?? "\(owner)_\(name)",
      columns: adopted?.columns)
  }
}
