/// The persistent triggers that keep one binding, and the SQL that brings existing records in line.
///
/// Built-in SQL only, so that every writer runs them, the plain `sqlite3` shell included. Each
/// trigger puts the rows it touches right and then makes sure that they are: the conflict clause of
/// the writer's statement rules inside triggers too (<https://sqlite.org/lang_createtrigger.html>),
/// so `UPDATE OR IGNORE` would skip a target whose CHECK refuses the value without a word.
///
/// Triggers read the tables, never the values of NEW: another trigger of the same statement may
/// already have put the row right, and the order of triggers is undefined.
///
/// Held with `recursive_triggers` and `foreign_keys` off too, except for two things that no trigger
/// sees there. A source record that REPLACE evicts because of a unique set *other than* the
/// referenced one fires no delete trigger (<https://sqlite.org/lang_conflict.html>), so the records
/// that refer to it keep their last value; and a user's own trigger that changes the reference of
/// other records while this binding's trigger runs does not start that trigger again. The drift
/// count finds both.
struct BindingTriggers: Hashable, Sendable {
  struct Trigger: Hashable, Sendable {
    let name: String
    let table: String
    /// Exactly as `sqlite_schema` will hold it.
    let sql: String
  }

  let binding: BindingSchema
  /// In the order of ``Event``'s cases.
  let triggers: [Trigger]
  /// One UPDATE that puts every record right and touches no record that is right already.
  let synchronisation: String
  /// One SELECT of one number: how many records are not right.
  let driftCount: String
  /// The condition, over the target's table, of the records that are not right.
  let driftCondition: String
  /// A statement that SQLite compiles only when a derived expression is deterministic and names
  /// nothing but the record's columns; nil for a copy. It is never run.
  let expressionProbe: String?

  private enum Event: String, CaseIterable {
    case sourceInsert = "source_insert"
    case sourceUpdate = "source_update"
    case sourceDelete = "source_delete"
    case targetInsert = "target_insert"
    case targetUpdate = "target_update"
  }

  /// How the name of every binding's trigger begins.
  static let namePrefix = "_ms_binding_"

  /// The binding that the trigger called `name` belongs to, or nil when it is no binding's.
  static func bindingName(ofTrigger name: String) -> String? {
    guard name.hasPrefix(namePrefix),
      let event = Event.allCases.first(where: { name.hasSuffix("_" + $0.rawValue) })
    else { return nil }
    let binding = name.dropFirst(namePrefix.count).dropLast(event.rawValue.count + 1)
    return binding.isEmpty ? nil : String(binding)
  }

  /// What a trigger says when a record does not take its value. Every writer sees it.
  fileprivate static func refusal(of binding: BindingSchema) -> String {
    "The binding \(binding.name)\(refusalEnd(for: binding.target))"
  }

  private static func refusalEnd(for target: BindingSchema.Field) -> String {
    " cannot be kept: \(target) does not take the value."
  }

  /// The binding of `target` that `message` is the refusal of, or nil.
  static func bindingName(refusing target: BindingSchema.Field, in message: String) -> String? {
    let start = "The binding "
    let end = refusalEnd(for: target)
    guard message.hasPrefix(start), message.hasSuffix(end) else { return nil }
    return String(message.dropFirst(start.count).dropLast(end.count))
  }

  init(_ binding: ResolvedBinding) {
    let sql = BindingSQL(binding)
    self.binding = binding.schema
    driftCondition = sql.drift
    driftCount =
      """
      SELECT count(*)
      FROM \(sql.table)
      WHERE \(sql.drift)
      """
    synchronisation =
      """
      UPDATE \(sql.table)
      SET \(sql.field) = \(sql.value)
      WHERE \(sql.drift)
      """
    func trigger(
      _ event: Event, _ moment: String, on model: ModelSchema, when condition: String? = nil,
      _ body: [String]
    ) -> Trigger {
      let name = "\(Self.namePrefix)\(binding.schema.name)_\(event.rawValue)"
      let when = condition.map { "\nWHEN \($0)" } ?? ""
      return Trigger(
        name: name, table: model.table,
        sql: """
          CREATE TRIGGER \(SQLText.quoted(name))
          \(moment) ON \(SQLText.quoted(model.table))\(when)
          BEGIN
          \(body.joined(separator: "\n"))
          END
          """)
    }
    let inserted = trigger(
      .targetInsert, "AFTER INSERT", on: binding.model, [sql.puttingRight(where: sql.isNewTarget)])
    switch binding.formula {
    case .copy(let source, let field, let key, let reference, let absence):
      let newKey = "NEW.\(SQLText.quoted(key.column))"
      let oldKey = "OLD.\(SQLText.quoted(key.column))"
      let left = sql.puttingRight(where: sql.refers(to: oldKey), value: sql.copied(forKey: oldKey))
      let arrived = sql.puttingRight(
        where: sql.refers(to: newKey), value: sql.copied(forKey: newKey))
      var triggers = [
        trigger(.sourceInsert, "AFTER INSERT", on: source, [arrived]),
        trigger(
          .sourceUpdate, TriggerMoment.update(of: [field, key]), on: source,
          when: TriggerMoment.anyChanged([field, key]),
          absence == .unchanged ? [arrived] : [arrived, left]),
      ]
      if absence != .unchanged {
        triggers.append(trigger(.sourceDelete, "AFTER DELETE", on: source, [left]))
      }
      let watched = [reference, binding.target]
      self.triggers =
        triggers + [
          inserted,
          trigger(
            .targetUpdate, TriggerMoment.update(of: watched), on: binding.model,
            when: TriggerMoment.anyChanged(watched), [sql.puttingRight(where: sql.isNewTarget)]),
        ]
      expressionProbe = nil
    case .derive(let expression, let dependencies):
      let watched = dependencies + [binding.target]
      triggers = [
        inserted,
        trigger(
          .targetUpdate, TriggerMoment.update(of: watched), on: binding.model,
          when: TriggerMoment.anyChanged(watched), [sql.puttingRight(where: sql.isNewTarget)]),
      ]
      expressionProbe = expression.probeText(in: binding.model)
    }
  }
}

