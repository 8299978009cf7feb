/// Conditions on an update inside a trigger, in SQL.
package enum TriggerMoment {
  /// True when the update changed the value of one of `fields`.
  package static func anyChanged(_ fields: [FieldSchema]) -> String {
    fields
      .map { field in
        differ(
          RowColumn("OLD", field).sql, RowColumn("NEW", field).sql,
          mayHoldAnything: field.isMaybeBare)
      }
      .joined(separator: " OR ")
  }

  /// True when `left`, a column with the affinity of `field`, is stored differently from `right`.
  static func differ(_ left: String, _ right: String, _ field: FieldSchema) -> String {
    differ(left, right, mayHoldAnything: field.affinity == .blob)
  }

  /// The column's own collation may treat 'a' and 'A' as equal, and IS treats 1 and 1.0 as equal.
  /// Only a column without affinity can hold both:
  /// <https://sqlite.org/datatype3.html#comparison_expressions>.
  static func differ(_ left: String, _ right: String, mayHoldAnything: Bool) -> String {
    let content = "\(left) COLLATE BINARY IS NOT \(right)"
    guard mayHoldAnything else { return content }
    return "(\(content) OR typeof(\(left)) <> typeof(\(right)))"
  }

  /// Returns the first statement in the body of a BEFORE UPDATE trigger that reads generated
  /// columns of NEW.
  ///
  /// SQLite computes generated columns from the columns loaded at that point. These are the columns
  /// that the statement sets and those that some BEFORE trigger names. All others count as NULL.
  ///
  /// - Parameter columns: The columns that they are computed from; empty if no generated column is
  ///   read.
  package static func computing(from columns: [String]) -> [String] {
    guard !columns.isEmpty else { return [] }
    return ["  SELECT \(columns.map { "NEW.\(SQLText.quoted($0))" }.joined(separator: ", "));"]
  }
}
