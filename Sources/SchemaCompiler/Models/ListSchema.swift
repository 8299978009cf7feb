/// An ordered list that each record of a model owns; its elements are records of another model.
public struct ListSchema: Hashable, Sendable, Codable {
  /// The columns of a table of another design whose rows are the slots of lists.
  public struct Columns: Hashable, Sendable, Codable {
    /// Holds the key of the record that owns the list.
    package var owner: String
    /// Holds the key of the element.
    package var element: String
    /// Holds an integer; the elements of a list stand in its order.
    package var position: String

    /// Describes columns. Checks nothing: adopting does.
    public init(owner: String, element: String, position: String) {
      self.owner = owner
      self.element = element
      self.position = position
    }
  }

  /// The property's name.
  package var name: String
  /// The table of the elements' model.
  package var elementTable: String
  /// The table that holds the slots: one row for each element of each record's list.
  package var slotTable: String
  /// Which columns say what, where the table belongs to another design; nil for a table that the
  /// store makes.
  package var columns: Columns?

  /// Describes a list. Checks nothing: opening or adopting does.
  public init(
    name: String, elementTable: String, slotTable: String, columns: Columns? = nil
  ) {
    self.name = name
    self.elementTable = elementTable
    self.slotTable = slotTable
    self.columns = columns
  }
}

extension ListSchema {
  /// The names of the slot model's fields, where the store makes the table.
  package enum Field {
    package static let slot = "slot"
    package static let owner = "owner"
    package static let label = "label"
    package static let element = "element"
  }

  /// The slots as a model of their own, so that what holds for models holds for lists: the table
  /// is created, captured and queried like any other. Slots go when their owner or element goes.
  ///
  /// - Precondition: The store makes the table.
  /// - Returns: nil when owner or element has a key of several fields, which a slot cannot hold.
  func slotModel(owner: ModelSchema, element: ModelSchema) -> ModelSchema? {
    guard let ownerKey = owner.onlyKeyField, let elementKey = element.onlyKeyField
    else { return nil }
    return ModelSchema(
      name: slotModelName(of: owner), table: slotTable,
      fields: [
        FieldSchema(name: Field.slot, type: .integer, isRowID: true),
        FieldSchema(
          name: Field.owner, type: ownerKey.type, form: ownerKey.form,
          collation: ownerKey.collation,
          reference: ReferenceSchema(table: owner.table, onDelete: .cascade, onUpdate: .cascade)),
        FieldSchema(name: Field.label, type: .integer),
        FieldSchema(
          name: Field.element, type: elementKey.type, form: elementKey.form,
          collation: elementKey.collation,
          reference: ReferenceSchema(table: element.table, onDelete: .cascade, onUpdate: .cascade)),
      ],
      key: [Field.slot],
      indexes: [
        IndexSchema(name: "\(slotTable).order", fields: [Field.owner, Field.label]),
        // For the slots that go with an element, and for every occurrence of one in a list.
        IndexSchema(name: "\(slotTable).element", fields: [Field.element, Field.owner]),
      ])
  }

  /// The name of the model that holds the list's slots.
  package func slotModelName(of owner: ModelSchema) -> String { "\(owner.name).\(name)" }
}

extension ModelSchema {
  fileprivate var onlyKeyField: FieldSchema? { key.count == 1 ? field(named: key[0]) : nil }
}

extension [ModelSchema] {
  /// These models and the slot models of the lists that the store makes, each behind its owner.
  ///
  /// - Throws: ``StoreError`` with code `unsupportedSchema` for a list that cannot be kept.
  package func withSlotModels() throws(StoreError) -> [ModelSchema] {
    var all: [ModelSchema] = []
    for model in self {
      all.append(model)
      for list in model.lists where list.columns == nil {
        let element = try element(of: list, of: model)
        guard let slots = list.slotModel(owner: model, element: element) else {
          throw Self.keyProblem(list, model)
        }
        all.append(slots)
      }
    }
    return all
  }

  /// These models and, behind them, the slot models of the lists in tables of another design.
  ///
  /// - Parameters:
  ///   - catalog: Read when there is such a list.
  ///   - known: Further models that elements may be records of.
  /// - Throws: ``StoreError`` with code `unsupportedSchema` for a list that cannot be kept.
  package func withAdoptedSlots(
    in catalog: () throws -> Catalog, beside known: [ModelSchema]
  ) throws -> [ModelSchema] {
    var all = self
    for model in self {
      for list in model.lists where list.columns != nil {
        let element = try (self + known).element(of: list, of: model)
        guard model.onlyKeyField != nil, element.onlyKeyField != nil else {
          throw Self.keyProblem(list, model)
        }
        all.append(try Adoption(catalog: try catalog()).slots(of: list, of: model))
      }
    }
    return all
  }

  private func element(
    of list: ListSchema, of model: ModelSchema
  ) throws(StoreError) -> ModelSchema {
    let table = ExactText(list.elementTable.asciiFolded)
    guard let element = first(where: { ExactText($0.table.asciiFolded) == table }) else {
      throw StoreError(
        .unsupportedSchema,
        "\(model.name).\(list.name): the model of its elements, in the table \(list.elementTable), is not declared.",
        model: model.name, field: list.name)
    }
    return element
  }

  private static func keyProblem(_ list: ListSchema, _ model: ModelSchema) -> StoreError {
    StoreError(
      .unsupportedSchema,
      "\(model.name).\(list.name): a list needs an owner and elements with keys of one field.",
      model: model.name, field: list.name)
  }
}
