/// The forms of models that automatic schema changes have replaced in a file, each as the SQL of
/// its table and indexes.
///
/// A file cannot say which of two versions of a program is the newer one. It only knows in which
/// order they came, and an older version may come late, to a file that a newer one created. So:
///
/// - A form is superseded if another version only added something to it. Then a program that
///   declares it is older than the file.
/// - If another version took a constraint away, or replaced one, the age of the form stays open.
///   The first version may come back, and gets its constraints back. If the other version then
///   changes the table a second time, the form is superseded.
/// - A form that comes back proves nothing about the form that it replaces.
/// - A new migration of the application says which version is newer, so no form is superseded any
///   more: programs without the migration cannot open the file.
///
/// Without this record, two versions of a program would change the table back and forth.
struct SupersededForms {
  private static let table = "_ms_superseded"

  let connection: Connection

  /// Returns those of `models` whose form is superseded.
  func older(of models: [ModelSchema]) throws -> [ModelSchema] {
    guard try exists() else { return [] }
    return try models.filter { model in
      try connection.firstRow(
        """
        SELECT 1
        FROM _ms_superseded
        WHERE model = \(model.name) AND form = \(Self.form(of: model)) AND contender = ''
        """
      ) { _ in true } != nil
    }
  }

  /// Records that each of `models` replaces the form that the catalog has.
  ///
  /// - Parameter differences: Those between the tables and `models`.
  /// - Precondition: A write transaction is open. The catalog still has the earlier models.
  func record(_ models: [ModelSchema], ending differences: [SchemaDifference]) throws {
    try forget(models)
    let filed = try CatalogEntries.models.read(on: connection)
    let loosened = Set(differences.filter(\.takesConstraintAway).map(\.model))
    for model in models {
      guard let old = filed.first(where: { $0.name == model.name }), !old.isAdopted,
        Self.form(of: old) != Self.form(of: model)
      else { continue }
      try create()
      try replace(
        Self.form(of: old), by: Self.form(of: model), of: model.name,
        takingConstraintsAway: loosened.contains(model.name))
    }
  }

  private func replace(
    _ old: String, by new: String, of model: String, takingConstraintsAway isLoosened: Bool
  ) throws {
    let earlier = try connection.rows(
      """
      SELECT form, contender
      FROM _ms_superseded
      WHERE model = \(model) AND (form = \(new) OR form = \(old) AND contender = \(new))
      """
    ) { row in (form: try row.text(at: 0), contender: try row.text(at: 1)) }
    if isLoosened, !earlier.contains(where: { $0.form == old && $0.contender == new }) {
      return try insert(old, of: model, contender: new)
    }
    // A form that comes back proves nothing.
    guard isLoosened || !earlier.contains(where: { $0.form == new }) else { return }
    try insert(old, of: model, contender: "")
  }

  private func insert(_ form: String, of model: String, contender: String) throws {
    try connection.run(
      """
      INSERT OR IGNORE INTO _ms_superseded (model, form, contender)
      VALUES (\(model), \(form), \(contender))
      """)
  }

  /// Makes the forms of `models` current again. The tables have them although they were replaced,
  /// so another program changed them back.
  ///
  /// - Precondition: A write transaction is open, and the tables are as `models` declare them.
  func forget(_ models: [ModelSchema]) throws {
    guard try exists() else { return }
    for model in models {
      try connection.run(
        """
        DELETE FROM _ms_superseded
        WHERE model = \(model.name) AND form = \(Self.form(of: model)) AND contender = ''
        """)
    }
  }

  /// Forgets every form, because a program brings a migration: it is newer than all before. The
  /// migration may also convert values, so the types in the catalog are no longer certain.
  ///
  /// - Precondition: A write transaction is open.
  func beginAgain() throws {
    if try exists() { try connection.run("DELETE FROM _ms_superseded") }
    let models = try CatalogEntries.models.understood(on: connection)
    guard !models.isEmpty else { return }
    try create()
    for model in models { try insert(Self.anyForm, of: model.name, contender: "") }
  }

  /// Gives renamed models their new names.
  ///
  /// - Precondition: A write transaction is open.
  func rename(by renaming: ModelRenaming) throws {
    guard try exists() else { return }
    let pairs = renaming.changed.filter { $0.old.name != $0.new.name }
    let rows = try pairs.map { pair in
      try connection.rows(
        "SELECT form, contender FROM _ms_superseded WHERE model = \(pair.old.name)"
      ) { row in (form: try row.text(at: 0), contender: try row.text(at: 1)) }
    }
    for pair in pairs {
      try connection.run("DELETE FROM _ms_superseded WHERE model = \(pair.old.name)")
    }
    for (pair, rows) in zip(pairs, rows) {
      for row in rows { try insert(row.form, of: pair.new.name, contender: row.contender) }
    }
  }

  /// Returns the names of the models whose values a migration may have converted since their types
  /// were written into the catalog.
  func convertedModels() throws -> Set<String> {
    guard try exists() else { return [] }
    return Set(
      try connection.rows(
        "SELECT model FROM _ms_superseded WHERE form = \(Self.anyForm)"
      ) { row in try row.text(at: 0) })
  }

  /// Records that the types of `models` are those in the catalog.
  ///
  /// - Precondition: A write transaction is open.
  func settleTypes(of models: [ModelSchema]) throws {
    let converted = try convertedModels()
    for model in models where converted.contains(model.name) {
      try connection.run(
        "DELETE FROM _ms_superseded WHERE model = \(model.name) AND form = \(Self.anyForm)")
    }
  }

  /// Stands for the forms before a migration. No table has it.
  private static let anyForm = ""

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
      program are the earlier ones. Update this program. If it is the newer version, write a \
      migration, which may be empty: it says which version is newer. Nothing was changed.
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
  ///
  /// `contender` is the form that took constraints away, or empty if `form` is superseded.
  private func create() throws {
    try connection.run(
      """
      CREATE TABLE IF NOT EXISTS _ms_superseded (
        model TEXT NOT NULL,
        form TEXT NOT NULL,
        contender TEXT NOT NULL,
        PRIMARY KEY (model, form, contender)
      ) STRICT, WITHOUT ROWID
      """)
  }
}
