import Testing

@testable import ModelStore

/// Stores of several versions of one application.
struct MigratedFiles {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  func path(_ name: String) -> String { directory.file(name + ".store") }

  func open(
    _ name: String, _ models: [ModelSchema], _ migrations: [Migration] = [],
    _ configure: (inout StoreConfiguration) -> Void = { _ in }
  ) throws -> Store {
    var configuration = StoreConfiguration()
    configure(&configuration)
    return try Store(
      at: path(name), declaring: Declarations(migrations: migrations, models: models),
      configuration: configuration, onError: { Issue.record($0) })
  }

  /// Creates a file of a version without migrations.
  func create(_ name: String, _ models: [ModelSchema], _ rows: SQLText...) throws {
    let store = try open(name, models)
    try store.write { tx in for row in rows { try tx.execute(row) } }
    store.close()
  }

  /// Every object and row of a file, except when migrations were applied.
  func content(_ name: String) throws -> [[SQLValue]] {
    let file = try PlainDatabase(path(name))
    let objects = try file.rows(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT GLOB '_ms_*' ORDER BY 1, 2"
    )
    let tables = objects.filter { $0[0] == .text("table") }
    return try objects + Self.ledger(file)
      + tables.flatMap { try file.rows("SELECT * FROM \"\($0[1].text)\"") }
  }

  func ledger(_ name: String) throws -> [[SQLValue]] { try Self.ledger(PlainDatabase(path(name))) }

  private static func ledger(_ file: PlainDatabase) throws -> [[SQLValue]] {
    let tables = try file.rows("SELECT 1 FROM sqlite_schema WHERE name = '_ms_migrations'")
    guard !tables.isEmpty else { return [] }
    return try file.rows(
      "SELECT version, name, checksum, sql FROM _ms_migrations WHERE scope = 'app' ORDER BY version"
    )
  }

  static func member(_ fields: FieldSchema..., table: String = "Member") -> ModelSchema {
    ModelSchema(
      name: table, fields: [FieldSchema(name: "id", type: .integer, isRowID: true)] + fields,
      key: ["id"])
  }

  static let name = FieldSchema(name: "name", type: .text)
  static let title = FieldSchema(name: "title", type: .text)
  static let email = FieldSchema(name: "email", type: .text, defaultSQL: "''")
}

extension SQLValue {
  /// What a text is; empty for other values.
  fileprivate var text: String { if case .text(let text) = self { text } else { "" } }
}
