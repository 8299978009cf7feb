// Drift: differences between the file's schema and the catalog.
extension CatalogEditor {
  /// See ``Store/schemaDrift()``.
  func schemaDrift(of parts: Set<SchemaDrift.Part>) throws -> [SchemaDrift] {
    try SchemaDrift.Part.allCases.filter(parts.contains).flatMap { part in
      switch part {
      case .models: try modelDrift()
      case .bindings: try bindingDrift()
      case .rules: try ruleDrift()
      case .journal: try journalDrift()
      }
    }
  }

  /// Returns how the tables differ from the file's models.
  private func modelDrift() throws -> [SchemaDrift] {
    let models = models.schema.models
    return try engine.look { connection in
      let differences = SchemaDifference.differences(
        of: models, in: try Catalog(reading: connection))
      let byModel = Dictionary(grouping: differences, by: \.model)
      return models.compactMap { model in
        byModel[model.name].map { SchemaDrift(.model(model.name), $0.map(\.drift)) }
      }
    }
  }

  private func journalDrift() throws -> [SchemaDrift] {
    try engine.look { connection in
      try engine.read(connection) { reads in
        let connection = reads.access.connection
        guard let layouts = try JournalLayouts(reading: connection) else { return [] }
        // The triggers follow the file, even if a model has other field positions in this process.
        let models = try schema.filed(on: connection)
        return try CompiledJournal(layouts, of: models, in: try Catalog(reading: connection))
          .knownDrift(on: connection)
      }
    }
  }
}
