/// The triggers that record one model's changes in the change journal, for every writer.
///
/// They use built-in SQL only. If a trigger called a function that another program lacks, that
/// program's writes would fail.
///
/// REPLACE deletes conflicting records. With `recursive_triggers` off, as in other programs, it
/// fires no delete triggers for them: <https://sqlite.org/lang_conflict.html>. So a trigger notes
/// the records that an insertion or update may evict before it runs. A second trigger runs
/// afterwards and records the missing ones as deleted.
///
/// Statements may run inside other statements, through foreign keys or other triggers. The
/// statement that ends first records what is missing by then, and keeps the other notes. Notes of a
/// statement that evicted nothing do no harm, because their records still exist. New notes replace
/// the oldest ones.
///
/// The triggers do not handle these conflicts:
///
/// - with an index over an expression, and the other cases of ``TableFacts/evictsUnforeseen``;
/// - by a rowid that an UPDATE sets by that name;
/// - with a record that another program's BEFORE trigger creates in between;
/// - with a change that a foreign key makes to the record that the statement changes.
///
/// ``JournalFold`` detects entries that do not continue the earlier ones.
struct JournalTriggers: Hashable, Sendable {
  let number: Int64
  let layout: JournalLayout
  let triggers: [SchemaObject]

  /// - Parameter event: Has no underscore, so that two models never share a trigger name.
  fileprivate static func name(of event: String, in model: String) -> String {
    "\(SchemaObject.Owner.journalPrefix)\(model)_\(event)"
  }

  /// Whether the trigger called `name` only notes records that may be evicted, or records the
  /// evicted ones.
  ///
  /// A connection with `recursive_triggers` needs none of them: the delete trigger runs for evicted
  /// records too. They would be a quarter of the time of an insertion.
  static func isForEvictions(_ name: String) -> Bool {
    name.hasPrefix(SchemaObject.Owner.journalPrefix)
      && ["_preinsert", "_preupdate", "_replaced", "_vacated"].contains { name.hasSuffix($0) }
  }

  /// - Parameter facts: The facts of the model's table in the file.
  init(number: Int64, layout: JournalLayout, schema: ModelSchema, facts: TableFacts) {
    self.number = number
    self.layout = layout
    triggers =
      JournalSQL(number: number, layout: layout, schema: schema, facts: facts).triggers
  }
}

/// The SQL of one model's triggers.
private struct JournalSQL {
  let number: Int64
  let layout: JournalLayout
  let schema: ModelSchema
  let uniqueSets: [EvictingSet]
  /// The columns from which the generated columns of ``uniqueSets`` are computed.
  let computedFrom: [String]
  let rowID: String?
  let table: String
  let keys: [FieldSchema]
  let others: [FieldSchema]

  init(number: Int64, layout: JournalLayout, schema: ModelSchema, facts: TableFacts) {
    self.number = number
    self.layout = layout
    self.schema = schema
    uniqueSets = EvictingSet.all(of: facts)
    computedFrom = EvictingSet.columnsComputing(uniqueSets, in: facts)
    rowID = facts.hiddenRowIDName
    table = SQLText.quoted(schema.table)
    keys = schema.keyIndices.map { schema.fields[$0] }
    others = schema.fields.filter { !schema.key.contains($0.name) }
  }

