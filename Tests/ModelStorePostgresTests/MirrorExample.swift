#if Postgres
  import ModelStore
  import ModelStorePostgres

  /// The program in the article about mirrors.
  func followWithMirror(_ store: Store, at connection: String) async throws {
    let mirror = try PostgresMirror(connection, schema: "reports")
    try await mirror.follow(store)
  }
#endif
