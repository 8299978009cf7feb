extension GeneratedColumns {
  /// Reads the generated columns in the tables of `models`, also those that are not fields.
  init(of models: [ModelSchema], on connection: Connection) throws {
    // Virtual tables have no root page, and may need a module that this program lacks.
    let tables = try connection.rows(
      """
      SELECT DISTINCT t.name, t.sql
      FROM main.sqlite_schema AS t
      JOIN pragma_table_xinfo(t.name, 'main') AS c ON c.hidden IN (2, 3)
      WHERE t.type = 'table' AND t.rootpage > 0
      """
    ) { row in (table: try row.text(at: 0), sql: try row.text(at: 1)) }
    // ON UPDATE writes a reference together with the key that it refers to.
    let references = try connection.rows(
      """
      SELECT t.name, r."from", r."table", coalesce(r."to", (
        SELECT c.name FROM pragma_table_info(r."table", 'main') AS c WHERE c.pk = r.seq + 1))
      FROM main.sqlite_schema AS t
      JOIN pragma_foreign_key_list(t.name, 'main') AS r
      WHERE t.type = 'table' AND t.rootpage > 0 AND r.on_update NOT IN ('NO ACTION', 'RESTRICT')
      """
    ) { row in try (0..<4).map { row.isNull(at: $0) ? "" : try row.text(at: $0) } }
    self.init(of: models, tables: tables, references: references)
  }
}
