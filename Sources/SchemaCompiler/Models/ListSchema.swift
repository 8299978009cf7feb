/// An ordered list that each record of a model owns. Its elements are records of another model.
public struct ListSchema: Hashable, Sendable, Codable {
  /// The columns of an adopted table whose rows are the slots of lists.
  public struct Columns: Hashable, Sendable, Codable {
    /// The column with the key of the record that owns the list.
    package var owner: String
    /// The column with the key of the element.
    package var element: String
    /// The column with the position, an integer that orders the elements of a list.
    package var position: String

    /// Describes the columns without checking them; adopting checks them.
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
  /// The table of the slots, with one row for each element of each record's list.
  package var slotTable: String
  /// The meaning of the columns of an adopted table; nil for a table that the store creates.
  package var columns: Columns?

  /// Describes a list without checking it; opening or adopting checks it.
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
  /// The names of the slot model's fields in a table that the store creates.
  package enum Field {
    package static let slot = "slot"
    package static let owner = "owner"
    package static let label = "label"
    package static let element = "element"
  }

  /// Returns the slots as a model of their own. So their table is created, captured and queried
  /// like any other. A slot is deleted together with its owner or element.
  ///
  /// - Precondition: The store creates the table.
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
        // For deleting the slots of an element, and for finding every occurrence of an element in a
        // list.
        IndexSchema(name: "\(slotTable).element", fields: [Field.element, Field.owner]),
      ])
  }

  /// Returns the name of the model that holds the list's slots.
  package func slotModelName(of owner: ModelSchema) -> String { "\(owner.name).\(name)" }
}

extension ModelSchema {
  fileprivate var onlyKeyField: FieldSchema? { key.count == 1 ? field(named: key[0]) : nil }
}

extension [ModelSchema] {
  /// Returns these models and the slot models of lists in the store's own tables, each after its
  /// owner.
  ///
  /// - Throws: ``StoreError`` with code `unsupportedSchema` for a list that is not supported.
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

  /// Returns these models, followed by the slot models of lists in adopted tables.
  ///
  /// - Parameters:
  ///   - catalog: Read only if there is such a list.
  ///   - known: Further models that elements may belong to.
  /// - Throws: ``StoreError`` with code `unsupportedSchema` for a list that is not supported.
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
