extension SchemaDifference {
  /// The difference as ``SchemaDrift`` reports it. It belongs to the table, unless it concerns one
  /// column or index.
  package var drift: SchemaDrift.Difference {
    let (subject, name, reason) = place
    return SchemaDrift.Difference(subject, name, reason, sentence: sentence)
  }

  private typealias Place = (
    SchemaDrift.Difference.Subject, String, SchemaDrift.Difference.Reason
  )

  private var place: Place {
    switch kind {
    case .missingTable: (.table, table, .missing)
    case .missingColumn(let field, _): (.column, field, .missing)
    case .extraColumn(let column): (.column, column, .unexpected)
    case .rowID(let field, _), .type(let field, _, _), .nullability(let field, _),
      .defaultValue(let field, _, _), .collation(let field, _, _), .generated(let field, _),
      .missingReference(let field, _), .reference(let field, _, _):
      (.column, field, .changed)
    case .missingIndex(let index): (.index, index.name, .missing)
    case .index(let name): (.index, name, .changed)
    case .wrongKind, .notStrict, .withoutRowID, .key, .extraReference, .missingUnique, .extraUnique,
      .missingRule, .rule, .extraRule:
      (.table, table, .changed)
    }
  }
}
