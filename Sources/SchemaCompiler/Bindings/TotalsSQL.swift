/// The totals of a count, a sum or an average: the table that holds them, and the triggers that add
/// and subtract.
///
/// A row of the table exists as long as records count for it, whether or not the target record
/// exists.
struct TotalsSQL {
  private let aggregate: ResolvedBinding.Aggregate
  private let target: BindingSQL
  private let make: BindingObjects
  private let written: WrittenRows?
  private let parts: TotalsParts
  private let evictions: BindingEvictions
  /// The name of the table of totals, quoted.
  private let name: String
  /// The columns that identify a row of that table.
  private let keys: String

  private static let isEmpty = "records = 0 AND number = 0 AND total = 0"

  init(
    _ aggregate: ResolvedBinding.Aggregate, _ target: BindingSQL, _ make: BindingObjects
  ) {
    self.aggregate = aggregate
    self.target = target
    self.make = make
    name = SQLText.quoted(make.name(.totals))
    written = WrittenRows(for: aggregate, make)
    let parts = TotalsParts(aggregate, written)
    self.parts = parts
    keys = parts.keys.joined(separator: ", ")
    evictions = BindingEvictions(
      source: aggregate.source, link: aggregate.link.pairs.map(\.source),
      others: [
        ("records", { _ in "1" }), ("number", parts.number), ("total", parts.total),
      ], isRelevant: { parts.counts($0, isStored: true) },
      sets: target.binding.uniqueSets.sets(of: aggregate.source), make)
  }

  private var source: ModelSchema { aggregate.source }
  private var links: [FieldSchema] { aggregate.link.pairs.map(\.source) }
  private var isSum: Bool { aggregate.function != .count }

  // Tables

  /// The totals, the notes of evictions, and the rows for checking a condition.
  package var storage: [SchemaObject] {
    let totals = make.table(
      .totals,
      key: links.isEmpty
        ? [("m0", nil)] : links.enumerated().map { ("m\($0)", Optional($1)) },
      // Without a declared type, a total beyond 64 bits stays a real number, which the checks
      // detect.
      ["records INTEGER NOT NULL", "number INTEGER NOT NULL", "total NOT NULL"])
    return [totals, evictions.table] + [written?.table].compactMap(\.self)
  }

  /// Empties the tables before they are filled again.
  package var clearings: [String] {
    ["DELETE FROM \(evicted)", "DELETE FROM \(name)"]
      + (written.map { ["DELETE FROM \(SQLText.quoted($0.table.name))"] } ?? [])
  }

  private var evicted: String { SQLText.quoted(evictions.table.name) }

  // Statements of triggers

  /// The order of triggers is undefined, so the change of a row may be processed before its
  /// insertion. Therefore adding and subtracting insert the row of totals if it does not exist.
  private func changing(
    _ records: String, _ number: String, _ total: String, of row: String, where condition: String
  ) -> String {
    """
      INSERT INTO \(name) (\(keys), records, number, total)
      SELECT \(parts.link(row).joined(separator: ", ")), 0 \(records), 0 \(number), 0 \(total)
      WHERE \(condition)
      ON CONFLICT (\(keys)) DO UPDATE
      SET records = records \(records), number = number \(number), total = total \(total);
    """
  }

  private func add(where condition: String? = nil) -> String {
    changing(
      "+ 1", "+ \(parts.number("NEW"))", "+ \(parts.total("NEW"))", of: "NEW",
      where: [parts.counts("NEW"), condition].compactMap(\.self).joined(separator: " AND "))
  }

  private func subtract(where condition: String? = nil) -> String {
    changing(
      "- 1", "- \(parts.number("OLD"))", "- \(parts.total("OLD"))", of: "OLD",
      where: [parts.counts("OLD"), condition].compactMap(\.self).joined(separator: " AND "))
        + """

          DELETE FROM \(name)
          WHERE \(parts.isRow(of: "OLD")) AND \(Self.isEmpty);
        """
  }

  private func move(where condition: String = "1") -> String {
    changing(
      "+ 0", "- \(parts.number("OLD")) + \(parts.number("NEW"))",
      "- \(parts.total("OLD")) + \(parts.total("NEW"))", of: "NEW", where: condition)
  }

