/// The triggers that enter one model's changes in the change journal, for every writer: built-in
/// SQL only, since a trigger that calls a function another program does not have would make that
/// program's writes fail.
///
/// REPLACE deletes what it evicts without a delete trigger where `recursive_triggers` is off, as it
/// is in other programs: <https://sqlite.org/lang_conflict.html>. So what an insertion or update
/// may evict is noted before it, and entered as deleted after it, unless the record is still there.
///
/// Statements may run inside one another, where a reference or another trigger acts. Whichever
/// comes to its end first enters what is gone by then and leaves the other notes. Those of a
/// statement that evicted nothing do no harm, since their records are there; the oldest go when new
/// ones come.
///
/// Not foreseen are conflicts with an index over an expression and what else
/// ``TableFacts/evictsUnforeseen`` knows; by a rowid that an UPDATE sets by that name; with a
/// record that a BEFORE trigger of somebody else makes meanwhile; and what a reference changes of
/// the very record that a statement is changing. The fold notices where entries do not lead on.
struct JournalTriggers: Hashable, Sendable {
  let number: Int64
  let layout: JournalLayout
  let triggers: [SchemaObject]

  /// - Parameter event: Without an underscore, so that no two models share a trigger's name.
  fileprivate static func name(of event: String, in model: String) -> String {
    "\(SchemaObject.Owner.journalPrefix)\(model)_\(event)"
  }

  /// - Parameter facts: The model's table as the file has it.
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
  /// The columns that decide about generated ones of ``uniqueSets``.
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
    // SQLite runs those first that were made last, and they are made by name: "replaced" and
    // "vacated" enter what was evicted before "insert" and "update" enter what took its place.
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
    // A table that somebody made anew may have lost its key.
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

  /// What the rows of a whole record hold, part by part.
  private func imageRows(_ kind: JournalCode.Kind, _ row: String) -> [[String]] {
    layout.imageParts.enumerated().map { part, places in
      ["\(number)", "\(JournalCode.number(kind, part: part))"]
        + (keys + others[places]).map { value($0, of: row) }
    }
  }

  /// Enters a whole record.
  private func images(_ kind: JournalCode.Kind, _ row: String) -> [String] {
    imageRows(kind, row).map { values in
      """
        INSERT INTO _ms_journal (layout, entry, \(columns(values.count - 2)))
        VALUES (\(values.joined(separator: ", ")));
      """
    }
  }

  /// Enters the fields that an update changed.
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
      // Part 0 begins an entry, so it is there even when nothing of it changed.
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

  /// Each finds the records, other than `row`, that may have to go for NEW.
  private func conflicts(except row: String?) -> [String] {
    var conflicts = uniqueSets.map { $0.conflict(in: table) }
    // Only an insertion is watched for a rowid that was given: no UPDATE OF can name it.
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

  /// Notes the records that may have to go as they are now, the rows of each behind one another.
  private func noting(_ conflicts: [String]) -> [String] {
    let condition = conflicts.map { "(\($0))" }.joined(separator: " OR ")
    let rows = imageRows(.delete, table)
    let width = rows[0].count
    let selects = rows.map { values in
      // All parts are as wide as the first, which is full where there are others.
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
    // The newest may be another statement's, which has not come to its end.
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

  /// A column of a note, whatever the table's columns are called.
  private static func noted(_ index: Int) -> String { "_ms_journal_evicted.c\(index)" }

  /// Enters those of the noted records that are gone: their keys are nobody's now, or `row`'s.
  private func entering(evictedBy row: String?) -> [String] {
    let width = imageRows(.delete, table)[0].count - 2
    let present = keys.enumerated().map { index, field in
      "\(value(field, of: table)) IS \(Self.noted(index))"
    }
    var gone = "NOT EXISTS (SELECT 1 FROM \(table) WHERE \(present.joined(separator: " AND ")))"
    if let row {
      let taken = keys.enumerated().map { index, field in
        // With NEW on the left, its column's collation decides, as it did for the conflict.
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

  /// Takes back the note about `row`, which a trigger has seen going.
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
    // A record comes into a partial index also by what its condition asks.
    let names = Set(
      uniqueSets.flatMap { $0.columns.map(\.name) + ($0.condition?.columns ?? []) }
        .map(\.asciiFolded))
    let fields = schema.fields.filter { names.contains($0.column.asciiFolded) }
    // The model may leave out columns of the table.
    let areKnown =
      fields.count == names.count && !uniqueSets.contains { $0.rows == .unknown }
    return areKnown ? .update(of: fields) : .anyUpdate
  }
}
