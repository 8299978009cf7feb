import ModelStore
import RecordFormats

extension Console {
  /// Writes statements as a script of SQL.
  func writeStatements(_ statements: [String]) throws(OutputError) {
    for statement in statements { try writeSQL(SQLTokens.terminated(statement)) }
  }
}

extension MigrationRehearsal {
  /// The loss to report for statements that fail in an empty database. What they delete is unknown.
  static let unknownLoss = "The statements may delete values."
}

extension StoreError {
  /// Whether a statement creates what the database already has.
  var isAboutExistingObject: Bool {
    code == .invalidQuery && message.contains(" already exists")
  }
}

extension CommandError {
  /// The error about a statement of a migration, as SQLite says it.
  init(ofMigration error: StoreError) {
    self.init(.failed, code: error.code.rawValue, error.message)
    guard error.isAboutExistingObject else { return }
    details = ["  If the database already has all that the migration makes, record it as applied."]
    hint = "storecli migrate baseline VERSION"
  }
}
