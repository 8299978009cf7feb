/// Totals of a count, a sum or an average: the table that holds them, and the triggers that add to
/// it and take from it.
///
/// A row of the table is there as long as records count for it, whether or not a target record is.
struct TotalsSQL {
  package let triggers: [SchemaObject]
  package let storage: [SchemaObject]
  /// Empties what is to be filled anew.
  package let clearings: [String]
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
    let written = WrittenRows(where: aggregate.condition, of: aggregate.source, make)
    let parts = Parts(aggregate, written)
    let message = SQLText.literal(BindingTriggers.refusal(of: target.binding.schema))
    let totals = make.table(
      .totals,
      key: aggregate.link.pairs.isEmpty
        ? [("m0", nil)]
        : aggregate.link.pairs.enumerated().map { ("m\($0)", Optional($1.source)) },
      // Without a type a total that left 64 bits stays a real number, which the checks see.
      ["records INTEGER NOT NULL", "number INTEGER NOT NULL", "total NOT NULL"])
    let name = table
    let keys = parts.keys.joined(separator: ", ")
    // A change of a row may be told before its insertion, since the order of triggers is undefined;
    // so what is added or taken makes its row of the table where it finds none.
    func changing(
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
    func add(where condition: String? = nil) -> String {
      changing(
        "+ 1", "+ \(parts.number("NEW"))", "+ \(parts.total("NEW"))", of: "NEW",
        where: [parts.counts("NEW"), condition].compactMap(\.self).joined(separator: " AND "))
    }
    let isEmpty = "records = 0 AND number = 0 AND total = 0"
    func subtract(where condition: String? = nil) -> String {
      changing(
        "- 1", "- \(parts.number("OLD"))", "- \(parts.total("OLD"))", of: "OLD",
        where: [parts.counts("OLD"), condition].compactMap(\.self).joined(separator: " AND "))
          + """

            DELETE FROM \(name)
            WHERE \(parts.isRow(of: "OLD")) AND \(isEmpty);
          """
    }
    func move(where condition: String = "1") -> String {
      changing(
        "+ 0", "- \(parts.number("OLD")) + \(parts.number("NEW"))",
        "- \(parts.total("OLD")) + \(parts.total("NEW"))", of: "NEW", where: condition)
    }
    let isSum = aggregate.function != .count
    func checkingTotal(where rows: String) -> [String] {
      guard isSum else { return [] }
      return [
        """
          SELECT RAISE(ABORT, \(message))
          FROM \(name)
          WHERE \(rows) AND typeof(total) <> 'integer';
        """
      ]
    }
    let fitting = """
        SELECT RAISE(ABORT, \(message))
        WHERE \(parts.counts("NEW")) AND \(parts.isUnfit("NEW"));
      """
    let arrivalChecks = isSum ? checkingTotal(where: parts.isRow(of: "NEW")) + [fitting] : []
    let leavingChecks = checkingTotal(where: parts.isRow(of: "OLD"))
    func following(_ row: String) -> String {
      target.puttingOneRight(where: AggregateSQL.targets(of: row, aggregate, target))
    }
    let source = aggregate.source
    let links = aggregate.link.pairs.map(\.source)
    let evictions = BindingEvictions(
      source: source, link: links,
      others: [
        ("records", { _ in "1" }), ("number", parts.number), ("total", parts.total),
      ], isRelevant: { parts.counts($0, isStored: true) },
      sets: target.binding.uniqueSets.sets(of: source), make)
    let evicted = SQLText.quoted(evictions.table.name)
    // What `rows` are asked for is done before other triggers can start.
    func looking(at rows: [String], _ body: [String]) -> [String] {
      guard let written else { return body }
      return [written.taking(rows)] + body + [written.forgetting]
    }
    var all = [
      make.trigger(
        .sourceInsert, "AFTER INSERT", on: source,
        looking(at: ["NEW"], [add()] + arrivalChecks) + [following("NEW")]),
      make.trigger(
        .sourceDelete, "AFTER DELETE", on: source,
        looking(at: ["OLD"], [subtract()] + leavingChecks) + [following("OLD")]),
    ]
    let watched = (parts.moving + [parts.counted].compactMap(\.self)).withoutRepeats
    if written != nil {
      // A WHEN cannot put rows into a table, so the body finds out where the record stays.
      let isMoved = "NOT (\(parts.staysInPlace))"
      let inPlace = parts.counted == nil ? [] : [move(where: parts.staysInPlace)]
      all.append(
        make.trigger(
          .sourceUpdate, TriggerMoment.update(of: watched), on: source,
          when: TriggerMoment.anyChanged(watched),
          looking(
            at: ["OLD", "NEW"],
            inPlace + [add(where: isMoved), subtract(where: isMoved)] + arrivalChecks
              + leavingChecks) + [following("NEW"), following("OLD")]))
    } else {
      // A trigger costs by the size of its body even where WHEN stops it, so each of the two is
      // there only for updates that can concern it.
      if let counted = parts.counted {
        all.append(
          make.trigger(
            .sourceUpdate, TriggerMoment.update(of: [counted]), on: source,
            when: "(\(parts.isCountedAnew)) AND \(parts.staysInPlace)",
            [move()] + arrivalChecks + [following("NEW")]))
      }
      if !parts.moving.isEmpty {
        all.append(
          make.trigger(
            .sourceMove, TriggerMoment.update(of: parts.moving), on: source,
            when: "NOT (\(parts.staysInPlace))",
            [add(), subtract()] + arrivalChecks + leavingChecks
              + [following("NEW"), following("OLD")]))
      }
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
      let rows = target.rows(aggregate.link.pairs, areIn: gone.links)
      return [
        """
          UPDATE \(name)
          SET records = records - \(lost("records")), number = number - \(lost("number")), total = total - \(lost("total"))
          WHERE EXISTS (SELECT 1 FROM \(evicted) WHERE \(same) AND \(gone.condition));
          DELETE FROM \(name)
          WHERE \(isLinked) AND \(isEmpty);
        """
      ] + checkingTotal(where: isLinked) + [target.puttingRight(where: rows)]
    }
    triggers = all
    storage = [totals, evictions.table] + [written?.table].compactMap(\.self)
    let alias = BindingSQL.alias
    // In the table itself columns have their own types, whatever values they hold.
    let rows =
      "FROM \(SQLText.quoted(source.table)) AS \(alias) WHERE \(parts.counts(alias, isStored: true))"
    let group = parts.link(alias).joined(separator: ", ")
    clearings =
      ["DELETE FROM \(evicted)", "DELETE FROM \(name)"]
      + (written.map { ["DELETE FROM \(SQLText.quoted($0.table.name))"] } ?? [])
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
    // A compound's own collation is the first part's; it is said here all the same.
    let groups =
      links.isEmpty
      ? keys
      : zip(parts.keys, aggregate.link.pairs).map {
        "\($0) COLLATE \(SQLText.quoted($1.source.collation.name))"
      }
      .joined(separator: ", ")
    let aliased = zip(parts.link(alias), parts.keys).map { "\($0) AS \($1)" }
      .joined(separator: ", ")
    audit = """
      SELECT \(keys) FROM (
        SELECT \(keys), records, number, total FROM \(name)
        WHERE NOT (\(isEmpty) AND typeof(total) = 'integer')
        UNION ALL
        SELECT \(aliased), count(*), sum(\(parts.number(alias))), sum(\(parts.total(alias))) \(rows)
        GROUP BY \(links.isEmpty ? "0 + 0" : group)
      )
      GROUP BY \(groups)
      HAVING count(*) <> 2 OR min(records) <> max(records) OR min(number) <> max(number)
        OR min(total) <> max(total)
        OR min(typeof(total)) <> 'integer' OR max(typeof(total)) <> 'integer'
      """
  }

