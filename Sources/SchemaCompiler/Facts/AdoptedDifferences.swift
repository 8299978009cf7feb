/// The differences between an adopted model in the catalog and the model that its table yields now.
/// Plain indexes do not count: they affect speed, not results.
struct AdoptedDifferences {
  package let entry: ModelSchema
  /// The current model, with the types of unchanged columns preserved.
  let renewed: ModelSchema
  /// The current model, with the types that the declarations yield.
  package let fresh: ModelSchema

  private typealias Difference = SchemaDrift.Difference

  /// Missing columns, new columns and changed columns, then differences of the table.
  package var all: [SchemaDrift.Difference] {
    guard entry.kind == renewed.kind else {
      let sentence = "\(renewed.table) is a \(renewed.kind.rawValue) now."
      return [Difference(.table, renewed.table, .changed, sentence: sentence)] + otherColumns
    }
    return otherColumns + renewed.fields.compactMap(changed) + table
  }

  // Columns

  private var otherColumns: [SchemaDrift.Difference] {
    let gone = entry.fields.filter { renewed.field(inColumn: $0.column) == nil }
    let new = renewed.fields.filter { entry.field(inColumn: $0.column) == nil }
    return gone.map {
      Difference(.column, $0.column, .missing, sentence: "The column \($0.column) is gone.")
    }
      + new.map {
        Difference(.column, $0.column, .unexpected, sentence: "The column \($0.column) is new.")
      }
  }

  private func changed(_ field: FieldSchema) -> SchemaDrift.Difference? {
    guard let known = entry.field(inColumn: field.column) else { return nil }
    let phrases = [
      known.name.isExactly(field.name) ? nil : "is spelled \(field.name)",
      typePhrase(known, field), keyPhrase(known, field),
      known.isOptional == field.isOptional
        ? nil : field.isOptional ? "accepts NULL" : "is NOT NULL",
      same(known.defaultSQL, field.defaultSQL)
        ? nil : field.defaultSQL.map { "has the default \($0)" } ?? "has no default",
      known.generated == field.generated
        ? nil : field.generated.map { "is computed (\($0.rawValue))" } ?? "is not computed",
      known.collation == field.collation ? nil : "compares as \(field.collation.name)",
      known.reference == field.reference
        ? nil : field.reference.map { "refers to \($0.table)" } ?? "refers to no table",
      known.isUnique == field.isUnique ? nil : field.isUnique ? "is unique" : "is not unique",
      known.rules == field.rules ? nil : "has other CHECK constraints",
    ].compactMap(\.self)
    guard !phrases.isEmpty else { return nil }
    let sentence = "The column \(field.column) \(phrases.joined(separator: ", ")) now."
    return Difference(.column, field.column, .changed, sentence: sentence)
  }

  private func typePhrase(_ known: FieldSchema, _ field: FieldSchema) -> String? {
    let declared = fresh.field(inColumn: field.column)?.declaredType ?? ""
    guard declared.asciiFolded == (known.declaredType ?? "").asciiFolded else {
      return "is declared \(declared.isEmpty ? "without a type" : declared)"
    }
    return known.type == field.type && known.form == field.form
      ? nil : "means values of the type \(field.type.rawValue)"
  }

  private func keyPhrase(_ known: FieldSchema, _ field: FieldSchema) -> String? {
    guard known.isRowID != field.isRowID else { return nil }
    return field.isRowID ? "is SQLite's row number" : "is not SQLite's row number"
  }

  private func same(_ sql: String?, _ other: String?) -> Bool {
    sql.map { SQLTokens($0).normalized } == other.map { SQLTokens($0).normalized }
  }

  // The table

  private var table: [SchemaDrift.Difference] {
    let common = entry.fields.map(\.column.asciiFolded)
      .filter { renewed.field(inColumn: $0) != nil }
    let order = renewed.fields.map(\.column.asciiFolded).filter(common.contains)
    let uniques = { (model: ModelSchema) in
      Set((model.uniques + model.indexes.filter(\.isUnique).map(\.fields)).map(Set.init))
    }
    let key = renewed.key.joined(separator: ", ")
    let sentences = [
      common == order ? nil : "The columns are in another order.",
      entry.key.map(\.asciiFolded) == renewed.key.map(\.asciiFolded)
        ? nil : "The key of \(renewed.table) is (\(key)) now.",
      entry.isWithoutRowID == renewed.isWithoutRowID
        ? nil : "\(renewed.table) is \(renewed.isWithoutRowID ? "" : "not ")WITHOUT ROWID now.",
      uniques(entry) == uniques(renewed)
        ? nil : "Other columns of \(renewed.table) are unique together now.",
      entry.rules == renewed.rules ? nil : "\(renewed.table) has other CHECK constraints now.",
    ]
    return sentences.compactMap(\.self).map {
      Difference(.table, renewed.table, .changed, sentence: $0)
    }
  }
}

extension ModelSchema {
  fileprivate func field(inColumn column: String) -> FieldSchema? {
    let folded = column.asciiFolded
    return fields.first { $0.column.asciiFolded == folded }
  }
}
