internal import Synchronization

/// The models of one version of the schema with the statements for them. Immutable: a change of
/// schema makes a new registry.
final class ModelRegistry: Sendable {
  let schema: StoreSchema
  /// What the file contains.
  let facts: FileFacts
  /// The models whose changes the change journal is to enter, by triggers that are not as they
  /// should be.
  let damagedJournals: Set<String>
  private let filed: Filed
  /// The names of tables whose triggers may change a record as it is written, folded.
  private let tablesWithTriggers: Set<String>
  private let statements = Mutex<[String: RecordSQL]>([:])
  /// The type checks are done once per model type and registry.
  private let known = Mutex<[ObjectIdentifier: RecordSQL]>([:])
  private let probes = Mutex<[String: RecordProbe]>([:])
  private let followed = Mutex<FollowedBindings?>(nil)

  /// What the file's catalog has beside models.
  struct Filed: Sendable {
    var rules = FiledEntries<Rule>([Rule]())
    /// Those of the rules that can be asked about a record.
    var judgedRules = FiledEntries<Rule>([Rule]())
    var bindings = FiledEntries<BindingSchema>([BindingSchema]())
  }

  /// Those that were added to models, beside those in their tables' definitions.
  var rules: [Rule] { filed.rules.all }

  /// Those of them that can be asked about a record: they are about these models, in words that
  /// SQLite takes.
  var judgedRules: [Rule] { filed.judgedRules.all }

  private var bindings: [BindingSchema] { filed.bindings.all }

  /// - Parameters:
  ///   - tablesWithTriggers: The names of those whose triggers may change a record as it is
  ///     written, ASCII letters in lower case.
  ///   - damagedJournals: The models whose changes the change journal may miss.
  init(
    schema: StoreSchema, filed: Filed = Filed(), facts: FileFacts = FileFacts(reader: nil),
    tablesWithTriggers: Set<String> = [], damagedJournals: Set<String> = []
  ) {
    self.schema = schema
    self.filed = filed
    self.facts = facts
    self.tablesWithTriggers = tablesWithTriggers
    self.damagedJournals = damagedJournals
  }

  /// - Throws: ``StoreError`` with code `unknownModel` when the store was opened without the type.
  func statements<M: Model>(for model: M.Type) throws -> RecordSQL {
    let identity = ObjectIdentifier(model)
    if let found = known.withLock({ $0[identity] }) { return found }
    let name = M.schema.name
    guard let found = statements(named: name),
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
    statements(named: schema.name) ?? RecordSQL(schema: schema)
  }

  /// The statements for the model called `name`; nil when there is none.
  private func statements(named name: String) -> RecordSQL? {
    if let known = statements.withLock({ $0[name] }) { return known }
    guard let model = schema.knownModel(named: name) else { return nil }
    let hasTriggers = tablesWithTriggers.contains(model.table.asciiFolded)
    let made = RecordSQL(schema: model, hasTriggers: hasTriggers)
    statements.withLock { $0[name] = made }
    return made
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
    if let error = error as? SQLiteError, let schema, !self.schema.contains(schema.name),
      error.message.hasPrefix("no such table: ")
    {
      return Self.unknown(schema.name)
    }
    let original = error
    do {
      if let error = error as? SQLiteError,
        let outdated = try StoreError(
          outdatedIn: error, models: self.schema.models, in: try facts.catalog())
      {
        return outdated
      }
      if let error = error as? SQLiteError, let schema,
        let missing = try StoreError(
          missingObjectIn: error, about: schema, in: try facts.catalog())
      {
        return missing
      }
      let saysItself = (error as? SQLiteError)?.code == .constraintTrigger
      let raisers = saysItself ? try facts.raisers() : []
      return Self.storeError(
        error,
        translation: ConstraintTranslation(
          models: self.schema.models, rules: rules, raisers: raisers), about: schema)
    } catch {
      // Without what the file contains, the error says less. It is what the caller has to know.
      return Self.storeError(original, models: self.schema.models, rules: rules, about: schema)
    }
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
