internal import Synchronization

/// The models and validators in effect for every store on one file.
///
/// It changes only on the writer's queue and is read on any thread. A ``ModelRegistry`` is
/// immutable: a change replaces it.
final class CurrentSchema: Sendable {
  private struct State {
    var models = ModelRegistry(schema: StoreSchema(models: []))
    var validators: [Validator] = []
    /// The names of the models that stores on the file have declared since it was opened.
    var declaredModels: Set<ExactText> = []
    var generation: UInt64 = 0
  }

  private let state = Mutex(State())

  var models: ModelRegistry { state.withLock { $0.models } }

  /// The validators in the order in which they run.
  var validators: [Validator] { state.withLock { $0.validators } }

  /// Whether a store on the file has declared a model called `name` since it was opened.
  func isDeclared(_ name: String) -> Bool {
    state.withLock { $0.declaredModels.contains(ExactText(name)) }
  }

  /// Adds the models of `declarations` and puts its validators into effect.
  ///
  /// A validator replaces an existing one of the same name. Otherwise it comes last in its scope.
  func add(_ declarations: Declarations) {
    state.withLock { state in
      state.declaredModels.formUnion(declarations.models.map { ExactText($0.name) })
      for validator in declarations.validators {
        if let place = state.validators.firstIndex(where: { $0.name == validator.name }) {
          state.validators[place] = validator
        } else {
          state.validators.append(validator)
        }
      }
      // Validators of equal scope keep their order.
      state.validators = state.validators.enumerated()
        .sorted { ($0.element.scope.rawValue, $0.offset) < ($1.element.scope.rawValue, $1.offset) }
        .map(\.element)
      state.generation += 1
    }
  }

  // Reading the file

  /// Reads the file's schema again after a change, and puts it into effect.
  ///
  /// - Parameters:
  ///   - declared: Additional declarations, as for ``known(on:declaring:)``.
  ///   - left: The names of adopted models that this process has removed from the catalog.
  ///   - read: The catalog that was just read from the file; nil if none was.
  func reload(
    _ writer: inout Writer, declaring declared: [ModelSchema] = [], leaving left: Set<String> = [],
    having read: FiledCatalog? = nil
  ) throws {
    // Reads one state of the file, so that the schema version is valid for everything that is read.
    try writer.connection.inOneState {
      let connection = writer.connection
      var filed = read
      if try filed?.schemaVersion != connection.schemaVersion() {
        filed = try FiledCatalog(reading: connection)
      }
      if filed?.vouches(for: FiledCatalog.file) == false { filed = nil }
      let schema =
        if let filed, self.models.schema.isEmpty {
          Self.schema(filed.models, declaring: declared)
        } else {
          StoreSchema(
            models: try known(on: connection, declaring: declared)
              .filter { !left.contains($0.name) })
        }
      // If the journal's triggers are known to be correct, they are not compared with the models.
      let journaled = filed == nil ? try self.filed(schema.models, on: connection) : []
      try writer.adopt(schema, journaled: journaled, inOrder: filed)
    }
    let models = writer.models
    state.withLock { state in
      state.models = models
      state.generation += 1
    }
  }

  /// Returns the models of a file that was checked and correct. No model is known here yet.
  private static func schema(
    _ filed: [FiledText], declaring declared: [ModelSchema]
  ) -> StoreSchema {
    guard !declared.isEmpty else { return StoreSchema(filed: filed) }
    let names = Set(declared.map(\.name))
    let tables = Set(declared.map { ExactText($0.table.asciiFolded) })
    let others = filed.filter { !names.contains($0.name) }
      .compactMap { FiledEntries<ModelSchema>.entry($0) }
      .filter { !tables.contains(ExactText($0.table.asciiFolded)) }
    return StoreSchema(models: declared + others)
  }

  /// Returns the models of the file. Each table has one model, whose changes are published.
  ///
  /// If several sources describe a model or table, the first in this order applies:
  ///
  /// 1. The models in `declared`.
  /// 2. Models that a program declared in Swift through a `Store` on the file in this process.
  /// 3. The catalog's entries. For an adopted model the catalog is the authority: another store or
  ///    program may have changed the types of its fields.
  /// 4. Other models that are known here.
  ///
  /// A model stays unchanged when its entry has other fields, another order of fields or another
  /// key. Programs, queries and observers in this process address its fields by position.
  func known(
    on connection: Connection, declaring declared: [ModelSchema]
  ) throws -> [ModelSchema] {
    let present = models.schema.models
    let filed = try CatalogEntries.models.understood(on: connection)
    let kept = present.filter { model in
      isDeclared(model.name) && !model.isAdopted || hasOtherPlaces(model, than: filed)
    }
    var known = declared
    var names = Set(declared.map(\.name))
    var tables = Set(declared.map { ExactText($0.table.asciiFolded) })
    for model in kept + filed + present {
      let table = ExactText(model.table.asciiFolded)
      guard !names.contains(model.name), !tables.contains(table) else { continue }
      names.insert(model.name)
      tables.insert(table)
      known.append(model)
    }
    return known
  }

  /// Returns the models of ``known(on:declaring:)``, with adopted models as the file describes
  /// them.
  ///
  /// Their field positions in this process make no difference. The file's triggers follow these
  /// models.
  func filed(
    on connection: Connection, declaring declared: [ModelSchema] = []
  ) throws -> [ModelSchema] {
    try filed(try known(on: connection, declaring: declared), on: connection)
  }

  private func filed(
    _ models: [ModelSchema], on connection: Connection
  ) throws -> [ModelSchema] {
    let adopted = models.filter(\.isAdopted)
    guard !adopted.isEmpty else { return models }
    let entries = Dictionary(
      try CatalogEntries.models.understood(on: connection).map { ($0.name, $0) }
    ) { first, _ in first }
    return models.compactMap { model in model.isAdopted ? entries[model.name] : model }
  }

  /// Returns whether the table's entry has another name or other field positions.
  private func hasOtherPlaces(_ model: ModelSchema, than filed: [ModelSchema]) -> Bool {
    func hasSame(_ names: [String], _ others: [String]) -> Bool {
      names.elementsEqual(others) { $0.isExactly($1) }
    }
    let entry = filed.first { $0.name == model.name || $0.hasTable(of: model) }
    guard let entry else { return false }
    return !entry.name.isExactly(model.name) || !entry.hasTable(of: model)
      || !hasSame(entry.fields.map(\.name), model.fields.map(\.name))
      || !hasSame(entry.key, model.key)
  }

  // Capturing

  /// A number that changes whenever ``interests(of:and:)`` may have changed.
  func captureGeneration(with broker: ChangeBroker) -> UInt64 {
    broker.generation &+ state.withLock { $0.generation } << 32
  }

  /// Returns the fields to capture for each model that observers or validators need; nil means all.
  func interests(of validators: [Validator], and broker: ChangeBroker) -> [String: Set<Int>?] {
    var interests = broker.interests()
    for validator in validators {
      for model in validator.models {
        guard let fields = validator.fields, let known = interests[model] ?? .some([]) else {
          interests[model] = .some(nil)
          continue
        }
        interests[model] = known.union(fields)
      }
    }
    return interests
  }
}
