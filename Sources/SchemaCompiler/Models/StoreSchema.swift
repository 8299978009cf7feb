/// Every model that a store knows: those declared by the program and those its file describes.
public struct StoreSchema: Sendable {
  /// In the order of declaration; models known only from the file follow, by name.
  public let models: [ModelSchema]
  private let places: [String: Int]

  /// - Precondition: Names are unique.
  package init(models: [ModelSchema]) {
    self.models = models
    places = Dictionary(
      uniqueKeysWithValues: models.enumerated().map { ($0.element.name, $0.offset) })
  }

  /// The model called `name`.
  ///
  /// - Throws: ``StoreError`` with code `unknownModel` when there is none.
  public func model(named name: String) throws -> ModelSchema {
    guard let place = places[name] else {
      throw StoreError(.unknownModel, "There is no model \(name) in this store.", model: name)
    }
    return models[place]
  }

  /// Whether the store has a model called `name`.
  public func contains(_ name: String) -> Bool { places[name] != nil }

  /// The models that hold the slots of ordered lists.
  package var slotModels: [SlotModel] {
    models.flatMap { owner in
      owner.lists.compactMap { list in
        places[list.slotModelName(of: owner)].flatMap { SlotModel(models[$0], of: list) }
      }
    }
  }

  /// The model that holds the slots of one list.
  ///
  /// - Throws: ``StoreError`` with code `unknownModel` when the store does not have it.
  package func slots(of list: ListSchema, of owner: ModelSchema) throws -> SlotModel {
    let schema = try model(named: list.slotModelName(of: owner))
    guard let slots = SlotModel(schema, of: list) else {
      throw StoreError(.misuse, "\(schema.name) holds no slots of a list.", model: schema.name)
    }
    return slots
  }

  package func model(ofTable table: String) -> ModelSchema? {
    models.first { $0.table == table }
  }
}
