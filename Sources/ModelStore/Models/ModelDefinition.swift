/// What a model declares, once per type: its schema, and which key path is which field.
public struct ModelDefinition<M: Model>: Sendable {
  /// The model's name, table, fields, indexes and rules.
  public let schema: ModelSchema
  /// How a ``CodableModel`` finds its columns.
  @usableFromInline let coding: CodingPlan
  private let indices: [FieldPath: Int]
  private let paths: [any PartialKeyPath<M> & Sendable]
  private let lists: [FieldPath: ListSchema]
  private let sharedLists: [FieldPath: SharedList]

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

  /// The position of the field at `path`, or nil when `path` is no stored field.
  package func fieldIndex(of path: any PartialKeyPath<M> & Sendable) -> Int? {
    indices[FieldPath(path: path)]
  }

  /// What to say of a key path that is not a stored field.
  func notStored(_ path: any PartialKeyPath<M> & Sendable) -> String {
    let names = schema.fields.map(\.name).joined(separator: ", ")
    return "\(described(path)) is not a stored field of \(schema.name). The fields are: \(names)."
  }

  /// A key path for messages: by the name of its field or list, otherwise by its type.
  func described(_ path: any PartialKeyPath<M> & Sendable) -> String {
    if let index = fieldIndex(of: path) { return schema.fields[index].name }
    return list(at: path)?.name ?? keyPathText(path)
  }

  /// The list at `path`, or nil when `path` is none.
  func list(at path: any PartialKeyPath<M> & Sendable) -> ListSchema? {
    lists[FieldPath(path: path)]
  }

  /// The list of another record at `path`, or nil when `path` is none.
  func sharedList(at path: any PartialKeyPath<M> & Sendable) -> SharedList? {
    sharedLists.isEmpty ? nil : sharedLists[FieldPath(path: path)]
  }

  /// The list of another record, which every record shares that refers to that one.
  struct SharedList: Sendable {
    fileprivate let field: FieldPath
    /// Names the model whose records own such lists, and the list; nil for what is not a list.
    let holder: @Sendable () -> (model: String, list: String)?

    init(
      through field: any PartialKeyPath<M> & Sendable,
      holder: @escaping @Sendable () -> (model: String, list: String)?
    ) {
      self.field = FieldPath(path: field)
      self.holder = holder
    }
  }

  /// The position of the field that refers to the record whose list it is.
  func fieldIndex(of shared: SharedList) -> Int? { indices[shared.field] }

  /// The key path of the field at `index`.
  package func path(at index: Int) -> any PartialKeyPath<M> & Sendable {
    paths[index]
  }

  /// A key path as a dictionary key: `PartialKeyPath` alone would lose that it is Sendable.
  fileprivate struct FieldPath: Hashable, Sendable {
    let path: any PartialKeyPath<M> & Sendable

    static func == (left: FieldPath, right: FieldPath) -> Bool { left.path == right.path }

    func hash(into hasher: inout Hasher) { path.hash(into: &hasher) }
  }
}

/// One stored property of a model and the column it lives in.
public struct ModelField<M: Model>: Sendable {
  let schema: FieldSchema
  let rules: [FieldRule]
  let valueType: any ColumnValue.Type
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
    valueType = Value.self
    self.path = path
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

  /// The list of another record, to which a field of this model refers. Records that refer to the
  /// same record share its list: what is done to it through one of them is done for all.
  ///
  /// ```swift
  /// lists: [ModelList("songs", \.songs, sharing: \Mix.songs, through: \.mixID)]
  /// ```
  ///
  /// - Parameters:
  ///   - name: The property's name.
  ///   - list: The list of the record that is referred to. It goes with that record.
  ///   - field: Holds the key of that record.
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

  /// nil for a list that belongs to another model.
  fileprivate func schema(owner: String) -> ListSchema? {
    guard shared == nil else { return nil }
    return ListSchema(
      name: name, elementTable: elementTable, slotTable: adopted?.table ?? "\(owner)_\(name)",
      columns: adopted?.columns)
  }
}

/// A key path for messages. Swift describes a computed property by an address in memory, which says
/// nothing; its type does.
private func keyPathText<Root>(_ path: any PartialKeyPath<Root> & Sendable) -> String {
  let text = "\(path)"
  guard text.contains("<computed 0x") else { return text }
  return "A computed property of type \(type(of: path).valueType)"
}
