extension StoreError {
  /// Creates the error for a model's table that needs something only another program registers; nil
  /// for another failure.
  ///
  /// A function counts only if the file's schema names it, because a statement may name one too.
  init?(
    missingObjectIn error: SQLiteError, about schema: ModelSchema,
    in catalog: @autoclosure () throws -> Catalog
  ) rethrows {
    let missing: [MissingObject]
    if error.isWithoutSolution {
      missing = try catalog().table(named: schema.table)?.missingCollations ?? []
    } else if let object = MissingObject(error) {
      if case .function(let name) = object, try !catalog().mentions(function: name) {
        guard error.message.hasPrefix("unknown function") else { return nil }
      }
      missing = [object]
    } else {
      return nil
    }
    guard !missing.isEmpty else { return nil }
    self.init(
      .unsupportedSchema,
      Self.sentence(schema.table, needs: missing)
        + " Use the program that created the table, or have it copy the rows into a table without it.",
      model: schema.name, sqliteCode: error.code.rawValue)
  }

  /// Returns a sentence such as "tags needs the collation unicase, which this program does not
  /// have."
  static func sentence(_ table: String, needs missing: [MissingObject]) -> String {
    let phrases = missing.map(\.phrase).joined(separator: " and ")
    return "\(table) needs \(phrases), which this program does not have."
  }
}
