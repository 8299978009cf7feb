/// The triggers of a two-way binding.
///
/// A pair of records is correct when either end has the value computed from the other. A trigger
/// changes only incorrect pairs. So a cascade never returns over the edge it came from, even if the
/// expressions lose information, and needs no marker in the file. The direction follows from what
/// the statement changed, by comparing OLD with NEW.
struct TwoWaySQL {
  private let twoWay: ResolvedBinding.TwoWay
  private let binding: ResolvedBinding
  private let left: String
  private let right: String
  private let refusal: String
  private let conflict: String

  init(_ twoWay: ResolvedBinding.TwoWay, of binding: ResolvedBinding) {
    self.twoWay = twoWay
    self.binding = binding
    left = SQLText.quoted(twoWay.left.model.table)
    right = SQLText.quoted(twoWay.right.model.table)
    refusal = SQLText.literal(BindingTriggers.refusal(of: binding.schema))
    conflict = SQLText.literal(BindingTriggers.conflict(of: binding.schema))
  }

  private static let other = BindingSQL.alias

  private var isSameRecord: Bool { twoWay.link.pairs.isEmpty }

  package func triggers(_ make: BindingObjects) -> [SchemaObject] {
    guard !isSameRecord else { return sameRecordTriggers(make) }
    let changed = TriggerMoment.anyChanged
    let leftChanged = "(\(changed(twoWay.left.dependencies)))"
    let rightChanged = "(\(changed(twoWay.right.dependencies)))"
    let leftLink = twoWay.link.pairs.map(\.source)
    let rightLink = twoWay.link.pairs.map(\.target)
    // A trigger that changes the record's key hides the record from the triggers that run next.
    let leftWatched =
      (leftLink + twoWay.left.dependencies + twoWay.left.model.keyFields).withoutRepeats
    let rightWatched =
      (rightLink + twoWay.right.dependencies + binding.conditionFields
      + twoWay.right.model.keyFields).withoutRepeats
    func rights(_ row: String) -> String { Self.equal(rightLink, of: right, leftLink, of: row) }
    func lefts(_ row: String) -> String { Self.equal(leftLink, of: left, rightLink, of: row) }
    let newLeft = Self.qualified(twoWay.left.model, left)
    let newRight = Self.qualified(twoWay.right.model, right)
    return [
      make.trigger(
        .leftInsert, .after(.insert), on: twoWay.left.model,
        agreeing(newLeft, rights("NEW"), forward: meetsForward, conflict: meetsConflict)),
      make.trigger(
        .leftUpdate, .after(.update(of: leftWatched)), on: twoWay.left.model,
        when: changed(leftWatched),
        agreeing(
          newLeft, rights("NEW"), forward: { "(\(leftChanged) OR \(meetsForward($0, $1)))" },
          conflict: { "NOT \(leftChanged) AND \(meetsConflict($0, $1))" })),
      make.trigger(
        .rightInsert, .after(.insert), on: twoWay.right.model,
        agreeing(lefts("NEW"), newRight, forward: meetsForward, conflict: meetsConflict)),
      make.trigger(
        .rightUpdate, .after(.update(of: rightWatched)), on: twoWay.right.model,
        when: changed(rightWatched),
        agreeing(
          lefts("NEW"), newRight,
          forward: { "(NOT \(rightChanged) AND \(meetsForward($0, $1)))" },
          conflict: { "NOT \(rightChanged) AND \(meetsConflict($0, $1))" })),
    ]
  }

  /// The written end decides, not the other fields in its expression. If neither end was written
  /// and the binding begins to apply to the record, the conflict policy decides. Otherwise the left
  /// end wins, because no conflicting values were written.
  private func sameRecordTriggers(_ make: BindingObjects) -> [SchemaObject] {
    let model = twoWay.right.model
    let watched =
      (twoWay.left.dependencies + twoWay.right.dependencies + binding.conditionFields
      + model.keyFields).withoutRepeats
    let isNew = model.isNewRow
    let leftWritten = "(\(TriggerMoment.anyChanged([twoWay.left.field])))"
    let rightWritten = "(\(TriggerMoment.anyChanged([twoWay.right.field])))"
    let noneWritten = "NOT \(leftWritten) AND NOT \(rightWritten)"
    let hasMet = "(\(hasComeIntoForce))"
    func forward(_ left: String, _ right: String) -> String {
      let written =
        twoWay.conflict == .rightWins ? "\(leftWritten) AND NOT \(rightWritten)" : leftWritten
      let leads = leadsWithoutPolicy(left, right)
      let otherwise =
        twoWay.conflict == .leftWins
        ? leads : "CASE WHEN \(hasMet) THEN \(meetsForward(left, right)) ELSE \(leads) END"
      return "((\(written)) OR (\(noneWritten) AND \(otherwise)))"
    }
    func conflict(_ left: String, _ right: String) -> String {
      "((\(leftWritten) AND \(rightWritten)) "
        + "OR (\(noneWritten) AND \(hasMet) AND \(meetsConflict(left, right))))"
    }
    return [
      make.trigger(
        .rightInsert, .after(.insert), on: model,
        agreeing(isNew, isNew, forward: meetsForward, conflict: meetsConflict)),
      make.trigger(
        .rightUpdate, .after(.update(of: watched)), on: model,
        when: TriggerMoment.anyChanged(watched),
        agreeing(isNew, isNew, forward: forward, conflict: conflict)),
    ]
  }

