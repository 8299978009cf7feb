/// The forms of models that automatic schema changes have replaced in a file, each as the SQL of
/// its table and indexes.
///
/// A program that declares such a form is older than the file. Without this record, two versions of
/// a program would change the table back and forth.
struct SupersededForms {
  private static let table = "_ms_superseded"

  let connection: Connection

  /// Returns those of `models` whose form was replaced, by a later form of the same model.
  func older(of models: [ModelSchema]) throws -> [ModelSchema] {
    guard try exists() else { return [] }
    return try models.filter { model in
      try connection.firstRow(
        """
        SELECT 1
        FROM _ms_superseded
        WHERE model = \(model.name) AND form = \(Self.form(of: model))
        """
      ) { _ in true } != nil
    }
  }

  /// Records that each of `models` replaces the form that the catalog has.
  ///
  /// - Precondition: A write transaction is open. The catalog still has the earlier models.
  func record(_ models: [ModelSchema]) throws {
    let filed = try CatalogEntries.models.read(on: connection)
    for model in models {
      guard let old = filed.first(where: { $0.name == model.name }), !old.isAdopted,
        Self.form(of: old) != Self.form(of: model)
      else { continue }
      try create()
      try connection.run(
        """
        INSERT OR IGNORE INTO _ms_superseded (model, form)
        VALUES (\(model.name), \(Self.form(of: old)))
        """)
      try connection.run(
        "DELETE FROM _ms_superseded WHERE model = \(model.name) AND form = \(Self.form(of: model))")
    }
  }

  /// Makes the forms of `models` current again. The tables have them although they were replaced,
  /// so a migration of the program changed them back.
  ///
  /// - Precondition: A write transaction is open, and the tables are as `models` declare them.
  func forget(_ models: [ModelSchema]) throws {
    guard try exists() else { return }
    for model in models {
      try connection.run(
        "DELETE FROM _ms_superseded WHERE model = \(model.name) AND form = \(Self.form(of: model))")
    }
  }

  /// Why a plan never goes back to such a form.
  static let reason = """
    A newer version of this program replaced this form of the model. To go back to it on purpose, \
    write a migration.
    """

  /// The message for a program whose models were replaced.
  static func newerFile(_ models: [ModelSchema]) -> StoreError {
    let names = models.map(\.name).joined(separator: ", ")
    return StoreError(
      .newerFormat,
      """
      A newer version of this program has changed the tables of \(names), and the models of this \
      program are the earlier ones. Update this program. If it is the newer one, and goes back to \
      the earlier models on purpose, write a migration. Nothing was changed.
      """, model: models.count == 1 ? models[0].name : nil)
  }

  private static func form(of model: ModelSchema) -> String {
    SchemaSQL(model).objects.map(\.sql).joined(separator: ";\n")
  }

  private func exists() throws -> Bool {
    try connection.firstRow(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = \(Self.table)"
    ) { _ in true } != nil
  }

  /// Files that no program has changed automatically do not have the table.
  private func create() throws {
    try connection.run(
      """
      CREATE TABLE IF NOT EXISTS _ms_superseded (
        model TEXT NOT NULL,
        form TEXT NOT NULL,
        PRIMARY KEY (model, form)
      ) STRICT, WITHOUT ROWID
      """)
  }
}
