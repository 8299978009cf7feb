// Taking migrations back.
extension Store {
  /// Takes back the newest migrations of the file at `path`, down to `version`.
  ///
  /// The file keeps the text of each reverse, so a program that does not declare the migrations can
  /// revert them, for example an older version of yours:
  ///
  /// ```swift
  /// try Store.revertMigrations(at: path, to: 3)
  /// ```
  ///
  /// Each migration is one transaction. As when migrations are applied, foreign keys are checked at
  /// its end, and models follow renamed tables.
  ///
  /// - Parameters:
  ///   - version: The file's newest version afterwards: one that it has had, or 0 for none.
  ///   - migrations: The program's migrations, for reverses in Swift.
  ///   - configuration: The configuration with which your program opens the file.
  /// - Returns: The versions of the reverted migrations, newest first; empty if the file has none
  ///   above `version`.
  /// - Throws: ``StoreError`` with code `migrationConflict` if one of the migrations is
  ///   irreversible, and then nothing was changed; `configurationConflict` if a store of this
  ///   process has declared models of the file; `rejected` if references would be broken. The
  ///   migrations before a failed one stay reverted.
  @discardableResult
  public static func revertMigrations(
    at path: String, to version: Int64, migrations: [Migration] = [],
    configuration: StoreConfiguration = StoreConfiguration()
  ) throws -> [Int64] {
    let store = try Store(
      at: path, declaring: Declarations(), configuration: configuration,
      onError: StoreError.writeToStandardError)
    defer { store.close() }
    return try FileMigrations(of: store, declared: migrations).revert(to: version).map(\.version)
  }

  /// Takes back the newest migrations of the file at `path`, down to `version`.
  @discardableResult
  public static func revertMigrations(
    at path: String, to version: Int64, migrations: [Migration] = [],
    configuration: StoreConfiguration = StoreConfiguration()
  ) async throws -> [Int64] {
    try await BlockingCalls().run {
      try revertMigrations(
        at: path, to: version, migrations: migrations, configuration: configuration)
    }
  }
}