  /// True when an update made the condition true or changed the record's key. A trigger that
  /// changes the key may have hidden the record from the trigger for inserted records.
  private var hasComeIntoForce: String {
    let rekeyed = TriggerMoment.anyChanged(twoWay.right.model.keyFields)
    let asked = binding.conditionFields
    guard let condition = binding.condition, !asked.isEmpty else { return rekeyed }
    // OLD has no affinity, and CAST changes values that its type cannot hold: it turns a DATE
    // '2021-05-05' into 2021. So the old condition is evaluated only if a field in the condition
    // changed. Even then a condition on such a value may wrongly count as false before.
    let before = condition.spelling(columnsOf: twoWay.right.model) { field in
      let type = field.affinity.columnType
      let cell = RowColumn("OLD", field).sql
      return type.isEmpty ? cell : "CAST(\(cell) AS \(type))"
    }
    return "\(rekeyed) OR ((\(TriggerMoment.anyChanged(asked))) AND (\(before)) IS NOT TRUE)"
  }

  /// The left end wins, unless it was never written and the right end was.
  private func leadsWithoutPolicy(_ left: String, _ right: String) -> String {
    "NOT (\(isBlank(twoWay.left, left)) AND NOT \(isBlank(twoWay.right, right)))"
  }

  /// True when the right end follows in a new pair: in an inserted record, in two records that
  /// become partners, or when the condition becomes true. An end that holds its default follows,
  /// whatever the policy.
  private func meetsForward(_ left: String, _ right: String) -> String {
    let (l, r) = (isBlank(twoWay.left, left), isBlank(twoWay.right, right))
    return switch twoWay.conflict {
    case .leftWins: leadsWithoutPolicy(left, right)
    case .rightWins: "(\(r) AND NOT \(l))"
    case .abort: r
    }
  }

  private func meetsConflict(_ left: String, _ right: String) -> String {
    "NOT \(isBlank(twoWay.left, left)) AND NOT \(isBlank(twoWay.right, right))"
  }

  /// The plus sign keeps a default TRUE a value: IS TRUE would test truth, and 5 is true.
  private func isBlank(_ end: ResolvedBinding.End, _ row: String) -> String {
    "(\(RowColumn(row, end.field)) IS +(\(end.blank)))"
  }

  /// Returns statements that correct pairs that disagree, and then verify the pairs.
  ///
  /// - Parameters:
  ///   - lefts: True for the rows of the left table to correct.
  ///   - rights: True for the rows of the right table to correct.
  ///   - forward: True when the right end follows, given the names of both rows.
  private func agreeing(
    _ lefts: String, _ rights: String, forward: (String, String) -> String,
    conflict isConflict: (String, String) -> String
  ) -> [String] {
    var body: [String] = []
    if twoWay.conflict == .abort {
      body.append(
        """
          SELECT RAISE(ABORT, \(conflict))
          FROM \(right)
          WHERE \(rights) AND \(fromRight { "\(disagree($0, $1)) AND \(isConflict($0, $1))" });
        """)
    }
    body += [
      update(.right, where: rights) { "\(disagree($0, $1)) AND \(forward($0, $1))" } + ";",
      update(.left, where: lefts) { "\(disagree($0, $1)) AND NOT (\(forward($0, $1)))" } + ";",
      """
        SELECT RAISE(ABORT, \(refusal))
        FROM \(right)
        WHERE \(rights) AND \(fromRight(disagree));
      """,
    ]
    return body
  }

  /// True when the binding applies to the pair and neither end has the value computed from the
  /// other.
  private func disagree(_ left: String, _ right: String) -> String {
    let leftCell = RowColumn(left, twoWay.left.field).sql
    let rightCell = RowColumn(right, twoWay.right.field).sql
    let forward = twoWay.right.field.bare(value(of: twoWay.left, left))
    let backward = twoWay.left.field.bare(value(of: twoWay.right, right))
    return inForce(right) + "\(TriggerMoment.differ(rightCell, forward, twoWay.right.field)) AND "
      + TriggerMoment.differ(leftCell, backward, twoWay.left.field)
  }

