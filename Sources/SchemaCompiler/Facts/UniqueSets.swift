/// The sets of fields whose values must be unique, as declared by the models and with the
/// collations of the file's indexes. For example, `UNIQUE (name COLLATE NOCASE)` over a column with
/// BINARY collation makes REPLACE evict 'ann' for 'Ann'.
///
/// Custom collations are excluded, because a trigger that names one fails in programs without it.
package struct UniqueSets: Hashable, Sendable {
  /// A column of an index, with ASCII letters in lower case, and the index's collation for it.
  package struct Column: Hashable, Sendable {
    package let name: String
    package let collation: Collation

    package init(name: String, collation: Collation) {
      self.name = name
      self.collation = collation
    }
  }

  /// By the table's name in lower case.
  private var found: [String: [[Column]]] = [:]

  /// Creates the sets of a file whose indexes all compare as their columns do.
  package init() {}

  /// Creates the sets from indexes over plain columns. Each table name is in lower case.
  package init(_ indexes: some Sequence<(table: String, columns: [Column])>) {
    for index in indexes { found[index.table, default: []].append(index.columns) }
  }

  /// Returns the sets that `model` declares, then the same fields with the collations of the file's
  /// indexes. An index counts if it treats values as equal that its columns distinguish.
  package func sets(of model: ModelSchema) -> [UniqueSet] {
    let declared = model.collidingSets
    var sets = declared.map { fields in
      UniqueSet(parts: fields.map { UniqueSet.Part(field: $0, collation: nil) })
    }
    for columns in found[model.table.asciiFolded] ?? [] {
      let parts = columns.compactMap { column in
        model.fields.first { $0.column.asciiFolded == column.name }.map { field in
          UniqueSet.Part(
            field: field,
            // Values that are equal in BINARY are equal in every collation.
            collation: column.collation == .binary || column.collation == field.collation
              ? nil : column.collation)
        }
      }
      let names = Set(parts.map(\.field.name))
      let set = UniqueSet(parts: parts)
      guard parts.count == columns.count, set.isCollated, !set.isCustom, !sets.contains(set),
        declared.contains(where: { Set($0.map(\.name)) == names })
      else { continue }
      sets.append(set)
    }
    return sets
  }
}

/// Fields whose values together are unique.
package struct UniqueSet: Hashable, Sendable {
  package struct Part: Hashable, Sendable {
    package let field: FieldSchema
    /// The collation of the comparison; nil for the column's own collation.
    package let collation: Collation?
  }

  package let parts: [Part]

  package var fields: [FieldSchema] { parts.map(\.field) }

  /// Whether some values are compared with another collation than their columns'.
  var isCollated: Bool { parts.contains { $0.collation != nil } }

  fileprivate var isCustom: Bool {
    parts.contains { if case .custom? = $0.collation { true } else { false } }
  }

  /// Returns a condition that is true when a record has the same values.
  ///
  /// - Parameters:
  ///   - row: The name of the record's row.
  ///   - value: Returns the wanted value of a field, as SQL.
  func isShared(with row: String, _ value: (FieldSchema) -> String) -> String {
    parts.map { part in
      let column = "\(row).\(SQLText.quoted(part.field.column))"
      let wanted = value(part.field)
      return part.collation?.isEqual(column, to: wanted) ?? "\(column) = \(wanted)"
    }
    .joined(separator: " AND ")
  }
}

extension Collation {
  /// Returns a condition that is true if `column` equals `value` in this collation, which differs
  /// from the column's own. An index with the collation can be used.
  ///
  /// It is a range, because SQLite 3.40 turns `x = a OR x = a COLLATE NOCASE` into `x IN (a, a)`
  /// and compares both with the same collation.
  package func isEqual(_ column: String, to value: String) -> String {
    let collated = "(\(value)) COLLATE \(SQLText.quoted(name))"
    return "(\(column) >= \(collated) AND \(column) <= \(collated))"
  }
}
