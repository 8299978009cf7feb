extension StoreError {
  /// Creates the error for changed tables of adopted models, with the command that updates the
  /// models.
  ///
  /// - Parameter drift: The drift of adopted models; at least one.
  package init(outdated drift: [SchemaDrift]) {
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

  /// Creates the error for a statement that failed because the table of an adopted model has
  /// changed; nil for another failure.
  ///
  /// - Parameters:
  ///   - models: All models, because triggers and foreign keys of one model may use another.
  ///   - catalog: Evaluated only if the message may concern an adopted model.
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

  /// Returns the table or column that SQLite reports as missing or as not a table, in lower case;
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