  /// Returns a prefix that limits a condition to right rows that the binding applies to. Empty for
  /// all.
  private func inForce(_ right: String) -> String {
    guard let condition = binding.condition else { return "" }
    let text = condition.spelling(columnsOf: twoWay.right.model) {
      RowColumn(right, $0).sql
    }
    return "((\(text)) IS TRUE) AND "
  }

  private func value(of end: ResolvedBinding.End, _ row: String) -> String {
    "(\(end.value.spelling(columnsOf: end.model) { RowColumn(row, $0).sql }))"
  }

  /// Returns a condition on a pair as a condition on the right table's row.
  private func fromRight(_ condition: (String, String) -> String) -> String {
    isSameRecord
      ? condition(right, right)
      : "EXISTS (SELECT 1 \(linkedLeft) AND \(condition(Self.other, right)))"
  }

  private func fromLeft(_ condition: (String, String) -> String) -> String {
    isSameRecord
      ? condition(left, left)
      : "EXISTS (SELECT 1 \(linkedRight) AND \(condition(left, Self.other)))"
  }

  private var linkedLeft: String {
    let link = Self.equal(
      twoWay.link.pairs.map(\.source), of: Self.other, twoWay.link.pairs.map(\.target), of: right)
    return "FROM \(left) AS \(Self.other) WHERE \(link)"
  }

  private var linkedRight: String {
    let link = Self.equal(
      twoWay.link.pairs.map(\.source), of: left, twoWay.link.pairs.map(\.target), of: Self.other)
    return "FROM \(right) AS \(Self.other) WHERE \(link)"
  }

  private func update(
    _ side: BindingSide, where rows: String,
    _ condition: (String, String) -> String
  ) -> String {
    let (end, other, table) =
      side == .right ? (twoWay.right, twoWay.left, right) : (twoWay.left, twoWay.right, left)
    let row = isSameRecord ? table : Self.other
    let found = value(of: other, row)
    let assigned =
      isSameRecord
      ? found : "(SELECT \(found) \(side == .right ? linkedLeft : linkedRight))"
    let condition = side == .right ? fromRight(condition) : fromLeft(condition)
    return """
        UPDATE \(table)
        SET \(SQLText.quoted(end.field.column)) = \(assigned)
        WHERE \(rows) AND \(condition)
      """
  }

  package var drift: String { fromRight(disagree) }

  var synchronisation: BindingPass {
    let followsRight = twoWay.initially == .right
    return BindingPass(
      model: followsRight ? twoWay.left.model : twoWay.right.model,
      statement: update(followsRight ? .left : .right, where: "1", disagree))
  }

  /// Counts the records whose left end would not survive a conversion there and back.
  package var lossCount: String {
    let row = isSameRecord ? right : Self.other
    let forward = value(of: twoWay.left, row)
    func back(_ there: String) -> String {
      twoWay.right.value.spelling(columnsOf: twoWay.right.model) { field in
        field.name == twoWay.right.field.name
          ? there : RowColumn(right, field).sql
      }
    }
    let cell = RowColumn(row, twoWay.left.field).sql
    let lost =
      inForce(right)
      + TriggerMoment.differ(
        cell, "(\(Self.stored(forward, in: twoWay.right.field, back)))", twoWay.left.field)
    return """
      SELECT count(*)
      FROM \(right)
      WHERE \(fromRight { _, _ in lost })
      """
  }

  /// Returns `expression` of a value as stored in a column of `field`. A column converts a value
  /// only if it stays equal, while CAST always converts:
  /// <https://sqlite.org/datatype3.html#type_affinity>.
  private static func stored(
    _ value: String, in field: FieldSchema, _ expression: (String) -> String
  ) -> String {
    let isExact: String
    let type: String
    switch field.affinity {
    case .blob: return expression(value)
    case .text: (type, isExact) = ("TEXT", "0")
    case .real: (type, isExact) = ("REAL", "typeof(\(value)) = 'integer'")
    // INTEGER and NUMERIC columns have the same effect; only CAST distinguishes the two.
    case .integer, .numeric: (type, isExact) = ("NUMERIC", "0")
    }
    let converted = "CAST(\(value) AS \(type))"
    return "CASE WHEN \(isExact) OR \(converted) IS +\(value) THEN \(expression(converted)) "
      + "ELSE \(expression(value)) END"
  }

  private static func equal(
    _ fields: [FieldSchema], of row: String, _ others: [FieldSchema], of other: String
  ) -> String {
    RowColumn.matching(fields, of: row, "=", others, of: other)
  }

  private static func qualified(_ model: ModelSchema, _ table: String) -> String {
    RowColumn.matching(model.keyFields, of: table, "IS", model.keyFields, of: "NEW")
  }
}
