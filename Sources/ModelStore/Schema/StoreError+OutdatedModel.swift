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
      (isOne
        ? "The table of an adopted model has changed." : "Tables of adopted models have changed.")
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
    guard error.code.primary == .error, let missing = Self.complaint(in: error.message) else {
      return nil
    }
    let adopted = ((schema.map { [$0] } ?? []) + models).filter(\.isAdopted)
    let drift = AdoptedModel.all(adopted.withoutRepeats, in: catalog).compactMap(\.drift)
    let concerned = drift.first { model in
      model.differences.contains { difference in
        let name = difference.name.asciiFolded
        return (difference.reason == .missing || difference.subject == .table)
          && (missing == name || missing.hasSuffix(".\(name)"))
      }
    }
    guard let concerned else { return nil }
    self.init(outdated: [concerned])
    sqliteCode = error.code.rawValue
  }

  /// The table or column of which SQLite says that it is not there or is not a table, in lower case;
  /// nil for another message.
  private static func complaint(in message: String) -> String? {
    let parts = [
      ("no such table: ", ""), ("no such column: ", ""), ("has no column named ", ""),
      ("cannot modify ", " because it is a view"), (" referencing \"", "\""),
    ]
    for (start, end) in parts {
      guard let before = message.firstRange(of: start) else { continue }
      let rest = message[before.upperBound...]
      guard !end.isEmpty else { return String(rest).asciiFolded }
      guard let after = rest.firstRange(of: end) else { continue }
      return String(rest[..<after.lowerBound]).asciiFolded
    }
    return nil
  }
}

extension [ModelSchema] {
  /// Each model once, by its name.
  fileprivate var withoutRepeats: [ModelSchema] {
    var names: Set<String> = []
    return filter { names.insert($0.name).inserted }
  }
}
