/// The declaration of a model, once per type: its schema, and the field of each key path.
public struct ModelDefinition<M: Model>: Sendable {
  /// The model's name, table, fields, indexes and rules.
  public let schema: ModelSchema
  /// How a ``CodableModel`` finds its columns.
  @usableFromInline let coding: CodingPlan
  private let indices: [FieldPath: Int]
  private let paths: [any PartialKeyPath<M> & Sendable]
  private let values: [@Sendable (M) throws(ColumnError) -> SQLValue]
  private let lists: [FieldPath: ListSchema]
  private let sharedLists: [FieldPath: SharedList]

  /// - Parameters:
  ///   - name: The model's name, unique in the store.
  ///   - table: The table's name, if it differs from the model's.
  ///   - key: The fields of the key, in key order.
  ///   - fields: All stored properties, in the order in which the model reads and writes them.
  /// - Precondition: Field names are unique, and every key path in `key` is one of `fields`.
  public init(
    _ name: String, table: String? = nil, key: any PartialKeyPath<M> & Sendable...,
    fields: [ModelField<M>], uniques: [[any PartialKeyPath<M> & Sendable]] = [],
    rules: [RuleSchema] = [], lists: [ModelList<M>] = []
  ) {
    paths = fields.map(\.path)
    values = fields.map(\.value)
    var indices: [FieldPath: Int] = [:]
    for (index, field) in fields.enumerated() { indices[FieldPath(path: field.path)] = index }
    self.indices = indices
    func fieldName(_ path: any PartialKeyPath<M> & Sendable) -> String {
      guard let index = indices[FieldPath(path: path)] else {
        preconditionFailure("\(name): \(keyPathText(path)) is not among the model's fields.")
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
      lists: lists.compactMap { $0.schema(owner: name) })
    coding = CodingPlan(
      .model(name), names: schemas.map(\.name), types: fields.map(\.valueType))
    self.lists = Dictionary(
      lists.compactMap { list in
        list.schema(owner: name).map { (FieldPath(path: list.path), $0) }
      },
      uniquingKeysWith: { first, _ in first })
    sharedLists = Dictionary(
      lists.compactMap { list in list.shared.map { (FieldPath(path: list.path), $0) } },
      uniquingKeysWith: { first, _ in first })
    for shared in sharedLists.values { _ = fieldName(shared.field.path) }
  }

  /// Returns the position of the field at `path`, or nil when `path` is not a stored field.
  package func fieldIndex(of path: any PartialKeyPath<M> & Sendable) -> Int? {
    indices[FieldPath(path: path)]
  }

  /// Returns a message about a key path that is not a stored field.
  func notStored(_ path: any PartialKeyPath<M> & Sendable) -> String {
    let names = schema.fields.map(\.name).joined(separator: ", ")
    return "\(described(path)) is not a stored field of \(schema.name). The fields are: \(names)."
  }

  /// Returns a key path for messages: the name of its field or list, otherwise its type.
  func described(_ path: any PartialKeyPath<M> & Sendable) -> String {
    if let index = fieldIndex(of: path) { return schema.fields[index].name }
    return list(at: path)?.name ?? keyPathText(path)
  }

  /// Returns the list at `path`, or nil when `path` is not a list.
  func list(at path: any PartialKeyPath<M> & Sendable) -> ListSchema? {
    lists[FieldPath(path: path)]
  }

  /// Returns the list of another record at `path`, or nil when `path` is not such a list.
  func sharedList(at path: any PartialKeyPath<M> & Sendable) -> SharedList? {
    sharedLists.isEmpty ? nil : sharedLists[FieldPath(path: path)]
  }

  /// The list of another record, which all records share that refer to that record.
  struct SharedList: Sendable {
    fileprivate let field: FieldPath
    /// Returns the name of the model whose records own such lists, and of the list; nil if it is
    /// not a list.
    let holder: @Sendable () -> (model: String, list: String)?

    init(
      through field: any PartialKeyPath<M> & Sendable,
      holder: @escaping @Sendable () -> (model: String, list: String)?
    ) {
      self.field = FieldPath(path: field)
      self.holder = holder
    }
  }

  /// Returns the position of the field that refers to the owner of the list.
  func fieldIndex(of shared: SharedList) -> Int? { indices[shared.field] }

  /// Returns the key path of the field at `index`.
  package func path(at index: Int) -> any PartialKeyPath<M> & Sendable {
    paths[index]
  }

  /// The names of fields with the same key path, each list in field order.
  var fieldsWithSamePath: [[String]] {
    guard indices.count < paths.count else { return [] }
    return Dictionary(grouping: paths.indices) { FieldPath(path: paths[$0]) }.values
      .filter { $0.count > 1 }.sorted { $0[0] < $1[0] }
      .map { $0.map { schema.fields[$0].name } }
  }

  /// Returns what the key path of the field at `index` reads from `record`, as it would be stored.
  func sqlValue(of record: M, at index: Int) throws(ColumnError) -> SQLValue {
    try values[index](record)
  }

  /// A key path as a dictionary key. `PartialKeyPath` alone would not be Sendable.
  fileprivate struct FieldPath: Hashable, Sendable {
    let path: any PartialKeyPath<M> & Sendable

    static func == (left: FieldPath, right: FieldPath) -> Bool { left.path == right.path }

    func hash(into hasher: inout Hasher) { path.hash(into: &hasher) }
  }
}

/// One stored property of a model and its column.
public struct ModelField<M: Model>: Sendable {
  let schema: FieldSchema
  let rules: [FieldRule]
  let valueType: any ColumnValue.Type
  let path: any PartialKeyPath<M> & Sendable
  let value: @Sendable (M) throws(ColumnError) -> SQLValue

