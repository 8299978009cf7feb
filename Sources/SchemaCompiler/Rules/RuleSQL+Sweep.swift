// Checks of all stored records at once.
extension RuleSQL {
  /// True for a stored record that breaks the rule, as ``offence`` is; nil for a rule that no
  /// stored record can break.
  ///
  /// For a statement that reads the whole table. For a rule about several records, it groups or
  /// sorts them once, while ``offence`` would read a group again for each of its records.
  var sweepingOffence: SQLText? {
    switch rule.rule.demand {
    case .countAtMost(let count, _):
      inGroup(having: "count(*) > \(SQLText(sql: String(count)))")
    case .sumAtMost(let limit, _):
      inGroup(
        having: "coalesce(sum(\(identifier: rule.fields[0].column)), 0) > \(Self.literal(limit))")
    case .noOverlap: overlapping
    default: offence
    }
  }

  private var groupColumns: SQLText {
    Self.joined(rule.group.map { "\(identifier: $0.column)" }, ", ")
  }

  private func inGroup(having condition: SQLText) -> SQLText {
    guard !rule.group.isEmpty else { return "(SELECT \(condition) FROM \(table))" }
    return """
      (\(groupColumns)) IN (
        SELECT \(groupColumns) FROM \(table) GROUP BY \(groupColumns) HAVING \(condition)
      )
      """
  }

  // Intervals

  /// Finds overlapping intervals. An interval that ends after it begins overlaps with another such
  /// interval in two cases: an earlier one ends after it begins, or the next one begins before it
  /// ends. Empty and reversed intervals overlap only with such intervals.
  private var overlapping: SQLText {
    let (start, end) = (rule.fields[0], rule.fields[1])
    let forward: SQLText = "\(identifier: start.column) < \(identifier: end.column)"
    let backward: SQLText = "\(identifier: start.column) >= \(identifier: end.column)"
    let keys = Self.joined(rule.model.keyFields.map { "\(identifier: $0.column)" }, ", ")
    return """
      (\(keys)) IN (
        \(neighbours(forward))
        UNION ALL \(reached(by: forward, among: backward))
        UNION ALL \(reached(by: backward, among: forward))
      )
      """
  }

  private var hasGroup: SQLText {
    rule.group.isEmpty
      ? "1" : Self.joined(rule.group.map { "\(identifier: $0.column) IS NOT NULL" }, " AND ")
  }

  /// `PARTITION BY` the columns of the group, under the names of ``groupAliases``.
  private var partition: SQLText {
    rule.group.isEmpty ? "" : "PARTITION BY \(SQLText(sql: groupAliases.joined(separator: ", ")))"
  }

  private var groupAliases: [String] { rule.group.indices.map { "_ms_group\($0)" } }

  private var groupValues: SQLText {
    var text: SQLText = ""
    for (field, alias) in zip(rule.group, groupAliases) {
      text.append("\(identifier: field.column) AS \(SQLText(sql: alias)), ")
    }
    return text
  }

  private func keyAliases(_ spelling: (Int) -> String) -> SQLText {
    SQLText(sql: rule.model.keyFields.indices.map(spelling).joined(separator: ", "))
  }

  private func keyValues(_ value: (FieldSchema) -> SQLText) -> SQLText {
    Self.joined(
      rule.model.keyFields.enumerated().map { index, field in
        "\(value(field)) AS \(SQLText(sql: "_ms_key\(index)"))"
      }, ", ")
  }

  /// Selects the keys of intervals that meet `condition` and overlap with another such interval.
  private func neighbours(_ condition: SQLText) -> SQLText {
    let aliases = keyAliases { "_ms_key\($0)" }
    let order: SQLText = "\(partition) ORDER BY _ms_start, \(aliases)"
    return """
      SELECT \(aliases) FROM (
        SELECT \(aliases), _ms_start, _ms_end,
          max(_ms_end) OVER (
            \(order) ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
          ) AS _ms_reach,
          lead(_ms_start) OVER (\(order)) AS _ms_next
        FROM (
          SELECT \(groupValues)\(keyValues { "\(identifier: $0.column)" }),
            \(identifier: rule.fields[0].column) AS _ms_start,
            \(identifier: rule.fields[1].column) AS _ms_end
          FROM \(table) WHERE \(condition) AND \(hasGroup)
        )
      ) WHERE _ms_reach > _ms_start OR _ms_next < _ms_end
      """
  }

  /// Selects the keys of intervals that meet `asked` and overlap with an interval that meets
  /// `known`. In the order of places, each row asks for the latest end so far.
  private func reached(by known: SQLText, among asked: SQLText) -> SQLText {
    let start: SQLText = "\(identifier: rule.fields[0].column)"
    let end: SQLText = "\(identifier: rule.fields[1].column)"
    let aliases = keyAliases { "_ms_key\($0)" }
    return """
      SELECT \(aliases) FROM (
        SELECT \(aliases), _ms_turn, _ms_start,
          max(_ms_end) OVER (
            \(partition) ORDER BY _ms_place, _ms_turn
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          ) AS _ms_reach
        FROM (
          SELECT \(groupValues)\(keyValues { _ in "NULL" }), \(start) AS _ms_place,
            1 AS _ms_turn, \(end) AS _ms_end, NULL AS _ms_start
          FROM \(table) WHERE \(known) AND \(hasGroup)
          UNION ALL
          SELECT \(groupValues)\(keyValues { "\(identifier: $0.column)" }),
            \(end), 0, NULL, \(start)
          FROM \(table) WHERE \(asked) AND \(hasGroup)
        )
      ) WHERE _ms_turn = 0 AND _ms_reach > _ms_start
      """
  }
}
