/// The triggers that enforce a rule about old values when REPLACE evicts records.
///
/// If `recursive_triggers` is off, as in other programs, REPLACE deletes conflicting records
/// without a delete trigger: <https://sqlite.org/lang_conflict.html>. A BEFORE trigger can still
/// read them, but cannot know whether the statement will replace, update, ignore or fail. So it
/// notes them. The AFTER trigger runs only when the new row is stored. It rejects the change if a
/// noted record is gone and the rule needs the values it held.
///
/// Other triggers may write the same table between the two, so several rows can have notes at the
/// same time. Each note therefore contains the unique values of the row that it was made for, and
/// an AFTER trigger reads only the notes of its own row.
///
/// A row that is ignored, or that fails, gets no AFTER trigger and leaves its notes behind. They
/// must not cause the rejection of another row:
///
/// - A BEFORE trigger removes the notes of records that are still stored as noted.
/// - It raises the level of notes that were made for a row with the same unique values. An AFTER
///   trigger rejects only for level 0, and lowers the other levels again.
///
/// One limitation follows: a row's own notes are removed when another BEFORE trigger writes the
/// table before the row is stored. What the row then replaces is not rejected. The article on rules
/// explains why.
package struct RuleEvictions {
  private let rule: ResolvedRule
  private let sql: RuleSQL
  /// The model whose records REPLACE may evict.
  private let source: ModelSchema
  /// The fields of an evicted record that the rule needs.
  private let noted: [FieldSchema]
  private let facts: TableFacts
  private let sets: [EvictingSet]
  /// The columns of ``sets`` that identify a row in both of its triggers.
  private let identity: [EvictingSet.Column]

  private let table: String
  private let notes: String

  /// The prefix of the names of the table of notes and of the triggers that fill it. The triggers
  /// of ``RuleObjects/namePrefix`` only read; these write.
  package static let namePrefix = "_ms_rulenotes_"
  private static let noteEndings = ["_insert", "_update"]
  /// Limits the notes that ignored rows leave in the file.
  private static let noteCountMax = 32

  /// Returns the names of the table of notes and of the triggers that fill it.
  package static func objectNames(ofRule name: String) -> [String] {
    ([""] + noteEndings).map { namePrefix + name + $0 }
  }

  /// Returns the name of the rule that the object `name` was made for.
  package static func ruleName(ofObject name: String, _ kind: SchemaObject.Kind) -> String {
    let ending = kind == .trigger ? noteEndings.first { name.hasSuffix($0) } ?? "" : ""
    return String(name.dropFirst(namePrefix.count).dropLast(ending.count))
  }

  /// - Parameter tables: The file's tables, with the unique indexes that the rules will have.
  /// - Returns: nil for a rule that an evicted record cannot break.
  init?(_ rule: ResolvedRule, _ tables: EvictionTables) {
    let source = rule.referenced ?? rule.model
    guard rule.rule.asksEvicted, let facts = tables[source] else { return nil }
    self.rule = rule
    self.source = source
    self.facts = facts
    sql = RuleSQL(rule)
    table = SQLText.quoted(source.table)
    notes = SQLText.quoted(Self.namePrefix + rule.rule.name)
    let key = Set(source.keyFields.map(\.column.asciiFolded))
    var sets = EvictingSet.sets(of: facts)
    switch rule.rule.demand {
    case .reference:
      noted = source.keyFields
      // A record that replaces one with the same key can be referred to in its place.
      sets.removeAll { Set($0.columns.map(\.name.asciiFolded)) == key }
    case .sumAtMost: noted = rule.group + rule.fields
    default: noted = rule.fields
    }
    guard !sets.isEmpty else { return nil }
    self.sets = sets
    identity = EvictingSet.identity(of: sets, in: facts)
  }

  /// The table of notes, then the triggers.
  package var objects: [SchemaObject] {
    let name = rule.rule.name
    let updates = EvictingSet.updates(of: sets, in: facts)
    let inserted = conflicts(isUpdate: false)
    let updated = conflicts(isUpdate: true)
    return [
      SchemaObject(
        kind: .table, name: Self.namePrefix + name, owner: owner,
        sql: "CREATE TABLE \(notes) (\(definitions.joined(separator: ", ")))"),
      trigger(
        Self.namePrefix + name + "_insert", .before(.insert), when: mustNote(inserted),
        noting(inserted)),
      trigger(
        Self.namePrefix + name + "_update", .before(updates), when: mustNote(updated),
        EvictingSet.computing(sets, in: facts) + noting(updated)),
      trigger(
        RuleObjects.namePrefix + name + "_replaced_insert", .after(.insert),
        refusing(gone: isGone(replacedWhen: nil))),
      trigger(
        RuleObjects.namePrefix + name + "_replaced_update", .after(updates),
        refusing(gone: isGone(replacedWhen: TriggerMoment.anyChanged(source.keyFields)))),
    ]
  }

  private var owner: SchemaObject.Owner { .rule(rule.rule.name) }

  private func trigger(
    _ name: String, _ moment: TriggerSQL.Moment, when condition: String? = nil, _ body: [String]
  ) -> SchemaObject {
    TriggerSQL(name, moment, on: source.table, when: condition, body).object(of: owner)
  }

  /// The columns of the table of notes, which store and compare values as the table's own columns
  /// do.
  private var definitions: [String] {
    func definition(_ name: String, _ field: FieldSchema) -> String {
      let type = field.isMaybeBare ? "" : field.affinity.columnType
      var collation = field.collation
      // Other programs may not have the collation, and could then not write.
      if case .custom = collation { collation = .binary }
      return "\(name)\(type.isEmpty ? "" : " " + type)"
        + " COLLATE \(SQLText.quoted(collation.name))"
    }
    return ["level INTEGER NOT NULL"] + identity.indices.map { "n\($0)" }
      + source.keyFields.enumerated().map { definition("k\($0)", $1) }
      + noted.enumerated().map { definition("v\($0)", $1) }
  }

  private func column(_ field: FieldSchema) -> String { RowColumn(table, field).sql }

  private func new(_ field: FieldSchema) -> String { RowColumn("NEW", field).sql }

  // Noting

  /// Returns conditions for the records that NEW may evict and that matter to the rule. The record
  /// that an update changes is excluded.
  private func conflicts(isUpdate: Bool) -> [String] {
    var conflicts = sets.map { $0.conflict(in: table) }
    // No UPDATE OF can name a rowid that is not a column, so only insertions are watched for it.
    if !isUpdate, let rowID = facts.hiddenRowIDName {
      conflicts.append("\(table).\(rowID) = NEW.\(rowID)")
    }
    var terms = [relevance].compactMap(\.self)
    if isUpdate {
      let same = source.keyFields.map {
        "\(column($0)) COLLATE BINARY IS \(RowColumn("OLD", $0))"
      }
      terms.append("NOT (\(same.joined(separator: " AND ")))")
    }
    return conflicts.map { ([$0] + terms).joined(separator: " AND ") }
  }

  /// A condition that is true for stored records whose eviction may break the rule. Nil when that
  /// depends on the stored NEW.
  private var relevance: String? {
    switch rule.rule.demand {
    case .sumAtMost: return "\(column(rule.fields[0])) < 0"
    case .immutable:
      // A generated column of NEW may not be computed yet.
      guard rule.fields.allSatisfy({ $0.generated == nil }) else { return nil }
      return differs { column($0) }
    default: return nil
    }
  }

  private func differs(_ old: (FieldSchema) -> String) -> String {
    let terms = rule.fields.map { field in
      TriggerMoment.differ(old(field), new(field), mayHoldAnything: field.isMaybeBare)
    }
    return "(\(terms.joined(separator: " OR ")))"
  }

  private func mustNote(_ conflicts: [String]) -> String {
    (["EXISTS (SELECT 1 FROM \(notes))"]
      + conflicts.map { "EXISTS (SELECT 1 FROM \(table) WHERE \($0))" })
      .joined(separator: "\n  OR ")
  }

  private func noting(_ conflicts: [String]) -> [String] {
    let condition = conflicts.map { "(\($0))" }.joined(separator: " OR ")
    let values =
      ["0"] + identity.map(\.stored) + (source.keyFields + noted).map(column)
    return [
      """
        DELETE FROM \(notes)
        WHERE rowid <= (SELECT max(rowid) - \(Self.noteCountMax) FROM \(notes))
        OR EXISTS (SELECT 1 FROM \(table) WHERE \(isStoredAsNoted));
        UPDATE \(notes) SET level = level + 1
        WHERE \(isOfNew);
        INSERT INTO \(notes)
        SELECT \(values.joined(separator: ", "))
        FROM \(table)
        WHERE \(condition);
      """
    ]
  }

  /// True for notes that were made for a row with the unique values of NEW.
  ///
  /// In a BEFORE trigger, a row that will get its row number from SQLite has the number -1.
  private var isOfNew: String {
    let rowID = facts.rowIDColumn?.name
    let terms = identity.enumerated().map { index, column in
      let note = "\(notes).n\(index)"
      let isSame = "\(column.stored) COLLATE BINARY IS \(note)"
      return column.name == rowID ? "(\(isSame) OR -1 IN (\(note), \(column.stored)))" : isSame
    }
    return terms.isEmpty ? "1" : terms.joined(separator: " AND ")
  }

  /// True for a record that still holds the noted values.
  private var isStoredAsNoted: String {
    let terms = noted.enumerated().map { index, field in
      let differs = TriggerMoment.differ(
        column(field), "\(notes).v\(index)", mayHoldAnything: field.isMaybeBare)
      return "NOT (\(differs))"
    }
    return ([isNoted(column, "IS")] + terms).joined(separator: " AND ")
  }

  /// True when `row` has the key of a note.
  private func isNoted(_ row: (FieldSchema) -> String, _ comparison: String) -> String {
    source.keyFields.enumerated().map { "\(row($1)) \(comparison) \(notes).k\($0)" }
      .joined(separator: " AND ")
  }

  // Rejecting

  /// True for notes of records that are no longer stored as noted, or whose key NEW has taken.
  ///
  /// - Parameter condition: When NEW may have taken a key; nil for always.
  private func isGone(replacedWhen condition: String?) -> String {
    let taken = (condition.map { "(\($0)) AND " } ?? "") + isNoted(new, "=")
    return """
      ((\(taken))
        OR NOT EXISTS (SELECT 1 FROM \(table) WHERE \(isStoredAsNoted)))
      """
  }

  private func refusing(gone: String) -> [String] {
    let cell: RuleSQL.Cell = { field in
      SQLText(sql: "\(notes).v\(noted.firstIndex(of: field) ?? 0)")
    }
    let broken: String
    let refusal: String
    switch rule.rule.demand {
    case .reference:
      let referring = sql.referring(to: cell, selecting: "1")
      broken = "EXISTS (\(referring?.sql ?? "SELECT 1 WHERE 0"))"
      refusal = rule.rule.refusalOfReferenced
    case .sumAtMost:
      broken = sql.sumWithout(cell)?.sql ?? "0"
      refusal = rule.rule.refusal
    default:
      broken = differs { cell($0).sql }
      refusal = rule.rule.refusal
    }
    return [
      """
        SELECT RAISE(ABORT, \(SQLText.literal(refusal)))
        FROM \(notes)
        WHERE level = 0 AND \(isOfNew)
        AND \(gone)
        AND \(broken);
        DELETE FROM \(notes) WHERE level = 0 AND \(isOfNew);
        UPDATE \(notes) SET level = level - 1
        WHERE \(isOfNew);
      """
    ]
  }
}

extension Rule {
  /// Whether a record can break the rule by being evicted.
  package var asksEvicted: Bool {
    guard severity == .error else { return false }
    switch demand {
    case .immutable, .sumAtMost, .reference: return true
    default: return false
    }
  }
}