  package static func value(
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
  private let written: WrittenRows?

  init(_ aggregate: ResolvedBinding.Aggregate, _ written: WrittenRows?) {
    self.aggregate = aggregate
    self.written = written
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
  ///
  /// - Parameter isStored: Whether `row` is one of the table and not OLD or NEW.
  func counts(_ row: String, isStored: Bool = false) -> String {
    let linked = links.map { "\(row).\(SQLText.quoted($0.column)) IS NOT NULL" }
    let condition = isIncluded(row, isStored).map { [$0] } ?? []
    return (["1"] + linked + condition).joined(separator: " AND ")
  }

  /// OLD and NEW have no affinity, so their columns are cast to what the table's convert to; a
  /// cast gives the affinity of its type: <https://sqlite.org/datatype3.html>.
  private func isIncluded(_ row: String, _ isStored: Bool) -> String? {
    guard let condition = aggregate.condition else { return nil }
    if let written, !isStored { return written.holds(row) }
    let text = condition.spelling(columnsOf: aggregate.source) { field in
      let cell = "\(row).\(SQLText.quoted(field.column))"
      let type = field.affinity.columnType
      return type.isEmpty || isStored || aggregate.source.isAdopted
        ? cell : "CAST(\(cell) AS \(type))"
    }
    return "((\(text)) IS TRUE)"
  }

  /// The fields that say for which target a record counts, and whether it does.
  var moving: [FieldSchema] {
    (links + (aggregate.condition.map(aggregate.source.fields) ?? [])).withoutRepeats
  }

  /// The field whose value decides how much a record counts; nil where each counts for one.
  var counted: FieldSchema? {
    aggregate.function == .count
      ? aggregate.field.flatMap { $0.isOptional ? $0 : nil } : aggregate.field
  }

  func number(_ row: String) -> String {
    guard let field = aggregate.field, field.isOptional else { return "1" }
    return "(\(row).\(SQLText.quoted(field.column)) IS NOT NULL)"
  }

  func total(_ row: String) -> String {
    guard aggregate.function != .count, let field = aggregate.field else { return "0" }
    return "ifnull(\(row).\(SQLText.quoted(field.column)), 0)"
  }

  /// True when an update leaves ``counted`` with what counts differently.
  var isCountedAnew: String {
    guard let counted else { return "0" }
    return aggregate.function == .count
      ? "\(number("OLD")) <> \(number("NEW"))" : TriggerMoment.anyChanged([counted])
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