  /// - Parameters:
  ///   - name: The property's name.
  ///   - column: The column's name, if it differs from the property's.
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
    valueType = Value.self
    self.path = path
    value = { record throws(ColumnError) in try record[keyPath: path].sqlValue() }
  }
}

/// One property of a model that is an ordered list.
public struct ModelList<M: Model>: Sendable {
  fileprivate let path: any PartialKeyPath<M> & Sendable
  private let name: String
  private let elementTable: String
  private let adopted: (table: String, columns: ListSchema.Columns)?
  fileprivate var shared: ModelDefinition<M>.SharedList?

  /// - Parameter name: The property's name.
  public init<Element: Model>(
    _ name: String, _ path: any KeyPath<M, OrderedList<Element>> & Sendable
  ) {
    self.name = name
    self.path = path
    elementTable = Element.tableName
    adopted = nil
  }

  /// Declares a list in a table that another program or a migration created.
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

  /// Declares that the records share the list of another record, to which a field refers. A change
  /// through one of the records is a change for all.
  ///
  /// ```swift
  /// lists: [ModelList("songs", \.songs, sharing: \Mix.songs, through: \.mixID)]
  /// ```
  ///
  /// - Parameters:
  ///   - name: The property's name.
  ///   - list: The list of the referred record. It is deleted with that record.
  ///   - field: The field with the key of that record.
  /// - Precondition: `field` is one of the model's fields.
  public init<Holder: Model, Element: Model>(
    _ name: String, _ path: any KeyPath<M, OrderedList<Element>> & Sendable,
    sharing list: any KeyPath<Holder, OrderedList<Element>> & Sendable,
    through field: any PartialKeyPath<M> & Sendable
  ) {
    self.init(name, path)
    shared = ModelDefinition<M>.SharedList(through: field) {
      Holder.definition.list(at: list).map { (Holder.schema.name, $0.name) }
    }
  }

  /// Returns nil for a list that belongs to another model.
  fileprivate func schema(owner: String) -> ListSchema? {
    guard shared == nil else { return nil }
    return ListSchema(
      name: name, elementTable: elementTable, slotTable: adopted?.table ?? "\(owner)_\(name)",
      columns: adopted?.columns)
  }
}

/// Returns a key path for messages. Swift describes a computed property by an address in memory, so
/// this returns its type.
private func keyPathText<Root>(_ path: any PartialKeyPath<Root> & Sendable) -> String {
  let text = "\(path)"
  guard text.contains("<computed 0x") else { return text }
  return "A computed property of type \(type(of: path).valueType)"
}