  private var message: String {
    SQLText.literal(BindingTriggers.refusal(of: target.binding.schema))
  }

  private func checkingTotal(where rows: String) -> [String] {
    guard isSum else { return [] }
    return [
      """
        SELECT RAISE(ABORT, \(message))
        FROM \(name)
        WHERE \(rows) AND typeof(total) <> 'integer';
      """
    ]
  }

  private var arrivalChecks: [String] {
    guard isSum else { return [] }
    return checkingTotal(where: parts.isRow(of: "NEW")) + [
      """
        SELECT RAISE(ABORT, \(message))
        WHERE \(parts.counts("NEW")) AND \(parts.isUnfit("NEW"));
      """
    ]
  }

  private var leavingChecks: [String] { checkingTotal(where: parts.isRow(of: "OLD")) }

  private func following(_ row: String) -> String {
    target.puttingOneRight(where: AggregateSQL.targets(of: row, aggregate, target))
  }

  /// The condition for `rows` is evaluated before other triggers can start.
  private func looking(at rows: [String], _ body: [String]) -> [String] {
    guard let written else { return body }
    return [written.taking(rows)] + body + [written.forgetting]
  }

  // Triggers

  package var triggers: [SchemaObject] {
    [
      make.trigger(
        .sourceInsert, .after(.insert), on: source,
        looking(at: ["NEW"], [add()] + arrivalChecks) + [following("NEW")]),
      make.trigger(
        .sourceDelete, .after(.delete), on: source,
        looking(at: ["OLD"], [subtract()] + leavingChecks) + [following("OLD")]),
    ] + (written == nil ? updates : [updateLookedAt]) + evictions.triggers(make, consuming: taking)
  }

  /// The trigger for updates if the condition needs stored rows. A WHEN clause cannot insert rows
  /// into a table, so the body determines where the record stays.
  private var updateLookedAt: SchemaObject {
    let watched = (parts.moving + parts.counted).withoutRepeats
    let isMoved = "NOT (\(parts.staysInPlace))"
    let inPlace = parts.counted.isEmpty ? [] : [move(where: parts.staysInPlace)]
    let changes = inPlace + [add(where: isMoved), subtract(where: isMoved)]
    return make.trigger(
      .sourceUpdate, .after(.update(of: watched)), on: source,
      when: TriggerMoment.anyChanged(watched),
      looking(at: ["OLD", "NEW"], changes + arrivalChecks + leavingChecks)
        + [following("NEW"), following("OLD")])
  }

  /// A trigger costs time in proportion to its body even if WHEN is false. So there are two
  /// triggers, each only for the updates that can concern it.
  private var updates: [SchemaObject] {
    var updates: [SchemaObject] = []
    if !parts.counted.isEmpty {
      updates.append(
        make.trigger(
          .sourceUpdate, .after(.update(of: parts.counted)), on: source,
          when: "(\(parts.isCountedAnew)) AND \(parts.staysInPlace)",
          [move()] + arrivalChecks + [following("NEW")]))
    }
    if !parts.moving.isEmpty {
      updates.append(
        make.trigger(
          .sourceMove, .after(.update(of: parts.moving)), on: source,
          when: "NOT (\(parts.staysInPlace))",
          [add(), subtract()] + arrivalChecks + leavingChecks
            + [following("NEW"), following("OLD")]))
    }
    return updates
  }

  /// Subtracts the records in `gone` from the totals.
  private func taking(_ gone: BindingEvictions.Gone) -> [String] {
    let same = parts.keys.indices.map { index in
      links.isEmpty ? "1" : "\(evicted).m\(index) = \(name).\(parts.keys[index])"
    }
    .joined(separator: " AND ")
    func lost(_ column: String) -> String {
      "(SELECT sum(\(column)) FROM \(evicted) WHERE \(same) AND \(gone.condition))"
    }
    let isLinked = links.isEmpty ? "1" : "(\(keys)) IN (\(gone.links))"
    let rows = target.rows(aggregate.link.pairs, areIn: gone.links)
    return [
      """
        UPDATE \(name)
        SET records = records - \(lost("records")), number = number - \(lost("number")), total = total - \(lost("total"))
        WHERE EXISTS (SELECT 1 FROM \(evicted) WHERE \(same) AND \(gone.condition));
        DELETE FROM \(name)
        WHERE \(isLinked) AND \(Self.isEmpty);
      """
    ] + checkingTotal(where: isLinked) + [target.puttingRight(where: rows)]
  }

