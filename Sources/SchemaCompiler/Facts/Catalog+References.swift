extension Catalog {
  /// Rejects references of `models` that SQLite cannot follow. SQLite accepts them when the table
  /// is created, and then fails every write: <https://sqlite.org/foreignkeys.html#fk_indexes>.
  ///
  /// Adopted models are not checked, because another program designed them.
  ///
  /// - Throws: ``StoreError`` with code `unsupportedSchema`.
  package func checkReferences(of models: [ModelSchema]) throws(StoreError) {
    for model in models where model.kind == .table && !model.isAdopted {
      for field in model.fields {
        guard let reference = field.reference, let reason = problem(with: reference) else {
          continue
        }
        throw StoreError(
          .unsupportedSchema,
          "\(model.name).\(field.name) cannot refer to \(reference.table): \(reason).",
          model: model.name, field: field.name)
      }
    }
  }

  private func problem(with reference: ReferenceSchema) -> String? {
    guard let parent = table(named: reference.table), parent.kind == .table else {
      return "there is no such table; declare its model too"
    }
    guard let name = reference.column else {
      return parent.primaryKey.count == 1
        ? nil : "its key is not of one column; name a unique column"
    }
    guard let column = parent.column(named: name) else { return "it has no column \(name)" }
    return parent.isKey(column)
      ? nil : "its column \(column.name) is not unique; make it so"
  }
}

extension TableFacts {
  /// Returns whether SQLite finds one record by `column` alone, compared as the column is declared.
  fileprivate func isKey(_ column: ColumnFacts) -> Bool {
    if primaryKey.map(\.name) == [column.name] { return true }
    return indexes.contains { index in
      index.isUnique && index.plainColumns?.map(\.asciiFolded) == [column.name.asciiFolded]
        && index.columns[0].collation == column.collation
    }
  }
}
