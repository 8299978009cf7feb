/// What no two records of a model have in common: as the models declare it, and by the collations
/// that the file's indexes have of their own. `UNIQUE (name COLLATE NOCASE)` over a column that
/// compares byte by byte makes REPLACE evict 'ann' for 'Ann'.
///
/// Collations that programs bring along are left out: a trigger that names one fails in programs
/// without it.
package struct UniqueSets: Hashable, Sendable {
  /// A column of an index, ASCII letters in lower case, and by what the index compares it.
  package struct Column: Hashable, Sendable {
    package let name: String
    package let collation: Collation

    package init(name: String, collation: Collation) {
      self.name = name
      self.collation = collation
    }
  }

  /// Of each table, by its name in lower case.
  private var found: [String: [[Column]]] = [:]

  /// Of a file whose indexes all compare as their columns do.
  package init() {}

  /// Those of indexes of plain columns, each of a table whose name is in lower case.
  package init(_ indexes: some Sequence<(table: String, columns: [Column])>) {
    for index in indexes { found[index.table, default: []].append(index.columns) }
  }

  /// What `model` declares, then the same fields as indexes of the file compare them, where some
  /// records are equal to those and not to their columns.
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
            // What is equal byte by byte is equal to every column.
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

/// Fields whose values together occur once.
package struct UniqueSet: Hashable, Sendable {
  package struct Part: Hashable, Sendable {
    package let field: FieldSchema
    /// By what the values are compared; nil for the column's own collation.
    package let collation: Collation?
  }

  package let parts: [Part]

  package var fields: [FieldSchema] { parts.map(\.field) }

  /// Whether some of its values are compared otherwise than their columns.
  var isCollated: Bool { parts.contains { $0.collation != nil } }

  fileprivate var isCustom: Bool {
    parts.contains { if case .custom? = $0.collation { true } else { false } }
  }

  /// True when a record has the same values.
  ///
  /// - Parameters:
  ///   - row: What the record is called.
  ///   - value: The value of a field that it must have, as SQL.
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
  /// True where `column` equals `value` by this collation, which is not its own; over an index that
  /// has it.
  ///
  /// As a range: SQLite 3.40 takes `x = a OR x = a COLLATE NOCASE` for `x IN (a, a)` and compares
  /// both by the same collation.
  package func isEqual(_ column: String, to value: String) -> String {
    let collated = "(\(value)) COLLATE \(SQLText.quoted(name))"
    return "(\(column) >= \(collated) AND \(column) <= \(collated))"
  }
}
