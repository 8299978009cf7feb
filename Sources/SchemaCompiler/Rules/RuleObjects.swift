/// The triggers or the index that enforce one rule. They use built-in SQL only, so that every
/// writer runs them.
///
/// A trigger checks the stored row, not NEW, because another trigger of the same statement may have
/// corrected it already. It refuses with RAISE(ABORT), which no conflict clause of the writer's
/// statement overrides: <https://sqlite.org/lang_createtrigger.html#raise>. An update that does not
/// touch the rule's fields is not checked. So you can still work with records that broke the rule
/// before it was added.
///
/// In other programs, the records that REPLACE evicts fire no delete trigger. ``RuleEvictions``
/// adds the objects that record them.
package struct RuleObjects: Hashable, Sendable {
  package let rule: ResolvedRule
  /// The objects; empty for a rule that only warns. A table precedes the triggers that use it.
  package let objects: [SchemaObject]
  /// True for stored records that break the rule, in a statement that reads the whole table; nil if
  /// no stored record can break it.
  package let offence: SQLText?

  /// The prefix of the names of every rule's index, and of every trigger that only checks.
  package static let namePrefix = "_ms_rule_"

  /// The suffixes of the names of a rule's triggers, the longer ones first; an index has no suffix.
  private static let endings = [
    "_referenced_delete", "_referenced_update", "_replaced_insert", "_replaced_update", "_insert",
    "_update", "_delete", "_leave",
  ]

  /// Returns whether a trigger, index or table called `name` belongs to a rule.
  package static func isName(_ name: String) -> Bool {
    name.hasPrefix(namePrefix) || name.hasPrefix(RuleEvictions.namePrefix)
  }

  /// Returns the possible names of the triggers, the table and the index of the rule `name`.
  package static func objectNames(ofRule name: String) -> [String] {
    (endings + [""]).map { namePrefix + name + $0 } + RuleEvictions.objectNames(ofRule: name)
  }

  /// Returns the name of the rule to which an object called `name` belongs.
  package static func ruleName(ofObject name: String, _ kind: SchemaObject.Kind) -> String {
    guard name.hasPrefix(namePrefix) else {
      return RuleEvictions.ruleName(ofObject: name, kind)
    }
    let ending = kind == .trigger ? endings.first { name.hasSuffix($0) } ?? "" : ""
    return String(name.dropFirst(namePrefix.count).dropLast(ending.count))
  }

  /// - Parameter tables: The records that REPLACE may evict; without it no object for that is
  ///   created.
  package init(_ rule: ResolvedRule, evictions tables: EvictionTables = EvictionTables()) {
    self.rule = rule
    let sql = RuleSQL(rule)
    offence = sql.sweepingOffence
    objects =
      rule.rule.severity == .error
      ? RuleTriggers(rule: rule, sql: sql).objects + (RuleEvictions(rule, tables)?.objects ?? [])
      : []
  }
}

/// The objects of a rule that refuses, without those about evicted records.
private struct RuleTriggers {
  let rule: ResolvedRule
  let sql: RuleSQL

  private var name: String { RuleObjects.namePrefix + rule.rule.name }
  private var owner: SchemaObject.Owner { .rule(rule.rule.name) }

  /// Refuses without reading a row.
  private var refusing: String {
    "  SELECT RAISE(ABORT, \(SQLText.literal(rule.rule.refusal)));"
  }

  var objects: [SchemaObject] {
    switch rule.rule.demand {
    case .unique(let condition): [index(where: condition)]
    case .immutable: [immutability]
    default:
      [insertion] + [update].compactMap(\.self) + leaving
        + (rule.referenced.map(referencedTriggers) ?? [])
    }
  }

  private func trigger(
    _ event: String, _ moment: TriggerSQL.Moment, on model: ModelSchema? = nil,
    when condition: String? = nil, _ body: String
  ) -> SchemaObject {
    TriggerSQL(
      "\(name)_\(event)", moment, on: (model ?? rule.model).table, when: condition, [body]
    ).object(of: owner)
  }

  private func index(where condition: String?) -> SchemaObject {
    let columns = SQLText.quotedList(rule.fields.map(\.column))
    let part = condition.map { "\nWHERE (\($0))" } ?? ""
    return SchemaObject(
      kind: .index, name: name, owner: owner,
      sql: """
        CREATE UNIQUE INDEX \(SQLText.quoted(name))
        ON \(SQLText.quoted(rule.model.table)) (\(columns))\(part)
        """)
  }

  private var immutability: SchemaObject {
    trigger(
      "update", .after(.update(of: rule.watched)),
      when: TriggerMoment.anyChanged(rule.watched), refusing)
  }

  /// Refuses the written row if it breaks the rule.
  private var judging: String {
    """
      SELECT RAISE(ABORT, \(SQLText.literal(rule.rule.refusal)))
      FROM \(sql.table.sql)
      WHERE \(sql.isNew.sql)
      AND (\((sql.offence ?? "0").sql));
    """
  }

  private var insertion: SchemaObject { trigger("insert", .after(.insert), judging) }

  private var update: SchemaObject? {
    guard !rule.watched.isEmpty else { return nil }
    // If a trigger changes the key of the record, the next trigger cannot find it.
    let asked = rule.watched + rule.keyBesideWatched
    return trigger(
      "update", .after(.update(of: asked)), when: TriggerMoment.anyChanged(asked), judging)
  }

  /// For a sum: refuses when the remaining records break it without the removed one.
  private var leaving: [SchemaObject] {
    guard let left = sql.sumWithout({ "OLD.\(identifier: $0.column)" }) else { return [] }
    let changed = TriggerMoment.anyChanged(rule.watched)
    return [
      trigger("delete", .after(.delete), when: left.sql, refusing),
      trigger(
        "leave", .after(.update(of: rule.watched)), when: "(\(changed)) AND \(left.sql)", refusing),
    ]
  }

  private func referencedTriggers(_ referenced: ModelSchema) -> [SchemaObject] {
    let key = referenced.fields[referenced.keyIndices[0]]
    let refusal = SQLText.literal(rule.rule.refusalOfReferenced)
    let query = sql.referring(
      to: { "OLD.\(identifier: $0.column)" }, selecting: SQLText(sql: "RAISE(ABORT, \(refusal))"))
    let body = query.map { "\($0.sql);" } ?? ""
    return [
      trigger("referenced_delete", .after(.delete), on: referenced, body),
      trigger(
        "referenced_update", .after(.update(of: [key])), on: referenced,
        when: TriggerMoment.anyChanged([key]), body),
    ]
  }
}
