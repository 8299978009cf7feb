/// A table of a binding's own in which a trigger looks at OLD and NEW as at stored rows.
///
/// A condition compares by the affinity of the columns that it names. OLD and NEW have none, and
/// CAST, which has one, changes what its type cannot hold: it makes 2021 of a DATE '2021-05-05'.
/// Only a column has an affinity and keeps every value as it is:
/// <https://sqlite.org/datatype3.html#type_conversions_prior_to_comparison>.
///
/// The table is empty but while a trigger looks.
struct WrittenRows {
  package let table: SchemaObject
  private let fields: [FieldSchema]
  private let condition: SQLExpression

  private var name: String { SQLText.quoted(table.name) }

  /// - Returns: nil where values compare without it as in their table: in STRICT tables, in which
  ///   CAST changes nothing, and where the condition names no column with an affinity.
  init?(
    where condition: SQLExpression?, of source: ModelSchema, _ make: BindingObjects
  ) {
    guard let condition, source.isAdopted else { return nil }
    let fields = source.fields(in: condition)
    guard fields.contains(where: { !$0.comparedType.isEmpty }) else { return nil }
    self.fields = fields
    self.condition = condition
    table = make.table(
      .written, key: [("_ms_row", nil)],
      // Named as in the source, so that the condition can stand as it is.
      fields.map { field in
        [
          SQLText.quoted(field.column), field.comparedType,
          "COLLATE \(SQLText.quoted(field.collation.name))",
        ]
        .filter { !$0.isEmpty }.joined(separator: " ")
      })
  }

  /// Puts those of `rows`, OLD and NEW, into the table that meet the condition.
  func taking(_ rows: [String]) -> String {
    let columns = SQLText.quotedList(fields.map(\.column))
    let values = rows.map { row in
      "(\(Self.number(row)), "
        + fields.map { RowColumn(row, $0).sql }.joined(separator: ", ") + ")"
    }
    return """
        DELETE FROM \(name);
        INSERT INTO \(name) (_ms_row, \(columns))
        VALUES \(values.joined(separator: ", "));
        DELETE FROM \(name)
        WHERE (\(condition.text)) IS NOT TRUE;
      """
  }

  /// Before anything that starts other triggers, which may need the table themselves.
  package var forgetting: String { "  DELETE FROM \(name);" }

  /// True when `row`, OLD or NEW, met the condition.
  package func holds(_ row: String) -> String {
    "EXISTS (SELECT 1 FROM \(name) WHERE _ms_row = \(Self.number(row)))"
  }

  private static func number(_ row: String) -> Int { row == "OLD" ? 0 : 1 }
}

extension FieldSchema {
  /// A column type by which values compare as in the field's column; empty for none. What declares
  /// a column as ANY is a STRICT table, in which it has no affinity.
  fileprivate var comparedType: String {
    isMaybeBare ? "" : affinity.columnType
  }
}
