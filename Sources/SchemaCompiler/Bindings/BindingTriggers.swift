/// The persistent objects that keep one binding, and the SQL that brings existing records in line.
///
/// Built-in SQL only, so that every writer runs it, the plain `sqlite3` shell included. Each
/// trigger puts the rows it touches right and then makes sure that they are: the conflict clause of
/// the writer's statement rules inside triggers too (<https://sqlite.org/lang_createtrigger.html>),
/// so `UPDATE OR IGNORE` would skip a target whose CHECK refuses the value without a word.
///
/// Triggers read the tables, not the values of NEW: another trigger of the same statement may
/// already have put the row right, and the order of triggers is undefined. Two things take OLD and
/// NEW all the same. Totals add and subtract them, which is exact because each change of a row
/// fires once, whatever the order. And which end of a two-way binding was written, only they say.
///
/// Held with `recursive_triggers` and `foreign_keys` off too. REPLACE then evicts records without a
/// delete trigger (<https://sqlite.org/lang_conflict.html>); ``BindingEvictions`` notes them
/// before. Not held there: what is evicted by a unique index that no model declares or that has a
/// program's own collation (see ``UniqueSets``), and what a user's own trigger changes in the
/// fields that a running trigger of the binding watches, since no trigger starts itself again. The
/// drift count finds both.
package struct BindingTriggers: Hashable, Sendable {
  package let binding: BindingSchema
  private let parts: Parts
  /// The expressions that writers evaluate, each with the model whose columns it may name.
  package let expressions: [Expression]
  /// How it finds other records.
  package let finders: [BindingFinder]
  /// Which columns the binding writes and out of which values come into those.
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

  /// What the trigger of a binding is called for.
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
    /// Not triggers.
    case totals, evicted, written, order
  }

  /// How the name of every binding's trigger, table and index begins.
  package static let namePrefix = "_ms_binding_"

  /// The binding that the trigger called `name` belongs to, or nil when it is no binding's.
  package static func bindingName(ofTrigger name: String) -> String? {
    guard name.hasPrefix(namePrefix),
      let event = Event.allCases.first(where: { name.hasSuffix("_" + $0.rawValue) })
    else { return nil }
    let binding = name.dropFirst(namePrefix.count).dropLast(event.rawValue.count + 1)
    return binding.isEmpty ? nil : String(binding)
  }

  /// What a trigger says when a record does not take its value. Every writer sees it.
  package static func refusal(of binding: BindingSchema) -> String {
    "The binding \(binding.name)\(refusalEnd(for: binding.target))"
  }

  /// What a trigger of a two-way binding says when both ends were written, unlike each other.
  package static func conflict(of binding: BindingSchema) -> String {
    "The binding \(binding.name)\(conflictEnd(for: binding.target))"
  }

  private static func refusalEnd(for target: BindingSchema.Field) -> String {
    " cannot be kept: \(target) does not take the value."
  }

  private static func conflictEnd(for target: BindingSchema.Field) -> String {
    " cannot be kept: \(target) and its other end were given values that differ."
  }

  /// The binding of `target` that `message` is the refusal of, or nil.
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
  /// What the triggers keep for themselves: tables and indexes.
  package var storage: [SchemaObject] { parts.storage }
  /// Empties the binding's own tables; to be run before ``passes``.
  package var clearings: [String] { parts.clearings }
  /// Fills the binding's own tables anew, then puts every record right. The last one touches no
  /// record that is right already.
  package var passes: [BindingPass] { parts.passes }
  /// The condition, over the target's table, of the records that are not right.
  var driftCondition: String { parts.driftCondition }
  /// Selects what is wrong in the binding's own tables.
  package var storageAudit: String? { parts.storageAudit }
  /// One SELECT of one number: how many records come back changed from there and back; nil for what
  /// goes one way.
  package var lossCount: String? { parts.lossCount }

  /// The table of ``storageAudit``: the totals, which come first.
  package var auditedTable: String? {
    storageAudit == nil ? nil : storage.first { $0.kind == .table }?.name
  }

  /// The condition, over the target's table, of the records to tell as wrong: those that drift, and
  /// those that follow storage that is wrong.
  private var offence: String { parts.offence ?? driftCondition }

  /// All that the file must hold, in the order in which it is made.
  package var objects: [SchemaObject] { storage + triggers }

  /// One SELECT of one number: how many records are not right.
  package var driftCount: String {
    """
    SELECT count(*)
    FROM \(SQLText.quoted(target.table))
    WHERE \(offence)
    """
  }

  /// The keys of records that are not right, in key order; takes their number as an argument.
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

/// Names and words the objects of one binding.
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

  /// A table of the binding's own. Its columns convert as the fields do whose values they hold.
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
