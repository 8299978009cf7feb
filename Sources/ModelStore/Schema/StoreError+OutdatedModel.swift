extension StoreError {
  /// That tables of adopted models have changed, and what brings the models up to date.
  ///
  /// - Parameter drift: Of adopted models; at least one.
  init(outdated drift: [SchemaDrift]) {
    let models = drift.map { model in
      let sentences = model.differences.compactMap(\.sentence).joined(separator: " ")
      return "\(model.owner.name): \(sentences)"
    }
    let isOne = drift.count == 1
    self.init(
      .outdatedModel,
      (isOne ? "The table of an adopted model has changed." : "Tables of adopted models have changed.")
        + " \(models.joined(separator: " ")) Refresh the model\(isOne ? "" : "s") with "
        + "Store.refreshAdopted or storecli adopt --refresh.",
      model: isOne ? drift[0].owner.name : nil)
  }

  /// That SQLite refused a statement because the table of an adopted model has changed; nil for
  /// another failure.
  ///
  /// - Parameters:
  ///   - schema: The model that the statement is about, where one is known. Its triggers and
  ///     foreign keys may lead to another model.
  ///   - models: All models.
  init?(
    outdatedIn error: SQLiteError, about schema: ModelSchema?, models: [ModelSchema],
    in catalog: Catalog
  ) {
    guard error.code.primary == .error,
      Self.complaints.contains(where: { error.message.contains($0) })
    else { return nil }
    let adopted = ((schema.map { [$0] } ?? []) + models).filter(\.isAdopted)
    let drift = AdoptedModel.all(adopted.withoutRepeats, in: catalog).compactMap(\.drift)
    let message = error.message.asciiFolded
    let concerned = drift.first { model in
      model.owner.name == schema?.name
        || model.differences.contains { message.contains($0.name.asciiFolded) }
    }
    guard let concerned else { return nil }
    self.init(outdated: [concerned])
    sqliteCode = error.code.rawValue
  }

  /// How SQLite's messages about what is not there, or is not a table, begin or go on.
  private static let complaints = [
    "no such table: ", "no such column: ", "has no column named ", "because it is a view",
    "foreign key mismatch",
  ]
}

extension [ModelSchema] {
  /// Each model once, by its name.
  fileprivate var withoutRepeats: [ModelSchema] {
    var names: Set<String> = []
    return filter { names.insert($0.name).inserted }
  }
}
