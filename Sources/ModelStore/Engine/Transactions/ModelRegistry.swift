internal import Synchronization

/// The models of one schema version and their statements.
///
/// It is immutable: a schema change creates a new registry.
final class ModelRegistry: Sendable {
  let schema: StoreSchema
  /// Distinguishes this registry from every other of the process, including released ones.
  let number = ModelRegistry.numbers.add(1, ordering: .relaxed).newValue
  /// The contents of the file.
  let facts: FileFacts
  /// The models whose changes the journal should record, but whose triggers are not as expected.
  let damagedJournals: Set<String>
  private let filed: Filed
  private let obstacles: WritingObstacles
  private let statements = Mutex<[String: RecordSQL]>([:])
  /// The type checks run once per model type and registry.
  private let known = Mutex<[ObjectIdentifier: RecordSQL]>([:])
  private static let numbers = Atomic<UInt64>(0)
  private let probes = Mutex<[String: RecordProbe]>([:])
  private let followed = Mutex<FollowedBindings?>(nil)
  /// Nil for models whose records are inserted one by one.
  private let batchInsertions = Mutex<[String: BatchInsertion?]>([:])

  /// The entries of the file's catalog except models.
  struct Filed: Sendable {
    var rules = FiledEntries<Rule>([Rule]())
    /// The rules that can be evaluated for a record.
    var judgedRules = FiledEntries<Rule>([Rule]())
    var bindings = FiledEntries<BindingSchema>([BindingSchema]())
  }

  /// The rules that were added to models, in addition to those in their tables' definitions.
  var rules: [Rule] { filed.rules.all }

  /// The added rules that can be evaluated for a record: they are about these models, and SQLite
  /// accepts their SQL.
  var judgedRules: [Rule] { filed.judgedRules.all }

  private var bindings: [BindingSchema] { filed.bindings.all }

  /// Creates a registry.
  ///
  /// - Parameters:
  ///   - obstacles: What the writing of records may meet in their tables.
  ///   - damagedJournals: The models whose changes the change journal may miss.
  init(
    schema: StoreSchema, filed: Filed = Filed(), facts: FileFacts = FileFacts(reader: nil),
    obstacles: WritingObstacles = WritingObstacles(), damagedJournals: Set<String> = []
  ) {
    self.schema = schema
    self.filed = filed
    self.facts = facts
    self.obstacles = obstacles
    self.damagedJournals = damagedJournals
  }

  /// Returns the statements for a model type.
  ///
  /// - Throws: ``StoreError`` with code `unknownModel` if the store was opened without the type.
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

  /// Returns the statements for the model called `name`; nil if there is none.
  private func statements(named name: String) -> RecordSQL? {
    if let known = statements.withLock({ $0[name] }) { return known }
    guard let model = schema.knownModel(named: name) else { return nil }
    let table = model.table.asciiFolded
    let made = RecordSQL(
      schema: model, hasTriggers: obstacles.rewriting.contains(table),
      failsAsAWhole: !obstacles.halting.contains(table))
    statements.withLock { $0[name] = made }
    return made
  }

  /// Returns how records can be inserted many at a time; nil for one by one. It is found on first
  /// use.
  ///
  /// - Parameter connection: A connection that sees the schema of this registry.
  func batchInsertion(_ sql: RecordSQL, on connection: Connection) throws -> BatchInsertion? {
    let name = sql.schema.name
    if let known = batchInsertions.withLock({ $0[name] }) { return known }
    let made = try BatchInsertion(sql, on: connection)
    batchInsertions.withLock { $0[name] = .some(made) }
    return made
  }

  /// Returns the probe that checks a record of `schema` against its own rules. It is made on first
  /// use.
  func probe(of schema: ModelSchema) throws -> RecordProbe {
    if let probe = probes.withLock({ $0[schema.name] }) { return probe }
    let probe = try RecordProbe(schema, rules: judgedRules)
    return probes.withLock { probes in
      if let present = probes[schema.name] { return present }
      probes[schema.name] = probe
      return probe
    }
  }

  /// The bindings that made changes in the journal. It is made on first use.
  var followedBindings: FollowedBindings {
    followed.withLock { known in
      if let known { return known }
      let made = FollowedBindings(bindings, in: schema.models)
      known = made
      return made
    }
  }

  /// Returns an error of SQLite or of a model's code as the error that callers see.
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
      // Without the file's contents the error is less detailed. The original failure matters to the
      // caller.
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

/// A trigger that may refuse a write with its own message.
struct RaisingTrigger: Hashable, Sendable {
  let name: String
  let table: String
  let sql: String

  /// Whether the trigger may refuse by rolling the whole transaction back.
  var endsTransactions: Bool { SQLTokens(sql).rollsBack }

  /// Returns whether the trigger refuses with exactly this message.
  func says(_ message: String) -> Bool {
    sql.contains(SQLText.literal(message))
  }
}
