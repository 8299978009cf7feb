/// The parts of SQL that make up the triggers of a one-way binding.
struct BindingSQL {
  package let table: String
  package let field: String
  /// The correct value, computed for the current row of the target.
  package let value: String
  /// Limits the rows to those that have a correct value, if some do not.
  private let hasValue: String?
  /// Limits the rows to those that the binding applies to.
  private let scope: [String]
  package let binding: ResolvedBinding
  /// For a unique target, the value to compare with other records.
  private let uniqueValue: String?
  /// The source's name in subqueries, which distinguishes it from the target even in one table.
  static let alias = "_ms_source"

  init(_ binding: ResolvedBinding) {
    self.binding = binding
    let table = SQLText.quoted(binding.model.table)
    self.table = table
    field = SQLText.quoted(binding.target.column)
    var scope = binding.condition.map { ["((\($0.text)) IS TRUE)"] } ?? []
    scope += binding.precedence.map { "((\($0.text)) IS NOT TRUE)" }
    switch binding.formula {
    case .lookup(let lookup):
      let terms = lookup.link.pairs.map { RowColumn(table, $0.target).sql }
      value = Self.copied(lookup, for: terms, into: binding.target)
      hasValue = lookup.absence == .unchanged ? Self.exists(lookup, terms) : nil
    case .derive(let expression, _):
      // IS TRUE tests truth and does not compare, but a plus sign makes it an expression:
      // https://sqlite.org/lang_expr.html#booleanexpr
      value =
        expression.isLiteral
        ? "(+(\(expression.text)))" : "(\(binding.target.bare(expression.text)))"
      hasValue = nil
    case .aggregate(let aggregate):
      value = AggregateSQL.value(
        of: aggregate, for: binding.model, BindingObjects(binding: binding.schema))
      hasValue = nil
      scope += aggregate.link.place(of: table)
    case .twoWay:
      preconditionFailure("A two-way binding has no one value.")
    }
    self.scope = scope
    if case .derive(let expression, _) = binding.formula {
      let spelled = expression.spelling(columnsOf: binding.model) {
        RowColumn(table, $0).sql
      }
      uniqueValue = "(\(spelled))"
    } else {
      uniqueValue = nil
    }
  }

  /// Rejects a value that another record already has in a unique field. The statement's REPLACE
  /// also applies inside triggers, and would delete that record.
  private func refusingCollisions(_ condition: String, _ value: String) -> String {
    let sets = binding.uniqueSets.sets(of: binding.model)
      .filter { $0.fields.contains(binding.target) }
    guard !sets.isEmpty else { return "" }
    let other = "_ms_other"
    let collides = sets.map { set in
      let isShared = set.isShared(with: other) { field in
        field == binding.target
          ? assigned(uniqueValue ?? value, over: "\(table).\(self.field)")
          : RowColumn(table, field).sql
      }
      return "(\(isShared))"
    }
    .joined(separator: " OR ")
    let key = binding.model.keyFields
    let isItself = RowColumn.matching(key, of: other, "IS", key, of: table)
    return """
        SELECT RAISE(ABORT, \(refusal))
        FROM \(table)
        WHERE \(condition) AND EXISTS (
          SELECT 1 FROM \(table) AS \(other)
          WHERE (\(collides)) AND NOT (\(isItself)));

      """
  }

  /// True for the target's rows that do not hold their correct value.
  package var drift: String { drift(value, hasValue) }

  private func drift(_ value: String, _ hasValue: String?) -> String {
    (scope + [hasValue].compactMap(\.self) + [differs(from: value)]).joined(separator: " AND ")
  }

  private func differs(from value: String) -> String {
    binding.schema.mode == .numberInText
      ? NumberInText.differs(field, from: value)
      : TriggerMoment.differ(field, value, binding.target)
  }

  /// Updates every record that is not correct.
  var synchronisation: BindingPass {
    BindingPass(
      model: binding.model,
      statement: """
        UPDATE \(table)
        SET \(field) = \(assigned(value))
        WHERE \(drift)
        """)
  }