  // Filling and comparing

  /// The records that count. In the table itself columns have their own affinity, whatever values
  /// they hold.
  private var rows: String {
    "FROM \(SQLText.quoted(source.table)) AS \(Self.alias) "
      + "WHERE \(parts.counts(Self.alias, isStored: true))"
  }

  private static let alias = BindingSQL.alias

  private var group: String { parts.link(Self.alias).joined(separator: ", ") }

  private var sums: String {
    "count(*), sum(\(parts.number(Self.alias))), sum(\(parts.total(Self.alias)))"
  }

  /// Fills the table of totals.
  var refill: BindingPass {
    BindingPass(
      model: source,
      statement: """
        INSERT INTO \(name) (\(keys), records, number, total)
        SELECT \(group), \(sums)
        \(rows)
        """,
      end: """

        GROUP BY \(links.isEmpty ? "0 + 0" : group)
        ON CONFLICT (\(keys)) DO UPDATE
        SET records = records + excluded.records, number = number + excluded.number, total = total + excluded.total
        """)
  }

  /// Selects the links whose totals differ from those of the records.
  var audit: String {
    // A compound SELECT uses the collation of its first part; it is named explicitly here.
    let groups =
      links.isEmpty
      ? keys
      : zip(parts.keys, links).map { "\($0) COLLATE \(SQLText.quoted($1.collation.name))" }
        .joined(separator: ", ")
    let aliased = zip(parts.link(Self.alias), parts.keys).map { "\($0) AS \($1)" }
      .joined(separator: ", ")
    return """
      SELECT \(keys) FROM (
        SELECT \(keys), records, number, total FROM \(name)
        WHERE NOT (\(Self.isEmpty) AND typeof(total) = 'integer')
        UNION ALL
        SELECT \(aliased), \(sums) \(rows)
        GROUP BY \(links.isEmpty ? "0 + 0" : group)
      )
      GROUP BY \(groups)
      HAVING count(*) <> 2 OR min(records) <> max(records) OR min(number) <> max(number)
        OR min(total) <> max(total)
        OR min(typeof(total)) <> 'integer' OR max(typeof(total)) <> 'integer'
      """
  }

  /// True for targets that drift and for targets of wrong totals.
  package var offence: String {
    let isWrong =
      (aggregate.link.place(of: target.table) + [target.rows(aggregate.link.pairs, areIn: audit)])
      .joined(separator: " AND ")
    return "((\(target.drift)) OR (\(isWrong)))"
  }

  package static func value(
    of aggregate: ResolvedBinding.Aggregate, for model: ModelSchema, _ make: BindingObjects
  ) -> String {
    let table = SQLText.quoted(make.name(.totals))
    let rows =
      aggregate.link.pairs.isEmpty
      ? "\(table).m0 = 0"
      : aggregate.link.pairs.enumerated().map { index, pair in
        "\(table).m\(index) = \(RowColumn(SQLText.quoted(model.table), pair.target))"
      }
      .joined(separator: " AND ")
    return switch aggregate.function {
    case .sum:
      "(SELECT \(sum(aggregate.term)) FROM \(table) WHERE \(rows))"
    case .average:
      "(SELECT \(mean(aggregate.term)) FROM \(table) WHERE \(rows) AND number > 0)"
    default: "(SELECT number FROM \(table) WHERE \(rows))"
    }
  }

  private static func sum(_ term: AggregateTerm?) -> String {
    guard let term, term.decimals != nil else { return "total" }
    return DecimalSQL.text(of: "total", scale: term.scale)
  }

  private static func mean(_ term: AggregateTerm?) -> String {
    let mean = "CAST(total AS REAL) / number"
    return term.map { $0.scale > 0 ? "\(mean) / \(DecimalSQL.power($0.scale)).0" : mean } ?? mean
  }
}
