/// Totals of a count, a sum or an average: the table that holds them, and the triggers that add to
/// it and take from it.
///
/// A row of the table is there as long as records count for it, whether or not a target record is.
struct TotalsSQL {
  let triggers: [BindingTriggers.Object]
  let storage: [BindingTriggers.Object]
  /// Empties what is to be filled anew.
  let clearings: [String]
  let refill: BindingPass
  /// Selects the links whose totals are not those of the records.
  let audit: String

  private let aggregate: ResolvedBinding.Aggregate
  private let table: String

  init(
    _ aggregate: ResolvedBinding.Aggregate, _ target: BindingSQL, _ make: BindingObjects
  ) {
    self.aggregate = aggregate
    table = SQLText.quoted(make.name(.totals))
    let parts = Parts(aggregate)
    let message = SQLText.literal(BindingTriggers.refusal(of: target.binding.schema))
    let totals = make.table(
      .totals,
      key: aggregate.link.pairs.isEmpty
        ? [("m0", nil)]
        : aggregate.link.pairs.enumerated().map { ("m\($0)", Optional($1.source)) },
      ["records INTEGER NOT NULL", "number INTEGER NOT NULL", "total INTEGER NOT NULL"])
    let name = table
    let keys = parts.keys.joined(separator: ", ")
    // A change of a row may be told before its insertion, since the order of triggers is undefined;
    // so what is added or taken makes its row of the table where it finds none.
    func adding(
      _ records: String, _ number: String, _ total: String, of row: String, where condition: String
    ) -> String {
      """
        INSERT INTO \(name) (\(keys), records, number, total)
        SELECT \(parts.link(row).joined(separator: ", ")), \(records), \(number), \(total)
        WHERE \(condition)
        ON CONFLICT (\(keys)) DO UPDATE
        SET records = records + excluded.records, number = number + excluded.number, total = total + excluded.total;
      """
    }
    let add = adding(
      "1", parts.number("NEW"), parts.total("NEW"), of: "NEW", where: parts.counts("NEW"))
    let isEmpty = "records = 0 AND number = 0 AND total = 0"
    let subtract =
      adding(
        "-1", "-\(parts.number("OLD"))", "-\(parts.total("OLD"))", of: "OLD",
        where: parts.counts("OLD")) + """

          DELETE FROM \(name)
          WHERE \(parts.isRow(of: "OLD")) AND \(isEmpty);
        """
    let move = adding(
      "0", "\(parts.number("NEW")) - \(parts.number("OLD"))",
      "\(parts.total("NEW")) - \(parts.total("OLD"))", of: "NEW", where: "1")
    let check = """
        SELECT RAISE(ABORT, \(message))
        FROM \(name)
        WHERE \(parts.isRow(of: "NEW")) AND typeof(total) <> 'integer';
        SELECT RAISE(ABORT, \(message))
        WHERE \(parts.counts("NEW")) AND \(parts.isUnfit("NEW"));
      """
    let checks = aggregate.function == .count ? [] : [check]
    func following(_ row: String) -> String {
      target.puttingRight(where: AggregateSQL.targets(of: row, aggregate, target))
    }
    let source = aggregate.source
    let links = aggregate.link.pairs.map(\.source)
    let watched = (links + aggregate.dependencies).withoutRepeats
    let changed = TriggerMoment.anyChanged(watched)
    let evictions = BindingEvictions(
      source: source, link: links,
      others: [
        ("records", { _ in "1" }), ("number", parts.number), ("total", parts.total),
      ], isRelevant: parts.counts, make)
    let evicted = SQLText.quoted(evictions.table.name)
    var all = [
      make.trigger(.sourceInsert, "AFTER INSERT", on: source, [add] + checks + [following("NEW")]),
      make.trigger(
        .sourceDelete, "AFTER DELETE", on: source, [subtract, following("OLD")]),
    ]
    if !watched.isEmpty {
      all += [
        make.trigger(
          .sourceUpdate, TriggerMoment.update(of: watched), on: source,
          when: "(\(changed)) AND \(parts.staysInPlace)",
          [move] + checks + [following("NEW")]),
        make.trigger(
          .sourceMove, TriggerMoment.update(of: watched), on: source,
          when: "(\(changed)) AND NOT (\(parts.staysInPlace))",
          [add, subtract] + checks + [following("NEW"), following("OLD")]),
      ]
    }
    all += evictions.triggers(make) { gone in
      let same = parts.keys.indices.map { index in
        links.isEmpty ? "1" : "\(evicted).m\(index) = \(name).\(parts.keys[index])"
      }
      .joined(separator: " AND ")
      func lost(_ column: String) -> String {
        "(SELECT sum(\(column)) FROM \(evicted) WHERE \(same) AND \(gone.condition))"
      }
      let isLinked = links.isEmpty ? "1" : "(\(keys)) IN (\(gone.links))"
      let rows = target.rows(aggregate.link.pairs.map(\.target), areIn: gone.links)
      return [
        """
          UPDATE \(name)
          SET records = records - \(lost("records")), number = number - \(lost("number")), total = total - \(lost("total"))
          WHERE EXISTS (SELECT 1 FROM \(evicted) WHERE \(same) AND \(gone.condition));
          DELETE FROM \(name)
          WHERE \(isLinked) AND \(isEmpty);
        """,
        target.puttingRight(where: rows),
      ]
    }
    triggers = all
    storage = [totals, evictions.table]
    let alias = BindingSQL.alias
    let rows = "FROM \(SQLText.quoted(source.table)) AS \(alias) WHERE \(parts.counts(alias))"
    let group = parts.link(alias).joined(separator: ", ")
    clearings = ["DELETE FROM \(evicted)", "DELETE FROM \(name)"]
    refill = BindingPass(
      model: source,
      statement: """
        INSERT INTO \(name) (\(keys), records, number, total)
        SELECT \(group), count(*), sum(\(parts.number(alias))), sum(\(parts.total(alias)))
        \(rows)
        """,
      end: """

        GROUP BY \(links.isEmpty ? "0 + 0" : group)
        ON CONFLICT (\(keys)) DO UPDATE
        SET records = records + excluded.records, number = number + excluded.number, total = total + excluded.total
        """)
    let aliased = zip(parts.link(alias), parts.keys).map { "\($0) AS \($1)" }
      .joined(separator: ", ")
    audit = """
      SELECT \(keys) FROM (
        SELECT \(keys), records, number, total FROM \(name)
        UNION ALL
        SELECT \(aliased), -1, -\(parts.number(alias)), -\(parts.total(alias)) \(rows)
      )
      GROUP BY \(keys)
      HAVING sum(records) <> 0 OR sum(number) <> 0 OR sum(total) <> 0
      """
  }