  var triggers: [SchemaObject] {
    let insert = images(.insert, "NEW")
    let delete = images(.delete, "OLD")
    // SQLite runs the newest triggers first, and triggers are created in name order. So "replaced"
    // and "vacated" record evicted records before "insert" and "update" record the new ones.
    var all = [
      trigger("insert", .after(.insert), insert),
      trigger("replaced", .after(.insert), when: hasNoted, entering(evictedBy: "NEW")),
      trigger("delete", .after(.delete), delete + [forgetting("OLD")]),
      trigger(
        "rekey", .after(.update(of: keys)), when: TriggerMoment.anyChanged(keys),
        [forgetting("OLD")] + entering(evictedBy: "NEW") + delete + insert),
    ]
    let inserted = conflicts(except: nil)
    if !inserted.isEmpty {
      all.append(
        trigger("preinsert", .before(.insert), when: exists(inserted), noting(inserted)))
    }
    if !others.isEmpty {
      all.append(
        trigger(
          "update", .after(.anyUpdate),
          when: "NOT (\(TriggerMoment.anyChanged(keys))) AND (\(TriggerMoment.anyChanged(others)))",
          updates))
    }
    let updated = conflicts(except: "OLD")
    // A table that another program recreated may have lost its key.
    if !updated.isEmpty {
      all += [
        trigger(
          "preupdate", .before(updatesOfUniqueSets), when: exists(updated),
          TriggerMoment.computing(from: computedFrom) + noting(updated)),
        trigger(
          "vacated", .after(updatesOfUniqueSets),
          when: """
            NOT (\(TriggerMoment.anyChanged(keys)))
              AND \(hasNoted)
            """,
          entering(evictedBy: nil)),
      ]
    }
    return all.sorted { $0.name < $1.name }
  }

  private func trigger(
    _ event: String, _ moment: TriggerSQL.Moment, when condition: String? = nil, _ body: [String]
  ) -> SchemaObject {
    TriggerSQL(
      JournalTriggers.name(of: event, in: schema.name), moment, on: schema.table,
      when: condition, body
    ).object(of: .journal(model: schema.name))
  }

  private func columns(_ count: Int) -> String {
    (0..<count).map { "c\($0)" }.joined(separator: ", ")
  }

  private func value(_ field: FieldSchema, of row: String) -> String {
    RowColumn(row, field).sql
  }

  /// The rows for a whole record, part by part.
  private func imageRows(_ kind: JournalCode.Kind, _ row: String) -> [[String]] {
    layout.imageParts.enumerated().map { part, places in
      ["\(number)", "\(JournalCode.number(kind, part: part))"]
        + (keys + others[places]).map { value($0, of: row) }
    }
  }

  /// Records a whole record.
  private func images(_ kind: JournalCode.Kind, _ row: String) -> [String] {
    imageRows(kind, row).map { values in
      """
        INSERT INTO _ms_journal (layout, entry, \(columns(values.count - 2)))
        VALUES (\(values.joined(separator: ", ")));
      """
    }
  }

  /// Records the fields that an update changed.
  private var updates: [String] {
    layout.updateParts.enumerated().map { part, places in
      let fields = others[places]
      let changed = fields.map { TriggerMoment.anyChanged([$0]) }
      let mask = zip(changed.indices, changed).map { index, condition in
        " + (\(condition)) * \(JournalCode.unit(ofField: index))"
      }
      let values =
        keys.map { value($0, of: "NEW") }
        + zip(fields, changed).flatMap { field, condition in
          ["OLD", "NEW"].map { "CASE WHEN \(condition) THEN \(value(field, of: $0)) END" }
        }
      // Part 0 begins an entry, so it is always written, even without changes in it.
      let condition =
        part == 0 ? "" : "\n  WHERE \(changed.map { "(\($0))" }.joined(separator: " OR "))"
      return """
          INSERT INTO _ms_journal (layout, entry, \(columns(values.count)))
          SELECT \(number), \(JournalCode.number(.update, part: part))\(mask.joined()), \(values.joined(separator: ", "))\(condition);
        """
    }
  }

  // Evictions

  private var hasNoted: String {
    "EXISTS (SELECT 1 FROM _ms_journal_evicted WHERE layout = \(number))"
  }

  /// Conditions that find the records, other than `row`, which NEW may evict.
  private func conflicts(except row: String?) -> [String] {
    var conflicts = uniqueSets.map { $0.conflict(in: table) }
    // An explicit rowid is checked for insertions only, because UPDATE OF cannot name it.
    if let rowID, row == nil { conflicts.append("\(table).\(rowID) = NEW.\(rowID)") }
    return conflicts.map { ([$0] + (row.map { [isNot($0)] } ?? [])).joined(separator: " AND ") }
  }

  private func exists(_ conflicts: [String]) -> String {
    conflicts.map { "EXISTS (SELECT 1 FROM \(table) WHERE \($0))" }.joined(separator: "\n  OR ")
  }

