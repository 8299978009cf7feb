/// The schema that migrations create in an empty file, found by running them in memory.
struct Replay {
  let schema: SchemaContent

  /// - Parameter models: The models whose tables are created first, as in a fresh file.
  init(_ migrations: [Migration], models: [ModelSchema]) throws {
    let engine = Store(
      try Store.lease(
        declaring: Declarations(migrations: migrations, models: models),
        configuration: StoreConfiguration(), name: "The scratch database"
      ) {
        try StoreEngines.leaseInMemory(StoreConfiguration(), report: { _ in })
      })
    defer { engine.close() }
    schema = try engine.open.look { try SchemaContent(reading: $0) }
  }
}
