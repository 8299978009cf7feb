/// What a trigger asks of an update, in SQL.
package enum TriggerMoment {
  /// True when the update left one of `fields` with another value than it had.
  package static func anyChanged(_ fields: [FieldSchema]) -> String {
    fields
      .map { field in
        differ(
          RowColumn("OLD", field).sql, RowColumn("NEW", field).sql,
          mayHoldAnything: field.isMaybeBare)
      }
      .joined(separator: " OR ")
  }

  /// True when `left`, a column with the affinity of `field`, is stored unlike `right`.
  static func differ(_ left: String, _ right: String, _ field: FieldSchema) -> String {
    differ(left, right, mayHoldAnything: field.affinity == .blob)
  }

  /// The column's own collation would take 'a' and 'A' for equal, and IS takes 1 and 1.0 for equal;
  /// only a column without affinity can hold both:
  /// <https://sqlite.org/datatype3.html#comparison_expressions>.
  static func differ(_ left: String, _ right: String, mayHoldAnything: Bool) -> String {
    let content = "\(left) COLLATE BINARY IS NOT \(right)"
    guard mayHoldAnything else { return content }
    return "(\(content) OR typeof(\(left)) <> typeof(\(right)))"
  }

  /// What the body of a BEFORE UPDATE trigger begins with that asks for generated columns of NEW.
  ///
  /// SQLite computes them from what is loaded by then: the columns that the statement sets, and
  /// those that some BEFORE trigger names. The others count as NULL.
  ///
  /// - Parameter columns: What they are computed from; none where no generated column is asked for.
  package static func computing(from columns: [String]) -> [String] {
    guard !columns.isEmpty else { return [] }
    return ["  SELECT \(columns.map { "NEW.\(SQLText.quoted($0))" }.joined(separator: ", "));"]
  }
}
