internal import Synchronization

/// The models of one version of the schema with the statements for them. Immutable: a change of
/// schema makes a new registry.
final class ModelRegistry: Sendable {
  let schema: StoreSchema
  /// Those that were added to models, beside those in their tables' definitions.
  let rules: [Rule]
  /// Those of them that can be asked about a record: they are about these models, in words that
  /// SQLite takes.
  let judgedRules: [Rule]
  let raisers: [RaisingTrigger]
  let captured: CaptureFacts
  /// The models whose changes the change journal is to enter, by triggers that are not as they
  /// should be.
  let damagedJournals: Set<String>
  /// What the file contains.
  let catalog: Catalog
  private let bindings: [BindingSchema]
  /// Whether a refused statement may end the whole transaction, by a trigger or by a table's own
  /// conflict clause.
  let mayRollBack: Bool
  private let statements: [String: RecordSQL]
  /// The type checks are done once per model type and registry.
  private let known = Mutex<[ObjectIdentifier: RecordSQL]>([:])
  private let probes = Mutex<[String: RecordProbe]>([:])
  private let followed = Mutex<FollowedBindings?>(nil)

  /// - Parameters:
  ///   - tablesWithTriggers: The names of those whose triggers may change a record as it is
  ///     written, ASCII letters in lower case.
  ///   - raisers: The triggers that may refuse a write.
  ///   - bindings: Those of the file.
  ///   - catalog: What the file contains.
  ///   - captured: What capture has to know of the file.
  ///   - damagedJournals: The models whose changes the change journal may miss.
  init(
    schema: StoreSchema, rules: [Rule] = [], judgedRules: [Rule] = [],
    tablesWithTriggers: Set<String> = [], raisers: [RaisingTrigger] = [],
    bindings: [BindingSchema] = [], catalog: Catalog = Catalog(schemaVersion: 0, tables: []),
    captured: CaptureFacts = CaptureFacts(), damagedJournals: Set<String> = []
  ) {
    self.bindings = bindings
    self.catalog = catalog
    self.schema = schema
    self.rules = rules
    self.judgedRules = judgedRules
    self.raisers = raisers
    self.captured = captured
    self.damagedJournals = damagedJournals
    mayRollBack =
      raisers.contains { $0.endsTransactions }
      || catalog.tables.contains { SQLTokens($0.sql).rollsBack }
    statements = Dictionary(
      uniqueKeysWithValues: schema.models.map { model in
        let hasTriggers = tablesWithTriggers.contains(model.table.asciiFolded)
        return (model.name, RecordSQL(schema: model, hasTriggers: hasTriggers))
      })
  }

  /// - Throws: ``StoreError`` with code `unknownModel` when the store was opened without the type.
  func statements<M: Model>(for model: M.Type) throws -> RecordSQL {
    let identity = ObjectIdentifier(model)
    if let found = known.withLock({ $0[identity] }) { return found }
    let name = M.schema.name
    guard let found = statements[name],
      found.schema.fields.map(\.name) == M.schema.fields.map(\.name)
    else {
      throw Self.unknown(name)
    }
    known.withLock { $0[identity] = found }
    return found
  }

  private static func unknown(_ name: String) -> StoreError {
    StoreError(
      .unknownModel, "\(name) is not a model of this store; pass it to Store(at:models:).",
      model: name)
  }

  func statements(for schema: ModelSchema) -> RecordSQL {
    statements[schema.name] ?? RecordSQL(schema: schema)
  }

  /// What holds a record of `schema` against the rules about it alone; made when first asked for.
  func probe(of schema: ModelSchema) throws -> RecordProbe {
    if let probe = probes.withLock({ $0[schema.name] }) { return probe }
    let probe = try RecordProbe(schema, rules: judgedRules)
    return probes.withLock { probes in
      if let present = probes[schema.name] { return present }
      probes[schema.name] = probe
      return probe
    }
  }

  /// Which changes in the journal the file's bindings made; made when first asked for.
  var followedBindings: FollowedBindings {
    followed.withLock { known in
      if let known { return known }
      let made = FollowedBindings(bindings, in: schema.models)
      known = made
      return made
    }
  }

  /// What SQLite or a model's code threw, as the error that callers see.
  func storeError(_ error: any Error, about schema: ModelSchema?) -> any Error {
    if let error = error as? SQLiteError,
      let missing = StoreError(missingFunction: error, of: bindings)
    {
      return missing
    }
    if let error = error as? SQLiteError,
      let outdated = StoreError(
        outdatedIn: error, models: self.schema.models, in: catalog)
    {
      return outdated
    }
    if let error = error as? SQLiteError, let schema, statements[schema.name] == nil,
      error.message.hasPrefix("no such table: ")
    {
      return Self.unknown(schema.name)
    }
    if let error = error as? SQLiteError, let schema,
      let missing = StoreError(missingObjectIn: error, about: schema, in: catalog)
    {
      return missing
    }
    return Self.storeError(
      error,
      translation: ConstraintTranslation(
        models: self.schema.models, rules: rules, raisers: raisers), about: schema)
  }

  static func storeError(
    _ error: any Error, models: [ModelSchema], rules: [Rule] = [], about schema: ModelSchema?
  ) -> any Error {
    storeError(
      error, translation: ConstraintTranslation(models: models, rules: rules), about: schema)
  }

  private static func storeError(
    _ error: any Error, translation: @autoclosure () -> ConstraintTranslation,
    about schema: ModelSchema?
  ) -> any Error {
    switch error {
    case let error as SQLiteError:
      translation().storeError(
        for: error, in: ConstraintTranslation.Context(model: schema?.name))
    case let error as ColumnError:
      schema.map { StoreError(error, reading: $0) } ?? StoreError(.invalidValue, "\(error)")
    default: error
    }
  }
}

/// A trigger that may refuse a write with a text of its own.
struct RaisingTrigger: Hashable, Sendable {
  let name: String
  let table: String
  let sql: String

  /// Whether it may refuse by rolling the whole transaction back.
  var endsTransactions: Bool { SQLTokens(sql).rollsBack }

  /// Whether the trigger says exactly this when it refuses.
  func says(_ message: String) -> Bool {
    sql.contains(SQLText.literal(message))
  }
}
