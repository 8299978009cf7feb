internal import Synchronization

/// Every model that a store knows: those declared by the program and those its file describes.
public struct StoreSchema: Sendable {
  private let entries: Entries

  /// In the order of declaration; models known only from the file follow, by name.
  public var models: [ModelSchema] { entries.models }

  /// - Precondition: Names are unique.
  package init(models: [ModelSchema]) {
    entries = Entries(models)
  }

  /// The models that a file describes, each decoded when it is asked for.
  ///
  /// - Precondition: The file was found in order: names and tables are unique, and every entry is
  ///   understood.
  package init(filed texts: [FiledText]) {
    entries = Entries(texts)
  }

  /// The model called `name`.
  ///
  /// - Throws: ``StoreError`` with code `unknownModel` when there is none.
  public func model(named name: String) throws -> ModelSchema {
    guard let model = entries.model(named: name) else {
      throw StoreError(.unknownModel, "There is no model \(name) in this store.", model: name)
    }
    return model
  }

  /// The model called `name`; nil when there is none.
  package func knownModel(named name: String) -> ModelSchema? { entries.model(named: name) }

  /// Whether the store has a model called `name`.
  package func contains(_ name: String) -> Bool { entries.places[name] != nil }

  /// Whether the store has no model at all.
  package var isEmpty: Bool { entries.places.isEmpty }

  /// How many models were decoded so far: what tests assert on.
  package var decodedCount: Int { entries.decodedCount }

  /// The models that hold the slots of ordered lists.
  package var slotModels: [SlotModel] {
    entries.owners.flatMap { owner in
      owner.lists.compactMap { list in
        entries.model(named: list.slotModelName(of: owner)).flatMap { SlotModel($0, of: list) }
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

extension StoreSchema {
  /// The models by place, decoded or as they stand in the file.
  private final class Entries: Sendable {
    let places: [String: Int]
    /// All models, where they were known from the beginning.
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
