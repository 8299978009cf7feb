/// What opening a store does to its file: adds what the models declare and the file lacks, as far
/// as the configuration allows, and refuses the rest with a list.
struct SchemaUpdate {
  /// Everything that differs, before anything is done.
  let differences: [SchemaDifference]
  private let models: [ModelSchema]

  /// - Throws: ``StoreError`` with code `unsupportedSchema` when the models contradict themselves.
  init(_ models: [ModelSchema], in catalog: Catalog) throws(StoreError) {
    try SchemaValidation(models).check()
    self.models = models
    differences = SchemaDifference.differences(of: models, in: catalog)
  }

  /// - Throws: ``StoreError`` with code `schemaMismatch` that lists every difference that opening
  ///   may not remove under `changes`.
  func check(allowing changes: StoreConfiguration.SchemaChanges) throws(StoreError) {
    let remaining = differences.filter { !Self.allows(changes, $0) }
    guard !remaining.isEmpty else { return }
    let list = remaining.map { "\n- \($0.sentence)" }.joined()
    let canBeAdded = remaining.allSatisfy(\.isAdditive)
    let remedy =
      canBeAdded
      ? "All of it can be added: open with schemaChanges = .additive, or write a migration."
      : "Write a migration, or change the models."
    throw StoreError(
      .schemaMismatch,
      "The file differs from the declared models; nothing was changed. \(remedy)\(list)",
      model: Set(remaining.map(\.model)).count == 1 ? remaining[0].model : nil)
  }

  /// Adds what is missing. Call ``check(allowing:)`` first.
  ///
  /// - Precondition: `connection` is in a write transaction, begun before the catalog was read.
  /// - Throws: ``SQLiteError``, for example when records that exist break the rule of a new field;
  ///   the caller rolls back.
  func apply(on connection: Connection) throws {
    precondition(connection.isInTransaction, "A schema changes only inside a transaction.")
    let differences = Dictionary(grouping: differences, by: \.model)
    for model in models {
      for difference in differences[model.name] ?? [] {
        try remove(difference, of: model, on: connection)
      }
    }
  }

  private func remove(
    _ difference: SchemaDifference, of model: ModelSchema, on connection: Connection
  ) throws {
    let sql = SchemaSQL(model)
    switch difference.kind {
    case .missingTable:
      for statement in sql.statements { try connection.run(statement) }
    case .missingColumn(let name, nil):
      for field in model.fields where field.name == name {
        try AddedColumns.run(sql.addColumn(field), on: connection)
      }
    case .missingIndex(let index):
      try connection.run(sql.index(index))
    default:
      preconditionFailure("Opening cannot remove this difference: \(difference.sentence)")
    }
  }

  private static func allows(
    _ changes: StoreConfiguration.SchemaChanges, _ difference: SchemaDifference
  ) -> Bool {
    switch changes {
    case .none: false
    case .createTables: difference.kind == .missingTable && difference.isAdditive
    case .additive: difference.isAdditive
    }
  }
}