  /// - Parameter cell: The target's qualified name, for places where the bare name means another
  ///   row.
  private func assigned(_ value: String, over cell: String? = nil) -> String {
    binding.schema.mode == .numberInText
      ? NumberInText.replaced(in: cell ?? field, by: value) : value
  }

  /// True for the row that the statement inserted or updated.
  var isNewTarget: String { binding.model.isNewRow }

  /// Returns two statements: update the rows that `rows` selects, then fail if one of them is not
  /// correct.
  func puttingRight(where rows: String) -> String {
    puttingRight(where: rows, value, hasValue)
  }

  /// Returns the same for at most one row, outside triggers of the target's table.
  ///
  /// That table's own trigger already checks every row that was written. So only a row that was not
  /// written is checked here. `changes()` in a trigger counts the rows of the trigger's own
  /// previous statement: <https://sqlite.org/c3ref/changes.html>.
  func puttingOneRight(where row: String) -> String {
    let condition = "\(row) AND \(drift)"
    return mending(condition, value) + """

        SELECT RAISE(ABORT, \(refusal))
        WHERE changes() = 0 AND EXISTS (SELECT 1 FROM \(table) WHERE \(condition));
      """
  }

  private func puttingRight(
    where rows: String, _ value: String, _ hasValue: String?
  ) -> String {
    let condition = "\(rows) AND \(drift(value, hasValue))"
    return mending(condition, value) + """

        SELECT RAISE(ABORT, \(refusal))
        FROM \(table)
        WHERE \(condition);
      """
  }

  private func mending(_ condition: String, _ value: String) -> String {
    refusingCollisions(condition, value) + """
        UPDATE \(table)
        SET \(field) = \(assigned(value))
        WHERE \(condition);
      """
  }

  private var refusal: String { SQLText.literal(BindingTriggers.refusal(of: binding.schema)) }

  /// The triggers on the target's table, which correct the written record.
  func targetTriggers(
    _ make: BindingObjects, watching fields: [FieldSchema]
  ) -> [SchemaObject] {
    // A trigger that changes the record's key hides the record from the triggers that run next.
    let watched = (fields + [binding.target] + binding.conditionFields + binding.model.keyFields)
      .withoutRepeats
    return [
      make.trigger(
        .targetInsert, .after(.insert), on: binding.model, [puttingRight(where: isNewTarget)]),
      make.trigger(
        .targetUpdate, .after(.update(of: watched)), on: binding.model,
        // Most updates leave the value correct. Starting the trigger costs more than this check.
        when: "(\(TriggerMoment.anyChanged(watched))) AND EXISTS (SELECT 1 FROM \(table) "
          + "WHERE \(isNewTarget) AND \(drift))",
        [puttingRight(where: isNewTarget)]),
    ]
  }

  // A value of another record

  /// The triggers on the source's table, which update the records that follow it.
  func sourceTriggers(
    _ make: BindingObjects, _ lookup: ResolvedBinding.Lookup
  ) -> [SchemaObject] {
    let keys = lookup.link.pairs.map(\.source)
    let placed = lookup.link.place.map(\.field)
    func following(_ row: String, when condition: String? = nil) -> String {
      let terms = keys.map { RowColumn(row, $0).sql }
      let rows = [condition.map { "(\($0))" }, refers(to: row)].compactMap(\.self)
      return puttingRight(
        where: rows.joined(separator: " AND "),
        Self.copied(lookup, for: terms, into: binding.target),
        lookup.absence == .unchanged ? Self.exists(lookup, terms) : nil)
    }
    func isPlaced(_ row: String) -> String? {
      placed.isEmpty ? nil : lookup.link.place(of: row).joined(separator: " AND ")
    }
    let arrived = following("NEW")
    let left = following("OLD")
    // Most updates do not change the keys; the same rows are then already correct.
    let moved = keys.isEmpty ? [] : [following("OLD", when: TriggerMoment.anyChanged(keys))]
    let watched = (lookup.dependencies + keys + placed).withoutRepeats
    let changed = TriggerMoment.anyChanged(watched)
    let update = isPlaced("NEW").flatMap { new in
      isPlaced("OLD").map { "(\(changed)) AND (\(new) OR \($0))" }
    }
    var triggers = [
      make.trigger(
        .sourceInsert, .after(.insert), on: lookup.source, when: isPlaced("NEW"), [arrived]),
      make.trigger(
        .sourceUpdate, .after(.update(of: watched)), on: lookup.source,
        when: update ?? changed,
        lookup.absence == .unchanged ? [arrived] : [arrived] + moved),
    ]
    if lookup.absence != .unchanged {
      triggers.append(
        make.trigger(
          .sourceDelete, .after(.delete), on: lookup.source, when: isPlaced("OLD"), [left]))
    }
    return triggers
  }

