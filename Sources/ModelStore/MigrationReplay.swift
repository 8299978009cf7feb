/// The schema that migrations create in an empty file, found by running them in memory.
struct MigrationReplay {
  let schema: SchemaContent
  /// The same schema, as statements that create it.
  let snapshot: SchemaSnapshot

  /// - Parameters:
  ///   - models: The models whose tables are created first, as in a fresh file.
  ///   - functions: Swift functions that the migrations or the models call.
  /// - Throws: ``StoreError`` with code `schemaMismatch` if a migration fails in an empty file.
  init(
    _ migrations: [Migration], models: [ModelSchema], functions: Set<SQLFunction> = []
  ) throws {
    var configuration = StoreConfiguration()
    configuration.functions = functions
    let declarations = Declarations(migrations: migrations, models: models)
    let store: Store
    do {
      store = Store(
        try Store.lease(
          declaring: declarations, configuration: configuration, name: "The scratch database"
        ) { try StoreEngines.leaseInMemory(configuration, report: { _ in }) })
    } catch let error as StoreError where Self.needsTables(error) {
      throw Self.incomplete(error)
    }
    defer { store.close() }
    schema = try store.open.look { try SchemaContent(reading: $0) }
    snapshot = try store.schemaSnapshot()
  }

  /// Whether a statement failed because of what an empty file lacks.
  private static func needsTables(_ error: StoreError) -> Bool {
    let codes: [StoreError.Code] = [
      .database, .invalidQuery, .invalidValue, .rejected, .unknownFunction,
    ]
    return codes.contains(error.code) && error.message.hasPrefix("Migration ")
  }

  private static func incomplete(_ error: StoreError) -> StoreError {
    let reason = error.message
      .replacing("SQLite refused the statement: ", with: "", maxReplacements: 1)
      .replacing(" The migration was rolled back.", with: "")
    let end = reason.firstRange(of: " in: ")?.lowerBound ?? reason.endIndex
    let sentence = reason[..<end].last == "." ? reason[..<end].dropLast() : reason[..<end]
    return StoreError(
      .schemaMismatch,
      """
      The migrations do not make a schema to compare with, because they fail in an empty database: \
      \(sentence). If the tables are older than the migrations, write a base migration that \
      creates them.
      """)
  }
}
