/// The schema that migrations create in an empty file, found by running them in memory.
struct MigrationReplay {
  let schema: SchemaContent
  /// The same schema, as statements that create it.
  let snapshot: SchemaSnapshot

  /// - Parameters:
  ///   - models: The models whose tables are created first, as in a fresh file.
  ///   - functions: Swift functions that the migrations or the models call.
  init(
    _ migrations: [Migration], models: [ModelSchema], functions: Set<SQLFunction> = []
  ) throws {
    var configuration = StoreConfiguration()
    configuration.functions = functions
    let store = Store(
      try Store.lease(
        declaring: Declarations(migrations: migrations, models: models),
        configuration: configuration, name: "The scratch database"
      ) {
        try StoreEngines.leaseInMemory(configuration, report: { _ in })
      })
    defer { store.close() }
    schema = try store.open.look { try SchemaContent(reading: $0) }
    snapshot = try store.schemaSnapshot()
  }
}
