/// The triggers or the index that keep one rule: built-in SQL only, so that every writer runs them.
///
/// A trigger looks at the row as it is stored, not at NEW: another trigger of the same statement
/// may have put it right already. It refuses with RAISE(ABORT), which no conflict clause of the
/// writer's statement overrides: <https://sqlite.org/lang_createtrigger.html#raise>. Updates that
/// leave the rule's fields alone are not asked, so records that broke the rule before it was there
/// can still be worked with.
///
/// The records that REPLACE evicts fire no delete trigger in other programs. ``RuleEvictions``
/// adds what notes them.
package struct RuleObjects: Hashable, Sendable {
  package let rule: ResolvedRule
  /// None for a rule that only warns. A table stands before the triggers that use it.
  package let objects: [SchemaObject]
  /// True for stored records that break the rule, in a statement that reads the whole table; nil
  /// where none can.
  package let offence: SQLText?

  /// How the name of every rule's index begins, and of every trigger that asks and writes nothing.
  package static let namePrefix = "_ms_rule_"

  /// How the names of a rule's triggers may end, the longer ones first; an index has no ending.
  private static let endings = [
    "_referenced_delete", "_referenced_update", "_replaced_insert", "_replaced_update", "_insert",
    "_update", "_delete", "_leave",
  ]

  /// Whether a trigger, index or table called `name` belongs to a rule.
  package static func isName(_ name: String) -> Bool {
    name.hasPrefix(namePrefix) || name.hasPrefix(RuleEvictions.namePrefix)
  }

  /// What the triggers, the table and the index of the rule `name` may be called.
  package static func objectNames(ofRule name: String) -> [String] {
    (endings + [""]).map { namePrefix + name + $0 } + RuleEvictions.objectNames(ofRule: name)
  }

  /// The name of the rule that an object called `name` was made for.
  package static func ruleName(ofObject name: String, _ kind: SchemaObject.Kind) -> String {
    guard name.hasPrefix(namePrefix) else {
      return RuleEvictions.ruleName(ofObject: name, kind)
    }
    let ending = kind == .trigger ? endings.first { name.hasSuffix($0) } ?? "" : ""
    return String(name.dropFirst(namePrefix.count).dropLast(ending.count))
  }

  /// - Parameter tables: What REPLACE may evict; without it no object for that is made.
  package init(_ rule: ResolvedRule, evictions tables: EvictionTables = EvictionTables()) {
    self.rule = rule
    let sql = RuleSQL(rule)
    offence = sql.sweepingOffence
    guard rule.rule.severity == .error else {
      objects = []
      return
    }
    let name = Self.namePrefix + rule.rule.name
    let refusal = SQLText.literal(rule.rule.refusal)
    func trigger(
      _ event: String, _ moment: String, on model: ModelSchema, when condition: String? = nil,
      _ body: String
    ) -> SchemaObject {
      let when = condition.map { "\nWHEN \($0)" } ?? ""
      return SchemaObject(
        kind: .trigger, name: "\(name)_\(event)",
        sql: """
          CREATE TRIGGER \(SQLText.quoted("\(name)_\(event)"))
          \(moment) ON \(SQLText.quoted(model.table))\(when)
          BEGIN
          \(body)
          END
          """)
    }
    let watched = rule.watched
    let evictions = RuleEvictions(rule, tables)?.objects ?? []
    switch rule.rule.demand {
    case .unique(let condition):
      let columns = SQLText.quotedList(rule.fields.map(\.column))
      let part = condition.map { "\nWHERE (\($0))" } ?? ""
      objects = [
        SchemaObject(
          kind: .index, name: name,
          sql: """
            CREATE UNIQUE INDEX \(SQLText.quoted(name))
            ON \(SQLText.quoted(rule.model.table)) (\(columns))\(part)
            """)
      ]
    case .immutable:
      objects =
        [
          trigger(
            "update", TriggerMoment.update(of: watched), on: rule.model,
            when: TriggerMoment.anyChanged(watched), "  SELECT RAISE(ABORT, \(refusal));")
        ] + evictions
    default:
      let body = """
          SELECT RAISE(ABORT, \(refusal))
          FROM \(sql.table.sql)
          WHERE \(sql.isNew.sql)
          AND (\((sql.offence ?? "0").sql));
        """
      var all = [trigger("insert", "AFTER INSERT", on: rule.model, body)]
      if !watched.isEmpty {
        // A trigger that gives the record another key hides it from the one that looks next.
        let asked = watched + rule.keyBesideWatched
        all.append(
          trigger(
            "update", TriggerMoment.update(of: asked), on: rule.model,
            when: TriggerMoment.anyChanged(asked), body))
      }
      if let left = sql.sumWithout({ "OLD.\(identifier: $0.column)" }) {
        let body = "  SELECT RAISE(ABORT, \(refusal));"
        let changed = TriggerMoment.anyChanged(watched)
        all += [
          trigger("delete", "AFTER DELETE", on: rule.model, when: left.sql, body),
          trigger(
            "leave", TriggerMoment.update(of: watched), on: rule.model,
            when: "(\(changed)) AND \(left.sql)", body),
        ]
      }
      if let referenced = rule.referenced {
        all += Self.referencedTriggers(sql, referenced, trigger)
      }
      objects = all + evictions
    }
  }

  private static func referencedTriggers(
    _ sql: RuleSQL, _ referenced: ModelSchema,
    _ trigger: (String, String, ModelSchema, String?, String) -> SchemaObject
  ) -> [SchemaObject] {
    let key = referenced.fields[referenced.keyIndices[0]]
    let refusal = SQLText.literal(sql.rule.rule.refusalOfReferenced)
    let query = sql.referring(
      to: { "OLD.\(identifier: $0.column)" }, selecting: SQLText(sql: "RAISE(ABORT, \(refusal))"))
    let body = query.map { "\($0.sql);" } ?? ""
    return [
      trigger("referenced_delete", "AFTER DELETE", referenced, nil, body),
      trigger(
        "referenced_update", TriggerMoment.update(of: [key]), referenced,
        TriggerMoment.anyChanged([key]), body),
    ]
  }
}
