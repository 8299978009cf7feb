/// The columns that SQLite itself computes from other columns.
///
/// Programs do not write a generated column, but values still flow into it from the columns in its
/// expression. A reference counts too if ON UPDATE makes it follow the key that it names.
package struct GeneratedColumns: Hashable, Sendable {
  package typealias Column = ResolvedBinding.Column

  /// The columns in the expression of a generated column, and the key that a reference follows.
  private var named: [Column: [Column]] = [:]

  /// Creates the value for a file without generated columns.
  package init() {}

  /// Creates the generated columns of the tables of `models`, whether or not they are fields.
  ///
  /// - Parameters:
  ///   - tables: The names and SQL texts of tables that have generated columns.
  ///   - references: The references that ON UPDATE changes. Each lists its table and column, and
  ///     the table and column that it names.
  package init(
    of models: [ModelSchema], tables: [(table: String, sql: String)], references: [[String]]
  ) {
    let known = Dictionary(
      models.filter { $0.kind == .table }.map { ($0.table.asciiFolded, $0) }
    ) { first, _ in first }
    for text in tables {
      guard let model = known[text.table.asciiFolded] else { continue }
      addExpressions(TableSQL(text.sql).generated, of: model)
    }
    for names in references {
      guard let child = Self.column(names[1], of: known[names[0].asciiFolded]),
        let parent = Self.column(names[3], of: known[names[2].asciiFolded]), child != parent
      else { continue }
      named[child, default: []].append(parent)
    }
  }

  private mutating func addExpressions(_ expressions: [String: String], of model: ModelSchema) {
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

  private static func column(_ name: String, of model: ModelSchema?) -> Column? {
    guard let model else { return nil }
    return model.fields.first { $0.column.asciiFolded == name.asciiFolded }
      .map { Column(model, $0) }
  }

  /// Returns the paths on which values flow into `column`, in the direction of the flow. There is
  /// the column alone, and a path from every column that it is computed from, directly or through
  /// others.
  package func ways(into column: Column, besides seen: Set<Column> = []) -> [[Column]] {
    let seen = seen.union([column])
    let before = (named[column] ?? []).filter { !seen.contains($0) }
    return [[column]]
      + before.flatMap { ways(into: $0, besides: seen).map { way in way + [column] } }
  }

  /// Returns `columns` and all columns that they are computed from, directly or through others.
  package func origins(of columns: [Column]) -> Set<Column> {
    Set(columns.flatMap { ways(into: $0).map { $0[0] } })
  }

  /// Each computed column, with the columns that it is directly computed from.
  package var computed: [BindingSchema.Field: [BindingSchema.Field]] {
    Dictionary(named.map { ($0.field, $1.map(\.field)) }) { first, _ in first }
  }
}