/// The pieces of SQL that a binding's triggers are put together from.
private struct BindingSQL {
  let table: String
  let field: String
  /// The right value, computed for the target's row at hand.
  let value: String
  /// Limits the rows that have a right value, where not all have one.
  private let hasValue: String?
  private let binding: ResolvedBinding
  /// The source's name in subqueries, so that the target's table is another one even if it is not.
  private static let alias = "_ms_source"

  init(_ binding: ResolvedBinding) {
    self.binding = binding
    table = SQLText.quoted(binding.model.table)
    field = SQLText.quoted(binding.target.column)
    switch binding.formula {
    case .copy(let source, let field, let key, let reference, let absence):
      let row = "\(table).\(SQLText.quoted(reference.column))"
      value = Self.copied(source, field, key, forKey: row, absence)
      hasValue = absence == .unchanged ? Self.exists(source, key, forKey: row) : nil
    case .derive(let expression, _):
      value = "(\(expression.text))"
      hasValue = nil
    }
  }

  /// True for the target's rows that do not hold their right value.
  var drift: String {
    let differs = TriggerMoment.differ(field, value, binding.target)
    return hasValue.map { "\($0) AND \(differs)" } ?? differs
  }

  /// True for the row that the statement inserted or updated.
  var isNewTarget: String {
    binding.model.key
      .compactMap { binding.model.field(named: $0) }
      .map { key in
        let column = SQLText.quoted(key.column)
        return "\(column) \(key.isOptional ? "IS" : "=") NEW.\(column)"
      }
      .joined(separator: " AND ")
  }

  /// True for the target's rows that refer to `key`.
  ///
  /// The key stands on the left so that its collation decides, as it does in a foreign key:
  /// <https://sqlite.org/foreignkeys.html#fk_indexes>.
  func refers(to key: String) -> String {
    guard case .copy(_, _, _, let reference, _) = binding.formula else {
      preconditionFailure("Only a copy has a reference.")
    }
    return "\(key) = \(table).\(SQLText.quoted(reference.column))"
  }

  /// The value that records referring to `key` must hold.
  func copied(forKey key: String) -> String {
    guard case .copy(let source, let field, let sourceKey, _, let absence) = binding.formula else {
      preconditionFailure("Only a copy has a source.")
    }
    return Self.copied(source, field, sourceKey, forKey: key, absence)
  }

  /// Two statements: put the rows right that `rows` selects, then refuse if one of them is not.
  func puttingRight(where rows: String, value: String? = nil) -> String {
    let condition =
      value.map { "\(rows) AND \(TriggerMoment.differ(field, $0, binding.target))" }
      ?? "\(rows) AND \(drift)"
    let message = SQLText.literal(BindingTriggers.refusal(of: binding.schema))
    return """
        UPDATE \(table)
        SET \(field) = \(value ?? self.value)
        WHERE \(condition);
        SELECT RAISE(ABORT, \(message))
        FROM \(table)
        WHERE \(condition);
      """
  }

  private static func copied(
    _ source: ModelSchema, _ field: FieldSchema, _ key: FieldSchema, forKey value: String,
    _ absence: ResolvedBinding.Absence
  ) -> String {
    let column = SQLText.quoted(field.column)
    let found = "(SELECT \(alias).\(column) \(rows(of: source, key, value)))"
    guard case .literal(let sql) = absence else { return found }
    return "CASE WHEN \(exists(source, key, forKey: value)) THEN \(found) ELSE (\(sql)) END"
  }

  private static func exists(
    _ source: ModelSchema, _ key: FieldSchema, forKey value: String
  ) -> String {
    "EXISTS (SELECT 1 \(rows(of: source, key, value)))"
  }

  private static func rows(
    of source: ModelSchema, _ key: FieldSchema, _ value: String
  ) -> String {
    let table = SQLText.quoted(source.table)
    return "FROM \(table) AS \(alias) WHERE \(alias).\(SQLText.quoted(key.column)) = \(value)"
  }
}
