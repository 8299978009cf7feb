/// When a trigger has to look at an update, in SQL.
enum TriggerMoment {
  /// True when the update left one of `fields` with another value than it had.
  static func anyChanged(_ fields: [FieldSchema]) -> String {
    fields
      .map { field in
        let column = SQLText.quoted(field.column)
        return differ("OLD.\(column)", "NEW.\(column)", field)
      }
      .joined(separator: " OR ")
  }

  /// True when `left`, a column with the affinity of `field`, is stored unlike `right`.
  ///
  /// The column's own collation would take 'a' and 'A' for equal, and IS takes 1 and 1.0 for equal;
  /// only a column without affinity can hold both:
  /// <https://sqlite.org/datatype3.html#comparison_expressions>.
  static func differ(_ left: String, _ right: String, _ field: FieldSchema) -> String {
    let content = "\(left) COLLATE BINARY IS NOT \(right)"
    guard field.affinity == .blob else { return content }
    return "(\(content) OR typeof(\(left)) <> typeof(\(right)))"
  }

  /// The updates that can change `fields`.
  ///
  /// A generated column is never in an UPDATE's SET, so only WHEN can tell that it changed; and a
  /// rowid has three more names: <https://sqlite.org/lang_createtable.html#rowid>.
  static func update(of fields: [FieldSchema]) -> String {
    guard fields.allSatisfy({ $0.generated == nil }) else { return "AFTER UPDATE" }
    let aliases = fields.contains(where: \.isRowID) ? ["rowid", "oid", "_rowid_"] : []
    var names: [String] = []
    for name in fields.map(\.column) + aliases where !names.contains(name) { names.append(name) }
    return "AFTER UPDATE OF \(SQLText.quotedList(names))"
  }
}
