internal import Synchronization

/// Every model that a store knows: those that the program declares and those that its file
/// describes.
public struct StoreSchema: Sendable {
  private let entries: Entries

  /// In the order of declaration; models known only from the file follow, sorted by name.
  public var models: [ModelSchema] { entries.models }

  /// - Precondition: Names are unique.
  package init(models: [ModelSchema]) {
    entries = Entries(models)
  }

  /// Creates the models that a file describes; each is decoded on first use.
  ///
  /// - Precondition: The file was checked: names and tables are unique, and every entry can be
  ///   decoded.
  package init(filed texts: [FiledText]) {
    entries = Entries(texts)
  }

  /// Returns the model called `name`.
  ///
  /// - Throws: ``StoreError`` with code `unknownModel` when it does not exist.
  public func model(named name: String) throws -> ModelSchema {
    guard let model = entries.model(named: name) else {
      throw StoreError(.unknownModel, "There is no model \(name) in this store.", model: name)
    }
    return model
  }

  /// Returns the model called `name`; nil when it does not exist.
  package func knownModel(named name: String) -> ModelSchema? { entries.model(named: name) }

  /// Returns whether the store has a model called `name`.
  package func contains(_ name: String) -> Bool { entries.places[name] != nil }

  /// Whether the store has no models.
  package var isEmpty: Bool { entries.places.isEmpty }

  /// The number of models decoded so far, for tests.
  package var decodedCount: Int { entries.decodedCount }

  /// The models that hold the slots of ordered lists.
  package var slotModels: [SlotModel] {
    entries.owners.flatMap { owner in
      owner.lists.compactMap { list in
        entries.model(named: list.slotModelName(of: owner)).flatMap { SlotModel($0, of: list) }
      }
    }
  }

  /// Returns the model that holds the slots of one list.
  ///
  /// - Throws: ``StoreError`` with code `unknownModel` when the store does not have it.
  package func slots(of list: ListSchema, of owner: ModelSchema) throws -> SlotModel {
    let schema = try model(named: list.slotModelName(of: owner))
    guard let slots = SlotModel(schema, of: list) else {
      throw StoreError(
        .misuse, "\(schema.name) does not hold the slots of a list.", model: schema.name)
    }
    return slots
  }

  package func model(ofTable table: String) -> ModelSchema? {
    models.first { $0.table == table }
  }
}

extension StoreSchema {
  /// The models by position, decoded or as texts from the file.
  private final class Entries: Sendable {
    let places: [String: Int]
    /// All models, if they were known from the start.
    private let known: [ModelSchema]?
    private let texts: [FiledText]
    private let decoded: Mutex<[Int: ModelSchema]>
    private let all = Mutex<[ModelSchema]?>(nil)

    init(_ models: [ModelSchema]) {
      places = Dictionary(
        uniqueKeysWithValues: models.enumerated().map { ($0.element.name, $0.offset) })
      known = models
      texts = []
      decoded = Mutex([:])
    }

    init(_ texts: [FiledText]) {
      places = Dictionary(
        texts.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { $1 })
      known = nil
      self.texts = texts
      decoded = Mutex([:])
    }

    var models: [ModelSchema] {
      if let known { return known }
      if let all = all.withLock({ $0 }) { return all }
      let made = texts.indices.compactMap { model(at: $0) }
      all.withLock { $0 = made }
      return made
    }

    var decodedCount: Int { known?.count ?? decoded.withLock { $0.count } }

    /// The models that may own lists.
    var owners: [ModelSchema] {
      known ?? texts.indices.filter { texts[$0].mayOwnLists }.compactMap { model(at: $0) }
    }

    func model(named name: String) -> ModelSchema? {
      places[name].flatMap { model(at: $0) }
    }

    private func model(at place: Int) -> ModelSchema? {
      if let known { return known[place] }
      return decoded.withLock { decoded in
        if let model = decoded[place] { return model }
        let model = FiledEntries<ModelSchema>.entry(texts[place])
        decoded[place] = model
        return model
      }
    }
  }
}