  /// Returns a condition that is true for the target's rows that belong to a source row, NEW or
  /// OLD.
  ///
  /// The key is on the left so that its collation applies, as in a foreign key:
  /// <https://sqlite.org/foreignkeys.html#fk_indexes>.
  private func refers(to row: String) -> String {
    guard case .lookup(let lookup) = binding.formula, !lookup.link.pairs.isEmpty else { return "1" }
    return RowColumn.matching(
      lookup.link.pairs.map(\.source), of: row, "=", lookup.link.pairs.map(\.target), of: table)
  }

  /// Returns a condition that is true for the target's rows that belong to the rows that `notes`
  /// selects.
  func refers(toEvicted notes: String) -> String {
    guard case .lookup(let lookup) = binding.formula else { return "0" }
    return rows(lookup.link.pairs, areIn: notes)
  }

  /// Returns a condition that is true for the target's rows whose link is among those that `notes`
  /// selects. The source's collation applies, as everywhere.
  package func rows(_ pairs: [ResolvedBinding.Link.Pair], areIn notes: String) -> String {
    guard !pairs.isEmpty else { return "EXISTS (\(notes))" }
    let columns = pairs.map { pair in
      let column = RowColumn(table, pair.target).sql
      return pair.source.collation == pair.target.collation
        ? column : "\(column) COLLATE \(SQLText.quoted(pair.source.collation.name))"
    }
    .joined(separator: ", ")
    return pairs.count == 1 ? "\(columns) IN (\(notes))" : "(\(columns)) IN (\(notes))"
  }

  private static func copied(
    _ lookup: ResolvedBinding.Lookup, for terms: [String], into target: FieldSchema
  ) -> String {
    let column =
      lookup.transform.map { "(\(target.bare($0.text)))" }
      ?? RowColumn(alias, lookup.field).sql
    let found = "(SELECT \(column) \(rows(lookup, terms)))"
    guard case .literal(let sql) = lookup.absence else { return found }
    return "CASE WHEN \(exists(lookup, terms)) THEN \(found) ELSE (\(sql)) END"
  }

  private static func exists(_ lookup: ResolvedBinding.Lookup, _ terms: [String]) -> String {
    "EXISTS (SELECT 1 \(rows(lookup, terms)))"
  }

  private static func rows(_ lookup: ResolvedBinding.Lookup, _ terms: [String]) -> String {
    let keys =
      zip(lookup.link.pairs, terms).map { "\(RowColumn(alias, $0.source)) = \($1)" }
      + lookup.link.place(of: alias)
    let table = SQLText.quoted(lookup.source.table)
    return "FROM \(table) AS \(alias) WHERE \(keys.joined(separator: " AND "))"
  }
}

extension FieldSchema {
  /// Returns `expression` as a value without affinity. A text compared with a number converts like
  /// a number, so '07' would equal 7. A plus sign removes the affinity and changes nothing else:
  /// <https://sqlite.org/datatype3.html#affinity_of_expressions>.
  package func bare(_ expression: String) -> String {
    affinity == .text ? "+(\(expression))" : expression
  }
}

extension ModelSchema {
  /// True for the row that the statement inserted or updated. In a table of another design a key
  /// may be NULL: <https://sqlite.org/quirks.html#primary_keys_can_sometimes_contain_nulls>.
  var isNewRow: String {
    keyFields.map { "\(SQLText.quoted($0.column)) IS \(RowColumn("NEW", $0))" }
      .joined(separator: " AND ")
  }
}
