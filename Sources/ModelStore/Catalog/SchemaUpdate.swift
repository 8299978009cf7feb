/// The schema changes at opening: it adds what the models declare and the file lacks, if the
/// configuration allows it. It rejects all other differences with a list.
struct SchemaUpdate {
  /// All differences before any change.
  let differences: [SchemaDifference]
  private let models: [ModelSchema]

  /// - Throws: ``StoreError`` with code `unsupportedSchema` if the models contradict each other.
  init(_ models: [ModelSchema], in catalog: Catalog) throws(StoreError) {
    try SchemaValidation(models).check()
    self.models = models
    differences = SchemaDifference.differences(of: models, in: catalog)
  }

  /// - Throws: ``StoreError`` with code `schemaMismatch` that lists every difference that `changes`
  ///   does not allow to remove.
  func check(allowing changes: StoreConfiguration.SchemaChanges) throws(StoreError) {
    let remaining = differences.filter { !Self.allows(changes, $0) }
    guard !remaining.isEmpty else { return }
    let list = remaining.map { "\n- \($0.sentence)" }.joined()
    let canBeAdded = remaining.allSatisfy(\.isAdditive)
    let remedy =
      canBeAdded
      ? "The store can add everything: open with schemaChanges = .additive, or write a migration."
      : "Write a migration, or change the models."
    throw StoreError(
      .schemaMismatch,
      "The file differs from the declared models; nothing was changed. \(remedy)\(list)",
      model: Set(remaining.map(\.model)).count == 1 ? remaining[0].model : nil)
  }

  /// The plan that adds everything that is missing. Call ``check(allowing:)`` first.
  ///
  /// Applying it may fail, for example if existing records break the rule of a new field.
  var plan: SchemaPlan {
    var plan = SchemaPlan()
    let differences = Dictionary(grouping: differences, by: \.model)
    for model in models {
      for difference in differences[model.name] ?? [] {
        Self.add(difference, of: model, to: &plan)
      }
    }
    return plan
  }

  private static func add(
    _ difference: SchemaDifference, of model: ModelSchema, to plan: inout SchemaPlan
  ) {
    let sql = SchemaSQL(model)
    switch difference.kind {
    case .missingTable:
      plan.created += sql.objects
    case .missingColumn(let name, nil):
      plan.addedColumns += model.fields.filter { $0.name == name }.map(sql.addColumn)
    case .missingIndex(let index):
      plan.created.append(sql.index(index))
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
    // Under .migrate the plan decides about everything else.
    case .additive, .migrate: difference.isAdditive
    }
  }
}
