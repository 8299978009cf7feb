/// A table of a binding in which a trigger evaluates OLD and NEW like stored rows.
///
/// An expression compares by the affinity of the columns it names. OLD and NEW have no affinity.
/// CAST has one, but changes values that its type cannot hold: it turns a DATE '2021-05-05' into
/// 2021.
/// Only a column has an affinity and keeps every value unchanged:
/// <https://sqlite.org/datatype3.html#type_conversions_prior_to_comparison>.
///
/// The table is empty except while a trigger uses it.
struct WrittenRows {
  package let table: SchemaObject
  private let fields: [FieldSchema]
  private let condition: SQLExpression?

  private var name: String { SQLText.quoted(table.name) }

  /// - Returns: nil if values compare correctly without the table. That is the case in STRICT
  ///   tables, where CAST changes nothing, and if the expressions that compare name no column with
  ///   an affinity.
  init?(for aggregate: ResolvedBinding.Aggregate, _ make: BindingObjects) {
    guard aggregate.source.isAdopted else { return nil }
    let term = aggregate.term.flatMap { $0.needsColumns ? $0.fields : nil } ?? []
    let fields = ((aggregate.condition.map(aggregate.source.fields) ?? []) + term).withoutRepeats
    guard fields.contains(where: { !$0.comparedType.isEmpty }) else { return nil }
    self.fields = fields
    condition = aggregate.condition
    table = make.table(
      .written, key: [("_ms_row", nil)],
      // The columns are named as in the source, so that the condition needs no change.
      fields.map { field in
        [
          SQLText.quoted(field.column), field.comparedType,
          "COLLATE \(SQLText.quoted(field.collation.name))",
        ]
        .filter { !$0.isEmpty }.joined(separator: " ")
      })
  }

  /// Inserts the rows of `rows`, OLD and NEW, that satisfy the condition.
  func taking(_ rows: [String]) -> String {
    let columns = SQLText.quotedList(fields.map(\.column))
    let values = rows.map { row in
      "(\(Self.number(row)), "
        + fields.map { RowColumn(row, $0).sql }.joined(separator: ", ") + ")"
    }
    let taking = """
        DELETE FROM \(name);
        INSERT INTO \(name) (_ms_row, \(columns))
        VALUES \(values.joined(separator: ", "));
      """
    guard let condition else { return taking }
    return taking + """

        DELETE FROM \(name)
        WHERE (\(condition.text)) IS NOT TRUE;
      """
  }

  /// Run this before anything that starts other triggers, which may need the table themselves.
  package var forgetting: String { "  DELETE FROM \(name);" }

  /// True when `row`, OLD or NEW, satisfied the condition.
  package func holds(_ row: String) -> String {
    "EXISTS (SELECT 1 FROM \(name) WHERE _ms_row = \(Self.number(row)))"
  }

  /// Returns the value of `expression` for `row`, OLD or NEW; NULL if the row does not satisfy the
  /// condition.
  func value(of expression: SQLExpression, _ row: String) -> String {
    "(SELECT (\(expression.text)) FROM \(name) WHERE _ms_row = \(Self.number(row)))"
  }

  private static func number(_ row: String) -> Int { row == "OLD" ? 0 : 1 }
}

extension FieldSchema {
  /// The column type by which values compare as in the field's column; empty for none. A column
  /// declared as ANY is in a STRICT table and has no affinity.
  fileprivate var comparedType: String {
    isMaybeBare ? "" : affinity.columnType
  }
}
