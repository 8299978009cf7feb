/// The objects that keep an aggregate over several records up to date.
///
/// Counts, sums and averages are stored as totals in a table of the binding, with one row for each
/// value of the link. Each change of a source record is subtracted from one row and added to
/// another, so records are never counted again. Minimum, maximum, first and last are looked up in
/// an index of the binding. Joined texts are rebuilt from the records of one target.
struct AggregateSQL {
  package let triggers: [SchemaObject]
  package let storage: [SchemaObject]
  package let clearings: [String]
  private(set) var refill: BindingPass?
  /// Selects the links whose totals are wrong.
  private(set) var audit: String?
  /// The drift condition, extended to the targets of wrong totals.
  package private(set) var offence: String?

  init(
    _ aggregate: ResolvedBinding.Aggregate, _ target: BindingSQL, _ make: BindingObjects
  ) {
    if aggregate.function.isTotal {
      self.init(TotalsSQL(aggregate, target, make))
    } else {
      self.init(lookingUp: aggregate, target, make)
    }
  }

  private init(_ totals: TotalsSQL) {
    triggers = totals.triggers
    storage = totals.storage
    clearings = totals.clearings
    refill = totals.refill
    audit = totals.audit
    offence = totals.offence
  }

  private init(
    lookingUp aggregate: ResolvedBinding.Aggregate, _ target: BindingSQL, _ make: BindingObjects
  ) {
    let evictions = BindingEvictions(
      source: aggregate.source, link: aggregate.link.pairs.map(\.source),
      isRelevant: { _ in "1" }, sets: target.binding.uniqueSets.sets(of: aggregate.source), make)
    triggers =
      Self.following(aggregate, target, make)
      + evictions.triggers(make) { gone in
        [target.puttingRight(where: target.rows(aggregate.link.pairs, areIn: gone.links))]
      }
    storage = [evictions.table, Self.order(of: aggregate, make)]
    clearings = ["DELETE FROM \(SQLText.quoted(evictions.table.name))"]
  }

  /// The triggers on the source's table that update the targets of a written record.
  private static func following(
    _ aggregate: ResolvedBinding.Aggregate, _ target: BindingSQL, _ make: BindingObjects
  ) -> [SchemaObject] {
    let links = aggregate.link.pairs.map(\.source)
    let watched = (links + aggregate.dependencies).withoutRepeats
    func following(_ row: String) -> String {
      target.puttingOneRight(where: targets(of: row, aggregate, target))
    }
    // Most updates keep the record with its target, which is then already correct.
    let leaving =
      links.isEmpty
      ? []
      : [
        target.puttingOneRight(
          where: "(\(TriggerMoment.anyChanged(links))) AND "
            + targets(of: "OLD", aggregate, target))
      ]
    return [
      make.trigger(.sourceInsert, .after(.insert), on: aggregate.source, [following("NEW")]),
      make.trigger(
        .sourceUpdate, .after(.update(of: watched)), on: aggregate.source,
        when: TriggerMoment.anyChanged(watched), [following("NEW")] + leaving),
      make.trigger(.sourceDelete, .after(.delete), on: aggregate.source, [following("OLD")]),
    ]
  }

  /// Returns a condition that is true for the target rows for which the source row OLD or NEW
  /// counts.
  package static func targets(
    of row: String, _ aggregate: ResolvedBinding.Aggregate, _ target: BindingSQL
  ) -> String {
    let pairs = aggregate.link.pairs.map {
      "\(RowColumn(target.table, $0.target)) = \(RowColumn(row, $0.source))"
    }
    return (pairs + aggregate.link.place(of: target.table)).joined(separator: " AND ")
  }

  /// Returns the value for the current row of the target.
  package static func value(
    of aggregate: ResolvedBinding.Aggregate, for model: ModelSchema, _ make: BindingObjects
  ) -> String {
    let found =
      aggregate.function.isTotal
      ? TotalsSQL.value(of: aggregate, for: model, make) : found(aggregate, for: model)
    guard case .literal(let sql) = aggregate.absence else { return found }
    return "ifnull(\(found), (\(sql)))"
  }

  private static func found(
    _ aggregate: ResolvedBinding.Aggregate, for model: ModelSchema
  ) -> String {
    let alias = BindingSQL.alias
    let value =
      aggregate.term.map { $0.value(of: alias) }
      ?? aggregate.field.map { RowColumn(alias, $0).sql } ?? "1"
    let table = SQLText.quoted(model.table)
    var conditions = aggregate.link.pairs.map {
      "\(RowColumn(table, $0.target)) = \(RowColumn(alias, $0.source))"
    }
    if aggregate.isWithoutNull { conditions.append("\(value) IS NOT NULL") }
    if let condition = aggregate.condition { conditions.append("(\(condition.text))") }
    if conditions.isEmpty { conditions.append("1") }
    let isLast = aggregate.function == .last || aggregate.function == .maximum
    let first = aggregate.term.map { [$0.value(of: alias)] } ?? []
    let order = (first + aggregate.ordering.map { RowColumn(alias, $0).sql })
      .map { "\($0)\(isLast ? " DESC" : "")" }.joined(separator: ", ")
    let rows = """
      FROM \(SQLText.quoted(aggregate.source.table)) AS \(alias) \
      WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(order)
      """
    guard aggregate.function == .joined else {
      // A computed value is compared with the target as it is.
      return "(SELECT \(aggregate.term == nil ? value : "+\(value)") \(rows) LIMIT 1)"
    }
    let separator = SQLText.literal(aggregate.separator)
    return
      "(SELECT group_concat(_ms_value, \(separator)) FROM (SELECT \(value) AS _ms_value \(rows)))"
  }

  /// The index for looking up the value. It contains only records that count, so no record has to
  /// be skipped.
  private static func order(
    of aggregate: ResolvedBinding.Aggregate, _ make: BindingObjects
  ) -> SchemaObject {
    let links = aggregate.link.pairs.map(\.source)
    let names: String
    var conditions = aggregate.condition.map { ["(\($0.text))"] } ?? []
    if let term = aggregate.term {
      let value = "(\(term.expression.text))"
      conditions.append("\(value) IS NOT NULL")
      let ordering = aggregate.ordering.filter { !links.contains($0) }
      names = (links.map(\.quotedColumn) + [value] + ordering.map(\.quotedColumn))
        .joined(separator: ", ")
    } else {
      names = SQLText.quotedList((links + aggregate.ordering).withoutRepeats.map(\.column))
    }
    let part = conditions.isEmpty ? "" : "\nWHERE \(conditions.joined(separator: " AND "))"
    return SchemaObject(
      kind: .index, name: make.name(.order), owner: make.owner,
      sql: """
        CREATE INDEX \(SQLText.quoted(make.name(.order)))
        ON \(SQLText.quoted(aggregate.source.table)) (\(names))\(part)
        """)
  }
}

extension ResolvedBinding.Aggregate {
  /// Whether records without a value do not count.
  fileprivate var isWithoutNull: Bool {
    function == .minimum || function == .maximum || function == .joined
  }

  /// The fields that order the records of one target. No two records are equal in all of them.
  fileprivate var ordering: [FieldSchema] {
    let first = function == .minimum || function == .maximum ? field : order
    return ([first].compactMap(\.self) + source.keyFields).withoutRepeats
  }
}

extension FieldSchema {
  fileprivate var quotedColumn: String { SQLText.quoted(column) }
}
