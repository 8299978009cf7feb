/// The triggers of a two-way binding.
///
/// A pair of records is right when either end is what the other one makes of it. A trigger acts
/// only on a pair that is not, and leaves one that is: so a wave never comes back over the edge
/// that it came by, whatever the expressions lose, and needs no mark in the file to know that.
/// Which way it goes is told by what the statement changed, OLD against NEW.
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

  func triggers(_ make: BindingObjects) -> [BindingTriggers.Object] {
    let changed = TriggerMoment.anyChanged
    let leftChanged = "(\(changed(twoWay.left.dependencies)))"
    let rightChanged = "(\(changed(twoWay.right.dependencies)))"
    guard !isSameRecord else {
      let watched =
        (twoWay.left.dependencies + twoWay.right.dependencies + binding.conditionFields)
        .withoutRepeats
      let isNew = twoWay.right.model.isNewRow
      // With a condition the ends can meet though neither was written: it came to hold.
      let isMet = binding.condition != nil
      let neitherChanged = "NOT \(leftChanged) AND NOT \(rightChanged)"
      func forward(_ left: String, _ right: String) -> String {
        let written =
          switch twoWay.conflict {
          case .leftWins, .abort: leftChanged
          case .rightWins:
            isMet ? "(\(leftChanged) AND NOT \(rightChanged))" : "NOT \(rightChanged)"
          }
        guard isMet else { return written }
        return "(\(written) OR (\(neitherChanged) AND \(meetsForward(left, right))))"
      }
      func conflict(_ left: String, _ right: String) -> String {
        let written = "\(leftChanged) AND \(rightChanged)"
        guard isMet else { return written }
        return "((\(written)) OR (\(neitherChanged) AND \(meetsConflict(left, right))))"
      }
      return [
        make.trigger(
          .rightInsert, "AFTER INSERT", on: twoWay.right.model,
          agreeing(isNew, isNew, forward: meetsForward, conflict: meetsConflict)),
        make.trigger(
          .rightUpdate, TriggerMoment.update(of: watched), on: twoWay.right.model,
          when: changed(watched),
          agreeing(isNew, isNew, forward: forward, conflict: conflict)),
      ]
    }
    let leftLink = twoWay.link.pairs.map(\.source)
    let rightLink = twoWay.link.pairs.map(\.target)
    let leftWatched = (leftLink + twoWay.left.dependencies).withoutRepeats
    let rightWatched =
      (rightLink + twoWay.right.dependencies + binding.conditionFields).withoutRepeats
    func rights(_ row: String) -> String { Self.equal(rightLink, of: right, leftLink, of: row) }
    func lefts(_ row: String) -> String { Self.equal(leftLink, of: left, rightLink, of: row) }
    let newLeft = Self.qualified(twoWay.left.model, left)
    let newRight = Self.qualified(twoWay.right.model, right)
    return [
      make.trigger(
        .leftInsert, "AFTER INSERT", on: twoWay.left.model,
        agreeing(newLeft, rights("NEW"), forward: meetsForward, conflict: meetsConflict)),
      make.trigger(
        .leftUpdate, TriggerMoment.update(of: leftWatched), on: twoWay.left.model,
        when: changed(leftWatched),
        agreeing(
          newLeft, rights("NEW"), forward: { "(\(leftChanged) OR \(meetsForward($0, $1)))" },
          conflict: { "NOT \(leftChanged) AND \(meetsConflict($0, $1))" })),
      make.trigger(
        .rightInsert, "AFTER INSERT", on: twoWay.right.model,
        agreeing(lefts("NEW"), newRight, forward: meetsForward, conflict: meetsConflict)),
      make.trigger(
        .rightUpdate, TriggerMoment.update(of: rightWatched), on: twoWay.right.model,
        when: changed(rightWatched),
        agreeing(
          lefts("NEW"), newRight,
          forward: { "(NOT \(rightChanged) AND \(meetsForward($0, $1)))" },
          conflict: { "NOT \(rightChanged) AND \(meetsConflict($0, $1))" })),
    ]
  }

  /// Which end gives way when two records meet that both were there: an end that nobody wrote does
  /// whatever the policy.
  private func meetsForward(_ left: String, _ right: String) -> String {
    let (l, r) = (isBlank(twoWay.left, left), isBlank(twoWay.right, right))
    return switch twoWay.conflict {
    case .leftWins: "NOT (\(l) AND NOT \(r))"
    case .rightWins: "(\(r) AND NOT \(l))"
    case .abort: r
    }
  }

  private func meetsConflict(_ left: String, _ right: String) -> String {
    "NOT \(isBlank(twoWay.left, left)) AND NOT \(isBlank(twoWay.right, right))"
  }

  private func isBlank(_ end: ResolvedBinding.End, _ row: String) -> String {
    "(\(row).\(SQLText.quoted(end.field.column)) IS (\(end.blank)))"
  }

  /// Makes pairs agree that do not, and then makes sure that they do.
  ///
  /// - Parameters:
  ///   - lefts: True for the left table's rows that it is about.
  ///   - rights: True for the right table's.
  ///   - forward: True when the right end follows, over the names of both rows.
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

  /// True when the pair is the binding's and neither end is what the other makes of it.
  private func disagree(_ left: String, _ right: String) -> String {
    let leftCell = "\(left).\(SQLText.quoted(twoWay.left.field.column))"
    let rightCell = "\(right).\(SQLText.quoted(twoWay.right.field.column))"
    let forward = twoWay.right.field.bare(value(of: twoWay.left, left))
    let backward = twoWay.left.field.bare(value(of: twoWay.right, right))
    return inForce(right) + "\(TriggerMoment.differ(rightCell, forward, twoWay.right.field)) AND "
      + TriggerMoment.differ(leftCell, backward, twoWay.left.field)
  }

  /// True, before another condition, for right rows that the binding is about; empty for all.
  private func inForce(_ right: String) -> String {
    guard let condition = binding.condition else { return "" }
    let text = condition.spelling(columnsOf: twoWay.right.model) {
      "\(right).\(SQLText.quoted($0.column))"
    }
    return "((\(text)) IS TRUE) AND "
  }

  private func value(of end: ResolvedBinding.End, _ row: String) -> String {
    "(\(end.value.spelling(columnsOf: end.model) { "\(row).\(SQLText.quoted($0.column))" }))"
  }

  /// A condition on a pair as one on the right table's row.
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
    _ side: BindingSchema.TwoWay.Side, where rows: String,
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

  var drift: String { fromRight(disagree) }

  var synchronisation: BindingPass {
    let followsRight = twoWay.initially == .right
    return BindingPass(
      model: followsRight ? twoWay.left.model : twoWay.right.model,
      statement: update(followsRight ? .left : .right, where: "1", disagree))
  }

  /// Counts the records of which the left end would not come back as it is.
  var lossCount: String {
    let row = isSameRecord ? right : Self.other
    let type = twoWay.right.field.affinity.columnType
    let forward = value(of: twoWay.left, row)
    let there = type.isEmpty ? forward : "CAST(\(forward) AS \(type))"
    let back = twoWay.right.value.spelling(columnsOf: twoWay.right.model) { field in
      field.name == twoWay.right.field.name
        ? there : "\(right).\(SQLText.quoted(field.column))"
    }
    let cell = "\(row).\(SQLText.quoted(twoWay.left.field.column))"
    let lost = inForce(right) + TriggerMoment.differ(cell, "(\(back))", twoWay.left.field)
    return """
      SELECT count(*)
      FROM \(right)
      WHERE \(fromRight { _, _ in lost })
      """
  }

  private static func equal(
    _ fields: [FieldSchema], of row: String, _ others: [FieldSchema], of other: String
  ) -> String {
    zip(fields, others).map {
      "\(row).\(SQLText.quoted($0.column)) = \(other).\(SQLText.quoted($1.column))"
    }
    .joined(separator: " AND ")
  }

  private static func qualified(_ model: ModelSchema, _ table: String) -> String {
    model.keyFields.map { key in
      let column = SQLText.quoted(key.column)
      return "\(table).\(column) \(key.isOptional ? "IS" : "=") NEW.\(column)"
    }
    .joined(separator: " AND ")
  }
}
