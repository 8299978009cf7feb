/// The pieces of SQL about records that break one rule.
package struct RuleSQL {
  /// The SQL for a value of the checked record: a column, or an argument.
  package typealias Cell = (FieldSchema) -> SQLText

  package let rule: ResolvedRule
  package let table: SQLText
  /// The alias of the table of other records in subqueries.
  package static let other = "_ms_other"

  package init(_ rule: ResolvedRule) {
    self.rule = rule
    table = "\(identifier: rule.model.table)"
  }

  /// True for a stored record that breaks the rule; nil for a rule that no stored record can break.
  package var offence: SQLText? {
    let cell: Cell = { "\(table).\(identifier: $0.column)" }
    switch rule.rule.demand {
    case .condition(let sql): return "NOT (\(SQLText(sql: sql)))"
    case .unique: return storedTwice
    case .immutable: return nil
    default: return storedOffence(cell)
    }
  }

  /// Returns a condition that is true when a record with those values would break the rule. Returns
  /// nil if the check needs an evaluation of the rule's condition, or the old record. For a unique
  /// rule with a condition, it is true when another record has the values, so use it only for a
  /// record that meets the condition.
  package func offence(proposing cell: Cell) -> SQLText? {
    switch rule.rule.demand {
    case .condition, .immutable: return nil
    case .reference where rule.referenced?.name == rule.model.name:
      // A record may refer to itself before it is stored.
      let key = rule.model.fields[rule.model.keyIndices[0]]
      return "\(storedOffence(cell)) AND \(cell(rule.fields[0])) IS NOT \(cell(key))"
    default: return storedOffence(cell)
    }
  }

  private func storedOffence(_ cell: Cell) -> SQLText {
    switch rule.rule.demand {
    case .condition, .immutable: return "0"
    case .required: return Self.joined(rule.fields.map { "\(cell($0)) IS NULL" }, " OR ")
    case .unique: return taken(cell)
    case .reference:
      return
        "\(cell(rule.fields[0])) IS NOT NULL AND NOT EXISTS (\(referenced(by: cell(rule.fields[0]))))"
    case .countAtMost(let count, _):
      return """
        \(hasGroup(cell)) AND (
          SELECT count(*) FROM (
            SELECT 1 \(others(cell)) LIMIT \(SQLText(sql: String(count)))
          )
        ) >= \(SQLText(sql: String(count)))
        """
    case .sumAtMost(let limit, _):
      return """
        \(hasGroup(cell)) AND coalesce((
          SELECT sum(\(otherCell(rule.fields[0]))) \(others(cell))
        ), 0) + coalesce(\(cell(rule.fields[0])), 0) > \(Self.literal(limit))
        """
    case .noOverlap:
      let (start, end) = (rule.fields[0], rule.fields[1])
      return """
        EXISTS (
          SELECT 1 \(others(cell))
          AND \(otherCell(start)) < \(cell(end)) AND \(otherCell(end)) > \(cell(start))
        )
        """
    }
  }

  /// Returns a condition that is true when another record of the old record's group breaks the rule
  /// because this one, whose value was negative, is removed.
  package func sumWithout(_ old: Cell) -> SQLText? {
    guard case .sumAtMost(let limit, _) = rule.rule.demand else { return nil }
    return """
      \(old(rule.fields[0])) < 0 AND \(hasGroup(old)) AND (
        SELECT sum(\(otherCell(rule.fields[0])))
        FROM \(table) AS \(identifier: Self.other)
        WHERE \(sameGroup(old))
      ) > \(Self.literal(limit))
      """
  }

  /// Selects `result` for each record that still refers to the old record of the referenced model,
  /// if no other record has taken its place. Returns nil for a rule that is not about a reference.
  ///
  /// The old key is on the left so that its collation decides.
  package func referring(to old: Cell, selecting result: SQLText) -> SQLText? {
    guard let referenced = rule.referenced else { return nil }
    let key = old(referenced.fields[referenced.keyIndices[0]])
    return """
      SELECT \(result)
      FROM \(table)
      WHERE \(key) = \(table).\(identifier: rule.fields[0].column)
      AND NOT EXISTS (\(self.referenced(by: key)))
      """
  }

  /// True for the row that the statement inserted or updated.
  package var isNew: SQLText {
    Self.joined(
      rule.model.keyIndices.map { index in
        let column = rule.model.fields[index].column
        return "\(table).\(identifier: column) IS NEW.\(identifier: column)"
      }, " AND ")
  }

  /// Selects the record that `value` names, if it exists.
  ///
  /// The key is on the left so that its collation decides, as it does in a foreign key.
  package func referenced(by value: SQLText) -> SQLText {
    guard let referenced = rule.referenced else { return "SELECT 1 WHERE 0" }
    let key = referenced.fields[referenced.keyIndices[0]]
    return """
      SELECT 1 FROM \(identifier: referenced.table) AS \(identifier: Self.other)
      WHERE \(otherCell(key)) = \(value)
      """
  }

  /// True for a stored record if another record has the same values. It uses no index, because a
  /// rule that is about to be added has none yet. All values are grouped once.
  var storedTwice: SQLText {
    let columns = Self.joined(rule.fields.map { "\(identifier: $0.column)" }, ", ")
    let condition = rule.expression.map { SQLText(sql: $0.text) }
    var text: SQLText = "(\(columns)) IN (SELECT \(columns) FROM \(table)"
    if let condition { text.append(" WHERE (\(condition))") }
    text.append(" GROUP BY \(columns) HAVING count(*) > 1)")
    if let condition { text.append(" AND (\(condition))") }
    return text
  }

  /// Returns a condition that is true when another record has the values already.
  private func taken(_ cell: Cell) -> SQLText {
    """
    EXISTS (
      SELECT 1 FROM \(table) AS \(identifier: Self.other)
      WHERE \(Self.joined(rule.fields.map { "\(otherCell($0)) = \(cell($0))" }, " AND "))
      AND \(isAnother(cell)) AND (\(SQLText(sql: rule.expression?.text ?? "1")))
    )
    """
  }

  /// Returns the other records of the group, ready for further conditions.
  private func others(_ cell: Cell) -> SQLText {
    """
    FROM \(table) AS \(identifier: Self.other)
    WHERE \(sameGroup(cell)) AND \(isAnother(cell))
    """
  }

  private func sameGroup(_ cell: Cell) -> SQLText {
    rule.group.isEmpty
      ? "1" : Self.joined(rule.group.map { "\(otherCell($0)) = \(cell($0))" }, " AND ")
  }

  private func hasGroup(_ cell: Cell) -> SQLText {
    rule.group.isEmpty ? "1" : Self.joined(rule.group.map { "\(cell($0)) IS NOT NULL" }, " AND ")
  }

  private func isAnother(_ cell: Cell) -> SQLText {
    let same = rule.model.keyIndices.map { index in
      let field = rule.model.fields[index]
      return "\(otherCell(field)) IS \(cell(field))" as SQLText
    }
    return "NOT (\(Self.joined(same, " AND ")))"
  }

  private func otherCell(_ field: FieldSchema) -> SQLText {
    "\(identifier: Self.other).\(identifier: field.column)"
  }

  package static func literal(_ number: Double) -> SQLText {
    SQLText(sql: SQLValue.real(number).description)
  }

  package static func joined(_ texts: [SQLText], _ separator: String) -> SQLText {
    var all = SQLText(sql: "")
    for (index, text) in texts.enumerated() {
      if index > 0 { all.append(sql: separator) }
      all.append(text)
    }
    return all
  }
}
