internal import Synchronization

/// The models of one version of the schema with the statements for them. Immutable: a change of
/// schema makes a new registry.
final class ModelRegistry: Sendable {
  let schema: StoreSchema
  private let statements: [String: RecordSQL]
  /// The type checks are done once per model type and registry.
  private let known = Mutex<[ObjectIdentifier: RecordSQL]>([:])

  /// - Parameter tablesWithTriggers: Their names, ASCII letters in lower case.
  init(schema: StoreSchema, tablesWithTriggers: Set<String>) {
    self.schema = schema
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
      throw StoreError(
        .unknownModel, "\(name) is not a model of this store; pass it to Store(at:models:).",
        model: name)
    }
    known.withLock { $0[identity] = found }
    return found
  }

  func statements(for schema: ModelSchema) -> RecordSQL {
    statements[schema.name] ?? RecordSQL(schema: schema)
  }

  /// What SQLite or a model's code threw, as the error that callers see.
  func storeError(_ error: any Error, about schema: ModelSchema?) -> any Error {
    Self.storeError(error, models: self.schema.models, about: schema)
  }

  static func storeError(
    _ error: any Error, models: [ModelSchema], about schema: ModelSchema?
  ) -> any Error {
    switch error {
    case let error as SQLiteError:
      ConstraintTranslation(models: models).storeError(
        for: error, in: ConstraintTranslation.Context(model: schema?.name))
    case let error as ColumnError:
      schema.map { StoreError(error, reading: $0) } ?? StoreError(.invalidValue, "\(error)")
    default: error
    }
  }
}
