/// The persistent objects that keep one binding up to date, and the SQL that updates existing
/// records.
///
/// They use only built-in SQL, so every writer runs them, including the plain `sqlite3` shell. Each
/// trigger corrects the rows it touches and then verifies that they are correct. Verification is
/// needed because the conflict clause of the writer's statement also applies inside triggers
/// (<https://sqlite.org/lang_createtrigger.html>). For example, `UPDATE OR IGNORE` would silently
/// skip a target whose CHECK rejects the value.
///
/// Triggers read the tables, not the values of NEW. Another trigger of the same statement may
/// already have corrected the row, and the order of triggers is undefined. There are two exceptions
/// that read OLD and NEW. Totals add and subtract them; this is exact because each change of a row
/// fires once, whatever the order. And only OLD and NEW show which end of a two-way binding was
/// written.
///
/// The binding is also kept with `recursive_triggers` and `foreign_keys` off. REPLACE then evicts
/// records without a delete trigger (<https://sqlite.org/lang_conflict.html>), so
/// ``BindingEvictions`` notes them beforehand. Two cases are not covered, but the drift count finds
/// both:
///
/// - An eviction by a unique index that no model declares or that has a custom collation (see
///   ``UniqueSets``).
/// - A change by a user's trigger of fields that a running trigger of the binding watches, because
///   no trigger starts itself again.
package struct BindingTriggers: Hashable, Sendable {
  package let binding: BindingSchema
  private let parts: Parts
  /// The expressions that writers evaluate, each with the model whose columns it may name.
  package let expressions: [Expression]
  /// The fields by which it finds other records.
  package let finders: [BindingFinder]
  /// The columns that the binding writes, and the columns that their values come from.
  let flow: Flow
  private let target: ModelSchema

  struct Flow: Hashable, Sendable {
    package let targets: [ResolvedBinding.Column]
    package let origins: Set<ResolvedBinding.Column>
  }

  package struct Expression: Hashable, Sendable {
    package let expression: SQLExpression
    package let model: ModelSchema
  }

  /// The event that a binding's trigger handles.
  package enum Event: String, CaseIterable {
    case sourceInsert = "source_insert"
    case sourceUpdate = "source_update"
    case sourceMove = "source_move"
    case sourceDelete = "source_delete"
    case targetInsert = "target_insert"
    case targetUpdate = "target_update"
    case leftInsert = "left_insert"
    case leftUpdate = "left_update"
    case rightInsert = "right_insert"
    case rightUpdate = "right_update"
    case noteInsert = "note_insert"
    case noteUpdate = "note_update"
    case evictedInsert = "evicted_insert"
    case evictedUpdate = "evicted_update"
    case evictedDelete = "evicted_delete"
    /// Tables and indexes, not triggers.
    case totals, evicted, written, order
  }

  /// The prefix of the name of every binding's trigger, table and index.
  package static let namePrefix = "_ms_binding_"

  /// Returns the binding that the trigger called `name` belongs to, or nil for other triggers.
  package static func bindingName(ofTrigger name: String) -> String? {
    guard name.hasPrefix(namePrefix),
      let event = Event.allCases.first(where: { name.hasSuffix("_" + $0.rawValue) })
    else { return nil }
    let binding = name.dropFirst(namePrefix.count).dropLast(event.rawValue.count + 1)
    return binding.isEmpty ? nil : String(binding)
  }

  /// The error message of a trigger when a record does not accept its value. Every writer sees it.
  package static func refusal(of binding: BindingSchema) -> String {
    "The binding \(binding.name)\(refusalEnd(for: binding.target))"
  }

  /// The error message of a two-way binding's trigger when both ends were written with different
  /// values.
  package static func conflict(of binding: BindingSchema) -> String {
    "The binding \(binding.name)\(conflictEnd(for: binding.target))"
  }

  private static func refusalEnd(for target: BindingSchema.Field) -> String {
    " cannot be kept: \(target) does not take the value."
  }

  private static func conflictEnd(for target: BindingSchema.Field) -> String {
    " cannot be kept: \(target) and its other end were given values that differ."
  }

  /// Returns the binding of `target` whose refusal `message` is, or nil.
  package static func bindingName(refusing target: BindingSchema.Field, in message: String)
    -> String?
  {
    let start = "The binding "
    let ends = [refusalEnd(for: target), conflictEnd(for: target)]
    guard message.hasPrefix(start), let end = ends.first(where: message.hasSuffix)
    else { return nil }
    return String(message.dropFirst(start.count).dropLast(end.count))
  }

  package init(_ binding: ResolvedBinding) {
    self.binding = binding.schema
    target = binding.model
    finders = binding.finders
    flow = Flow(targets: binding.targets, origins: binding.origins)
    expressions = binding.writtenExpressions
    parts = Parts(binding)
  }

  package var triggers: [SchemaObject] { parts.triggers }
  /// The objects with the triggers' own state: tables and indexes.
  package var storage: [SchemaObject] { parts.storage }
  /// Empties the binding's own tables; run these statements before ``passes``.
  package var clearings: [String] { parts.clearings }
  /// Fills the binding's own tables again, then corrects every record. The last pass does not touch
  /// records that are already correct.
  package var passes: [BindingPass] { parts.passes }
  /// The condition over the target's table for records that are not correct.
  var driftCondition: String { parts.driftCondition }
  /// Selects the errors in the binding's own tables.
  package var storageAudit: String? { parts.storageAudit }
  /// One SELECT of one number: how many records a conversion there and back would change. Nil for a
  /// one-way binding.
  package var lossCount: String? { parts.lossCount }

  /// The table of ``storageAudit``: the totals, which come first.
  package var auditedTable: String? {
    storageAudit == nil ? nil : storage.first { $0.kind == .table }?.name
  }

  /// The condition over the target's table for records to report as wrong: records that drift, and
  /// records that follow wrong storage.
  private var offence: String { parts.offence ?? driftCondition }

  /// All objects that the file must have, in the order of creation.
  package var objects: [SchemaObject] { storage + triggers }

  /// One SELECT of one number: how many records are not correct.
  package var driftCount: String {
    """
    SELECT count(*)
    FROM \(SQLText.quoted(target.table))
    WHERE \(offence)
    """
  }

  /// Selects the keys of records that are not correct, in key order. Its argument is the limit.
  package var driftKeys: String {
    let key = SQLText.quotedList(target.keyFields.map(\.column))
    return """
      SELECT \(key)
      FROM \(SQLText.quoted(target.table))
      WHERE \(offence)
      ORDER BY \(key)
      LIMIT ?
      """
  }
}

