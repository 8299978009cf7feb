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
  /// convert to.
  private func isIncluded(_ row: String, _ isStored: Bool) -> String? {
    guard let condition = aggregate.condition else { return nil }
    if let written, !isStored { return written.holds(row) }
    let text = condition.spelling(columnsOf: aggregate.source) { field in
      let cell = RowColumn(row, field).sql
      return isStored || aggregate.source.isAdopted ? cell : field.cast(cell)
    }
    return "((\(text)) IS TRUE)"
  }

  /// The fields that determine for which target a record counts, and whether it counts.
  package var moving: [FieldSchema] {
    (links + (aggregate.condition.map(aggregate.source.fields) ?? [])).withoutRepeats
  }

  /// The fields whose values determine how much a record counts; none where each record counts as
  /// one.
  package var counted: [FieldSchema] {
    aggregate.function == .count
      ? aggregate.measured.filter(\.isOptional) : aggregate.measured
  }

  package func number(_ row: String) -> String {
    if let term = aggregate.term { return term.hasValue(row, value(row, of: term)) }
    guard let field = aggregate.field, field.isOptional else { return "1" }
    return "(\(RowColumn(row, field)) IS NOT NULL)"
  }

  package func total(_ row: String) -> String {
    guard aggregate.function != .count, let value = value(row) else { return "0" }
    return "ifnull(\(value), 0)"
  }

  /// The value of a record that is totalled; nil if records are counted.
  private func value(_ row: String) -> String? {
    aggregate.term.map { value(row, of: $0) } ?? aggregate.field.map { RowColumn(row, $0).sql }
  }

  private func value(_ row: String, of term: AggregateTerm) -> String {
    guard row == "OLD" || row == "NEW" else { return term.value(of: row) }
    if let written, term.needsColumns { return written.value(of: term.expression, row) }
    return term.valueOfChangedRow(row)
  }

  /// True when an update changes how much ``counted`` contributes.
  var isCountedAnew: String {
    guard !counted.isEmpty else { return "0" }
    return aggregate.function == .count
      ? "\(number("OLD")) <> \(number("NEW"))" : TriggerMoment.anyChanged(counted)
  }

  /// True for a value that is not a whole number.
  func isUnfit(_ row: String) -> String {
    value(row).map { "typeof(\($0)) NOT IN ('integer', 'null')" } ?? "0"
  }

  /// True when an update leaves the record with the same target and still counted.
  var staysInPlace: String {
    let same = links.map {
      "\(RowColumn("OLD", $0)) COLLATE BINARY IS \(RowColumn("NEW", $0))"
    }
    return (same + [counts("OLD"), counts("NEW")]).joined(separator: " AND ")
  }
}
