/// Which columns SQLite itself computes from which others. Nobody writes a generated column, but
/// values come into it all the same: whoever reads it reads those. A reference is one of them where
/// ON UPDATE makes it follow the key that it names.
struct GeneratedColumns: Hashable, Sendable {
  typealias Column = ResolvedBinding.Column

  /// What the expression of a generated column names, and the key that a reference follows.
  private var named: [Column: [Column]] = [:]

  /// Of a file that has none.
  init() {}

  /// Those of the tables of `models`, whether or not they are fields of theirs.
  init(of models: [ModelSchema], on connection: Connection) throws {
    let tables = Dictionary(
      models.filter { $0.kind == .table }.map { ($0.table.asciiFolded, $0) }
    ) { first, _ in first }
    // Virtual tables have no root page, and may need a module that is not here.
    let texts = try connection.rows(
      """
      SELECT DISTINCT t.name, t.sql
      FROM main.sqlite_schema AS t
      JOIN pragma_table_xinfo(t.name, 'main') AS c ON c.hidden IN (2, 3)
      WHERE t.type = 'table' AND t.rootpage > 0
      """
    ) { row in (table: try row.text(at: 0), sql: try row.text(at: 1)) }
    for text in texts {
      guard let model = tables[text.table.asciiFolded] else { continue }
      let expressions = TableSQL(text.sql).generated
      let known = Set(model.fields.map(\.column.asciiFolded))
      let others = expressions.keys.filter { !known.contains($0) }.sorted()
      let columns = model.fields + others.map { FieldSchema(name: $0, type: .any) }
      for field in columns {
        guard let expression = expressions[field.column.asciiFolded] else { continue }
        let names = SQLExpression.columnNames(in: expression)
        named[Column(model, field)] = columns.filter { names.contains($0.column.asciiFolded) }
          .map { Column(model, $0) }
      }
    }
    try addReferences(among: tables, on: connection)
  }

  /// A reference is written along with the key that it names, as ON UPDATE says.
  private mutating func addReferences(
    among tables: [String: ModelSchema], on connection: Connection
  ) throws {
    let references = try connection.rows(
      """
      SELECT t.name, r."from", r."table", coalesce(r."to", (
        SELECT c.name FROM pragma_table_info(r."table", 'main') AS c WHERE c.pk = r.seq + 1))
      FROM main.sqlite_schema AS t
      JOIN pragma_foreign_key_list(t.name, 'main') AS r
      WHERE t.type = 'table' AND t.rootpage > 0 AND r.on_update NOT IN ('NO ACTION', 'RESTRICT')
      """
    ) { row in try (0..<4).map { row.isNull(at: $0) ? "" : try row.text(at: $0) } }
    for names in references {
      guard let child = Self.column(names[1], of: tables[names[0].asciiFolded]),
        let parent = Self.column(names[3], of: tables[names[2].asciiFolded]), child != parent
      else { continue }
      named[child, default: []].append(parent)
    }
  }

  private static func column(_ name: String, of model: ModelSchema?) -> Column? {
    guard let model else { return nil }
    return model.fields.first { $0.column.asciiFolded == name.asciiFolded }
      .map { Column(model, $0) }
  }

  /// The ways by which values come into `column`, in the direction in which they flow: it alone,
  /// and for a generated one a way from every column that it is computed from, at once or through
  /// others.
  func ways(into column: Column, besides seen: Set<Column> = []) -> [[Column]] {
    let seen = seen.union([column])
    let before = (named[column] ?? []).filter { !seen.contains($0) }
    return [[column]]
      + before.flatMap { ways(into: $0, besides: seen).map { way in way + [column] } }
  }

  /// `columns` and all that they are computed from, at once or through others.
  func origins(of columns: [Column]) -> Set<Column> {
    Set(columns.flatMap { ways(into: $0).map { $0[0] } })
  }

  /// Each column that is computed, with those that it is computed from at once.
  var computed: [BindingSchema.Field: [BindingSchema.Field]] {
    Dictionary(named.map { ($0.field, $1.map(\.field)) }) { first, _ in first }
  }
}
