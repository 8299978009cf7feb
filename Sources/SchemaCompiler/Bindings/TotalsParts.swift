/// The contribution of one source record to the totals. The record's row is named OLD, NEW or
/// otherwise.
struct TotalsParts {
  private let aggregate: ResolvedBinding.Aggregate
  private let written: WrittenRows?

  init(_ aggregate: ResolvedBinding.Aggregate, _ written: WrittenRows?) {
    self.aggregate = aggregate
    self.written = written
  }

  private var links: [FieldSchema] { aggregate.link.pairs.map(\.source) }

  package var keys: [String] { links.isEmpty ? ["m0"] : links.indices.map { "m\($0)" } }

  package func link(_ row: String) -> [String] {
    links.isEmpty ? ["0"] : links.map { RowColumn(row, $0).sql }
  }

  func isRow(of row: String) -> String {
    zip(keys, link(row)).map { "\($0) = \($1)" }.joined(separator: " AND ")
  }

  /// Returns a condition that is true when the record counts for some target.
  ///
  /// - Parameter isStored: Whether `row` is a row of the table and not OLD or NEW.
  package func counts(_ row: String, isStored: Bool = false) -> String {
    let linked = links.map { "\(RowColumn(row, $0)) IS NOT NULL" }
    let condition = isIncluded(row, isStored).map { [$0] } ?? []
    return (["1"] + linked + condition).joined(separator: " AND ")
  }

  /// OLD and NEW have no affinity, so their columns are cast to the type that the table's columns
  /// convert to. A cast has the affinity of its type: <https://sqlite.org/datatype3.html>.
  private func isIncluded(_ row: String, _ isStored: Bool) -> String? {
    guard let condition = aggregate.condition else { return nil }
    if let written, !isStored { return written.holds(row) }
    let text = condition.spelling(columnsOf: aggregate.source) { field in
      let cell = RowColumn(row, field).sql
      let type = field.affinity.columnType
      return type.isEmpty || isStored || aggregate.source.isAdopted
        ? cell : "CAST(\(cell) AS \(type))"
    }
    return "((\(text)) IS TRUE)"
  }

  /// The fields that determine for which target a record counts, and whether it counts.
  package var moving: [FieldSchema] {
    (links + (aggregate.condition.map(aggregate.source.fields) ?? [])).withoutRepeats
  }

  /// The field whose value determines how much a record counts; nil where each record counts as
  /// one.
  package var counted: FieldSchema? {
    aggregate.function == .count
      ? aggregate.field.flatMap { $0.isOptional ? $0 : nil } : aggregate.field
  }

  package func number(_ row: String) -> String {
    guard let field = aggregate.field, field.isOptional else { return "1" }
    return "(\(RowColumn(row, field)) IS NOT NULL)"
  }

  package func total(_ row: String) -> String {
    guard aggregate.function != .count, let field = aggregate.field else { return "0" }
    return "ifnull(\(RowColumn(row, field)), 0)"
  }

  /// True when an update changes how much ``counted`` contributes.
  var isCountedAnew: String {
    guard let counted else { return "0" }
    return aggregate.function == .count
      ? "\(number("OLD")) <> \(number("NEW"))" : TriggerMoment.anyChanged([counted])
  }

  /// True for a value that is not a whole number.
  func isUnfit(_ row: String) -> String {
    aggregate.field.map {
      "typeof(\(RowColumn(row, $0))) NOT IN ('integer', 'null')"
    } ?? "0"
  }

  /// True when an update leaves the record with the same target and still counted.
  var staysInPlace: String {
    let same = links.map {
      "\(RowColumn("OLD", $0)) COLLATE BINARY IS \(RowColumn("NEW", $0))"
    }
    return (same + [counts("OLD"), counts("NEW")]).joined(separator: " AND ")
  }
}