  static func value(
    of aggregate: ResolvedBinding.Aggregate, for model: ModelSchema, _ make: BindingObjects
  ) -> String {
    let table = SQLText.quoted(make.name(.totals))
    let rows =
      aggregate.link.pairs.isEmpty
      ? "\(table).m0 = 0"
      : aggregate.link.pairs.enumerated().map { index, pair in
        "\(table).m\(index) = \(SQLText.quoted(model.table)).\(SQLText.quoted(pair.target.column))"
      }
      .joined(separator: " AND ")
    return switch aggregate.function {
    case .sum: "(SELECT total FROM \(table) WHERE \(rows))"
    case .average:
      "(SELECT CAST(total AS REAL) / number FROM \(table) WHERE \(rows) AND number > 0)"
    default: "(SELECT number FROM \(table) WHERE \(rows))"
    }
  }
}

/// What one source record, spelled as OLD, NEW or another row, brings to the totals.
private struct Parts {
  private let aggregate: ResolvedBinding.Aggregate

  init(_ aggregate: ResolvedBinding.Aggregate) {
    self.aggregate = aggregate
  }

  private var links: [FieldSchema] { aggregate.link.pairs.map(\.source) }

  var keys: [String] { links.isEmpty ? ["m0"] : links.indices.map { "m\($0)" } }

  func link(_ row: String) -> [String] {
    links.isEmpty ? ["0"] : links.map { "\(row).\(SQLText.quoted($0.column))" }
  }

  func isRow(of row: String) -> String {
    zip(keys, link(row)).map { "\($0) = \($1)" }.joined(separator: " AND ")
  }

  /// True when the record counts for some target.
  func counts(_ row: String) -> String {
    let linked = links.map { "\(row).\(SQLText.quoted($0.column)) IS NOT NULL" }
    let condition = isIncluded(row).map { [$0] } ?? []
    return (["1"] + linked + condition).joined(separator: " AND ")
  }

  /// OLD and NEW have no affinity, so their columns are cast to what the table's convert to; a
  /// cast gives the affinity of its type: <https://sqlite.org/datatype3.html>.
  private func isIncluded(_ row: String) -> String? {
    aggregate.condition.map { condition in
      let text = condition.spelling(columnsOf: aggregate.source) { field in
        let cell = "\(row).\(SQLText.quoted(field.column))"
        let type = field.affinity.columnType
        return type.isEmpty ? cell : "CAST(\(cell) AS \(type))"
      }
      return "((\(text)) IS TRUE)"
    }
  }

  func number(_ row: String) -> String {
    aggregate.field.map { "(\(row).\(SQLText.quoted($0.column)) IS NOT NULL)" } ?? "1"
  }

  func total(_ row: String) -> String {
    guard aggregate.function != .count, let field = aggregate.field else { return "0" }
    return "ifnull(\(row).\(SQLText.quoted(field.column)), 0)"
  }

  /// True for a value that no whole number is.
  func isUnfit(_ row: String) -> String {
    aggregate.field.map {
      "typeof(\(row).\(SQLText.quoted($0.column))) NOT IN ('integer', 'null')"
    } ?? "0"
  }

  /// True when an update leaves the record with the same target and counting as before.
  var staysInPlace: String {
    let same = links.map {
      "OLD.\(SQLText.quoted($0.column)) COLLATE BINARY IS NEW.\(SQLText.quoted($0.column))"
    }
    return (same + [counts("OLD"), counts("NEW")]).joined(separator: " AND ")
  }
}
