/// The pieces of SQL that the triggers of a one-way binding are put together from.
struct BindingSQL {
  package let table: String
  package let field: String
  /// The right value, computed for the target's row at hand.
  package let value: String
  /// Limits the rows that have a right value, where not all have one.
  private let hasValue: String?
  /// Limits the rows that the binding is about.
  private let scope: [String]
  package let binding: ResolvedBinding
  /// Where the target is unique, the value as what other records are compared with.
  private let uniqueValue: String?
  /// The source's name in subqueries, so that the target's table is another one even if it is not.
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
      // IS TRUE asks for truth and compares nothing, but a plus sign makes a value of it:
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

  /// Refuses a value that another record has in a field that takes each once. The statement's
  /// REPLACE rules inside triggers too, and would delete that record for it.
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

  /// True for the target's rows that do not hold their right value.
  package var drift: String { drift(value, hasValue) }

  private func drift(_ value: String, _ hasValue: String?) -> String {
    (scope + [hasValue].compactMap(\.self) + [differs(from: value)]).joined(separator: " AND ")
  }

  private func differs(from value: String) -> String {
    binding.schema.mode == .numberInText
      ? NumberInText.differs(field, from: value)
      : TriggerMoment.differ(field, value, binding.target)
  }

  /// Puts every record right.
  var synchronisation: BindingPass {
    BindingPass(
      model: binding.model,
      statement: """
        UPDATE \(table)
        SET \(field) = \(assigned(value))
        WHERE \(drift)
        """)
  }

  /// - Parameter cell: How the target is spelled where its name alone is another row's.
  private func assigned(_ value: String, over cell: String? = nil) -> String {
    binding.schema.mode == .numberInText
      ? NumberInText.replaced(in: cell ?? field, by: value) : value
  }

  /// True for the row that the statement inserted or updated.
  var isNewTarget: String { binding.model.isNewRow }

  /// Two statements: put the rows right that `rows` selects, then refuse if one of them is not.
  func puttingRight(where rows: String) -> String {
    puttingRight(where: rows, value, hasValue)
  }

  /// The same for one row at most, and not in a trigger of the target's table.
  ///
  /// A row that was written has been looked at by that table's trigger already, so only one that
  /// was not written is looked at here. `changes()` in a trigger counts what the trigger's own
  /// statement before it wrote: <https://sqlite.org/c3ref/changes.html>.
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

  /// The triggers on the target's table, which put the written record right.
  func targetTriggers(
    _ make: BindingObjects, watching fields: [FieldSchema]
  ) -> [SchemaObject] {
    // A trigger that gives the record another key hides it from the one that looks next.
    let watched = (fields + [binding.target] + binding.conditionFields + binding.model.keyFields)
      .withoutRepeats
    return [
      make.trigger(
        .targetInsert, .after(.insert), on: binding.model, [puttingRight(where: isNewTarget)]),
      make.trigger(
        .targetUpdate, .after(.update(of: watched)), on: binding.model,
        // Most updates leave the value right; to start the program costs more than to look.
        when: "(\(TriggerMoment.anyChanged(watched))) AND EXISTS (SELECT 1 FROM \(table) "
          + "WHERE \(isNewTarget) AND \(drift))",
        [puttingRight(where: isNewTarget)]),
    ]
  }

  // A value of another record

  /// The triggers on the source's table, which put the records right that follow it.
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
    // Most updates leave the keys as they are; the same rows are right already then.
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

  /// True for the target's rows that belong to a row of the source, NEW or OLD.
  ///
  /// The key stands on the left so that its collation decides, as it does in a foreign key:
  /// <https://sqlite.org/foreignkeys.html#fk_indexes>.
  private func refers(to row: String) -> String {
    guard case .lookup(let lookup) = binding.formula, !lookup.link.pairs.isEmpty else { return "1" }
    return RowColumn.matching(
      lookup.link.pairs.map(\.source), of: row, "=", lookup.link.pairs.map(\.target), of: table)
  }

  /// True for the target's rows that belong to the rows that `notes` selects.
  func refers(toEvicted notes: String) -> String {
    guard case .lookup(let lookup) = binding.formula else { return "0" }
    return rows(lookup.link.pairs, areIn: notes)
  }

  /// True for the target's rows whose link is among those that `notes` selects. As everywhere the
  /// source's collation decides.
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
  /// `expression` as a value without a type of its own. A text compares with a number as numbers
  /// do, so '07' would pass for 7; a plus sign takes the number's affinity away and nothing else:
  /// <https://sqlite.org/datatype3.html#affinity_of_expressions>.
  package func bare(_ expression: String) -> String {
    affinity == .text ? "+(\(expression))" : expression
  }
}

extension ModelSchema {
  /// True for the row that the statement inserted or updated. A key of another design may be NULL:
  /// <https://sqlite.org/quirks.html#primary_keys_can_sometimes_contain_nulls>.
  var isNewRow: String {
    keyFields.map { "\(SQLText.quoted($0.column)) IS \(RowColumn("NEW", $0))" }
      .joined(separator: " AND ")
  }
}
