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
  ///   - models: All models. The triggers and foreign keys of one may lead to another.
  ///   - catalog: Asked for only where the message may be about an adopted model.
  init?(
    outdatedIn error: SQLiteError, models: @autoclosure () -> [ModelSchema],
    in catalog: @autoclosure () throws -> Catalog
  ) rethrows {
    guard error.code.primary == .error, let missing = Self.complaint(in: error.message) else {
      return nil
    }
    let drift = AdoptedModel.all(models(), in: try catalog()).compactMap(\.drift)
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

  /// The table or column that SQLite reports as missing or as no table, in lower case;
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