  private func isNot(_ row: String) -> String {
    let same = keys.map { field in
      "\(value(field, of: table)) COLLATE BINARY IS \(value(field, of: row))"
    }
    return "NOT (\(same.joined(separator: " AND ")))"
  }

  /// Notes the current values of the records that may be evicted. The rows of a record are
  /// consecutive.
  private func noting(_ conflicts: [String]) -> [String] {
    let condition = conflicts.map { "(\($0))" }.joined(separator: " OR ")
    let rows = imageRows(.delete, table)
    let width = rows[0].count
    let selects = rows.map { values in
      // All parts are as wide as the first part, which is full if there are several.
      let padded = values + Array(repeating: "NULL", count: width - values.count)
      return """
          SELECT \(padded.joined(separator: ", "))
          FROM \(table)
          WHERE \(condition)
        """
    }
    let order = (0..<keys.count).map { "\($0 + 3)" } + ["2"]
    let same = keys.enumerated().map { index, field in
      "\(value(field, of: table)) COLLATE BINARY IS \(Self.noted(index))"
    }
    // The newest notes may belong to another statement that has not ended.
    let oldest = """
      (SELECT rowid FROM _ms_journal_evicted WHERE layout = \(number)
          ORDER BY rowid DESC LIMIT 1 OFFSET \(4 * conflicts.count * rows.count))
      """
    return [
      """
        DELETE FROM _ms_journal_evicted
        WHERE layout = \(number)
        AND (
          rowid <= \(oldest)
          OR EXISTS (
            SELECT 1 FROM \(table) WHERE (\(condition)) AND \(same.joined(separator: " AND "))
          )
        );
      """,
      """
        INSERT INTO _ms_journal_evicted (layout, entry, \(columns(width - 2)))
      \(selects.joined(separator: "\n  UNION ALL\n"))
        ORDER BY \(order.joined(separator: ", "));
      """,
    ]
  }

  /// Returns a column of a note, independent of the names of the table's columns.
  private static func noted(_ index: Int) -> String { "_ms_journal_evicted.c\(index)" }

  /// Records the noted records that are missing: no record has their key now, or only `row` has it.
  private func entering(evictedBy row: String?) -> [String] {
    let width = imageRows(.delete, table)[0].count - 2
    let present = keys.enumerated().map { index, field in
      "\(value(field, of: table)) IS \(Self.noted(index))"
    }
    var gone = "NOT EXISTS (SELECT 1 FROM \(table) WHERE \(present.joined(separator: " AND ")))"
    if let row {
      let taken = keys.enumerated().map { index, field in
        // NEW is on the left, so that its column's collation applies, as it did for the conflict.
        "\(value(field, of: row)) = \(Self.noted(index))"
      }
      gone = "((\(taken.joined(separator: " AND "))) OR \(gone))"
    }
    return [
      """
        INSERT INTO _ms_journal (layout, entry, \(columns(width)))
        SELECT layout, entry, \(columns(width))
        FROM _ms_journal_evicted
        WHERE layout = \(number) AND \(gone)
        ORDER BY rowid;
      """,
      "  DELETE FROM _ms_journal_evicted WHERE layout = \(number) AND \(gone);",
    ]
  }

  /// Deletes the note about `row`, after a trigger has seen its deletion.
  private func forgetting(_ row: String) -> String {
    let same = keys.enumerated().map { index, field in
      "c\(index) COLLATE BINARY IS \(value(field, of: row))"
    }
    return """
        DELETE FROM _ms_journal_evicted
        WHERE layout = \(number) AND \(same.joined(separator: " AND "));
      """
  }

  /// The updates that may evict other records.
  private var updatesOfUniqueSets: TriggerSQL.Event {
    // A record may also enter a partial index through the columns of the index's condition.
    let names = Set(
      uniqueSets.flatMap { $0.columns.map(\.name) + ($0.condition?.columns ?? []) }
        .map(\.asciiFolded))
    let fields = schema.fields.filter { names.contains($0.column.asciiFolded) }
    // The model may lack columns of the table.
    let areKnown =
      fields.count == names.count && !uniqueSets.contains { $0.rows == .unknown }
    return areKnown ? .update(of: fields) : .anyUpdate
  }
}
