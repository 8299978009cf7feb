/// Which columns the generated columns of a file are computed from. Nobody writes a generated
/// column, but values come into it all the same: whoever reads it reads those.
struct GeneratedColumns: Hashable, Sendable {
  typealias Column = ResolvedBinding.Column

  /// What the expression of a generated column names.
  private var named: [Column: [Column]] = [:]

  /// Of a file that has none.
  init() {}

  /// Those of the tables of `models`, which only the texts of the tables tell.
  init(of models: [ModelSchema], on connection: Connection) throws {
    for model in models where model.fields.contains(where: { $0.generated != nil }) {
      let sql = try connection.firstRow(
        """
        SELECT sql
        FROM main.sqlite_schema
        WHERE type = 'table' AND lower(name) = \(model.table.asciiFolded)
        """
      ) { try $0.text(at: 0) }
      let expressions = TableSQL(sql ?? "").generated
      for field in model.fields {
        guard let expression = expressions[field.column.asciiFolded] else { continue }
        let names = Self.plainNames(in: expression)
        named[Column(model, field)] = model.fields
          .filter { names.contains($0.column.asciiFolded) }
          .map { Column(model, $0) }
      }
    }
  }

  /// The names in `expression` that are not called, ASCII letters in lower case.
  static func plainNames(in expression: String) -> Set<String> {
    let cut = SQLTokens(expression)
    let tokens = cut.significant
    var names: Set<String> = []
    for (index, token) in tokens.enumerated()
    where token.kind == .word || token.kind == .quotedName {
      let isCalled =
        token.kind == .word && index + 1 < tokens.count && cut.isSymbol(tokens[index + 1], "(")
      if !isCalled { names.insert(cut.name(token).asciiFolded) }
    }
    return names
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
}