/// The names and the SQL of the objects of one binding.
struct BindingObjects {
  package let binding: BindingSchema

  package func name(_ event: BindingTriggers.Event) -> String {
    "\(BindingTriggers.namePrefix)\(binding.name)_\(event.rawValue)"
  }

  package var owner: SchemaObject.Owner { .binding(binding.name) }

  package func trigger(
    _ event: BindingTriggers.Event, _ moment: TriggerSQL.Moment, on model: ModelSchema,
    when condition: String? = nil, _ body: [String]
  ) -> SchemaObject {
    TriggerSQL(name(event), moment, on: model.table, when: condition, body).object(of: owner)
  }

  /// Returns a table of the binding. Its columns convert values as the fields whose values they
  /// hold do.
  package func table(
    _ event: BindingTriggers.Event, key: [(name: String, field: FieldSchema?)],
    _ others: [String] = []
  ) -> SchemaObject {
    let columns = key.map { column in
      let type = column.field.map(\.affinity.columnType) ?? "INTEGER"
      let collation = column.field.map { " COLLATE \(SQLText.quoted($0.collation.name))" } ?? ""
      return "  \(column.name)\(type.isEmpty ? "" : " " + type)\(collation)"
    }
    let primaryKey = "  PRIMARY KEY (\(key.map(\.name).joined(separator: ", ")))"
    return SchemaObject(
      kind: .table, name: name(event), owner: owner,
      sql: """
        CREATE TABLE \(SQLText.quoted(name(event))) (
        \((columns + others.map { "  \($0)" } + [primaryKey]).joined(separator: ",\n"))
        )
        """)
  }
}

extension ColumnAffinity {
  /// A column type with this affinity; empty for none.
  package var columnType: String {
    switch self {
    case .integer: "INTEGER"
    case .text: "TEXT"
    case .real: "REAL"
    case .numeric: "NUMERIC"
    case .blob: ""
    }
  }
}
