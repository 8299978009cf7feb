/// A record of the source records that REPLACE is about to evict, because SQLite does not report
/// them afterwards.
///
/// If `recursive_triggers` is off, as in other programs, REPLACE deletes conflicting records
/// without a delete trigger: <https://sqlite.org/lang_conflict.html>. A BEFORE trigger sees those
/// records, but cannot know whether the statement will replace, ignore or fail. So it notes what
/// the records mean to the binding. The AFTER trigger fires only once no conflict is left, and
/// checks which of the noted records are gone. If a delete trigger did fire, it removes its note.
///
/// ``UniqueSets`` determines the conflicts. More records may be noted than are evicted.
struct BindingEvictions {
  package let table: SchemaObject
  private let source: ModelSchema
  /// The fields by which the binding finds its targets.
  private let link: [FieldSchema]
  /// More values of the record, each with its column's name. The closure takes the name of the row.
  private let others: [(name: String, value: (String) -> String)]
  /// A condition that is true for rows that matter to the binding.
  private let isRelevant: (String) -> String
  /// The sets of fields in which records can collide.
  private let sets: [UniqueSet]

  private var name: String { SQLText.quoted(table.name) }

  /// Creates the notes for an aggregate: a record that is removed takes its part with it.
  init(
    source: ModelSchema, link: [FieldSchema],
    others: [(name: String, value: (String) -> String)] = [],
    isRelevant: @escaping (String) -> String, sets: [UniqueSet], _ make: BindingObjects
  ) {
    self.source = source
    self.link = link
    self.others = others
    self.isRelevant = isRelevant
    self.sets = sets
    let key = source.keyFields.enumerated().map { (name: "k\($0)", field: Optional($1)) }
    let linked = link.enumerated().map { index, field in
      let type = field.affinity.columnType
      // Links are compared with stored values, so they must compare in the same way.
      return "m\(index)\(type.isEmpty ? "" : " " + type)"
        + " COLLATE \(SQLText.quoted(field.collation.name))"
    }
    table = make.table(.evicted, key: key, linked + others.map { "\($0.name) INTEGER" })
  }

  /// Creates the notes for a copy. The new record replaces an evicted one in the fields that find
  /// it.
  ///
  /// - Returns: nil when the source has no other unique fields.
  init?(_ lookup: ResolvedBinding.Lookup, _ uniqueSets: UniqueSets, _ make: BindingObjects) {
    let link = lookup.link.pairs.map(\.source)
    let found = Set((link + lookup.link.place.map(\.field)).map(\.name))
    let sets = uniqueSets.sets(of: lookup.source).filter {
      $0.isCollated || Set($0.fields.map(\.name)) != found
    }
    guard !sets.isEmpty, lookup.absence != .unchanged else { return nil }
    self.init(
      source: lookup.source, link: link,
      isRelevant: { row in
        lookup.link.place.isEmpty
          ? "1"
          : lookup.link.place(of: row).joined(separator: " AND ")
      }, sets: sets, make)
  }

  /// The notes of evicted records.
  struct Gone {
    /// True for these notes, over the table of notes.
    package let condition: String
    /// Selects the fields that find targets.
    package let links: String
  }

  /// - Parameter consuming: Returns the statements to run for the notes of evicted records.
  package func triggers(
    _ make: BindingObjects, consuming: (Gone) -> [String]
  ) -> [SchemaObject] {
    let alias = BindingSQL.alias
    let collides = sets.map { set in
      "(\(set.isShared(with: alias, Self.replacing)))"
    }
    .joined(separator: " OR ")
    let others = "FROM \(SQLText.quoted(source.table)) AS \(alias) WHERE (\(collides))"
    let notItself = " AND NOT (\(isKey(of: alias, "OLD")))"
    let columns = source.keyFields + link
    let noted =
      columns.map { RowColumn(alias, $0).sql }
      + self.others.map { $0.value(alias) }
    let stored = storedRecords
    func note(_ rows: String) -> [String] {
      [
        """
          DELETE FROM \(name)
          WHERE EXISTS (\(stored));
          INSERT INTO \(name)
          SELECT \(noted.joined(separator: ", "))
          \(rows) AND \(isRelevant(alias));
        """
      ]
    }
    let unique = sets.flatMap(\.fields).withoutRepeats
    let pending = "EXISTS (SELECT 1 FROM \(name))"
    let rekeyed = TriggerMoment.anyChanged(source.keyFields)
    return [
      make.trigger(
        .noteInsert, .before(.insert), on: source, when: "EXISTS (SELECT 1 \(others))",
        note(others)),
      make.trigger(
        .noteUpdate, .before(.update(of: unique)), on: source,
        when: "(\(TriggerMoment.anyChanged(unique))) AND EXISTS (SELECT 1 \(others)\(notItself))",
        TriggerMoment.computing(
          from: unique.contains { $0.generated != nil } ? source.writtenColumns : [])
          + note(others + notItself)),
      make.trigger(
        .evictedInsert, .after(.insert), on: source, when: pending,
        consume(gone(orReplacedWhen: "1"), consuming)),
      make.trigger(
        .evictedUpdate, .after(.update(of: unique)), on: source, when: pending,
        ["  DELETE FROM \(name)\n  WHERE (\(rekeyed)) AND \(isNoted("OLD"));"]
          + consume(gone(orReplacedWhen: "(\(rekeyed))"), consuming)),
      make.trigger(
        .evictedDelete, .after(.delete), on: source, when: pending,
        ["  DELETE FROM \(name)\n  WHERE \(isNoted("OLD"));"]),
    ]
  }

  /// The new record's value. For a NOT NULL column, REPLACE stores the default instead of NULL,
  /// while BEFORE triggers still see NULL. Not used for a default that some program cannot
  /// evaluate.
  private static func replacing(_ field: FieldSchema) -> String {
    let value = RowColumn("NEW", field).sql
    guard !field.isOptional, let standard = field.defaultSQL.map({ SQLDefault($0) }),
      standard.isKnownEverywhere
    else { return value }
    return "ifnull(\(value), \(standard.expression))"
  }

  private func consume(_ gone: String, _ consuming: (Gone) -> [String]) -> [String] {
    let columns = link.isEmpty ? "1" : link.indices.map { "m\($0)" }.joined(separator: ", ")
    let links = "SELECT \(columns) FROM \(name) WHERE \(gone)"
    return consuming(Gone(condition: gone, links: links))
      + ["  DELETE FROM \(name)\n  WHERE \(gone);"]
  }

  /// True for notes of deleted records, and of keys that now belong to another record.
  private func gone(orReplacedWhen condition: String) -> String {
    "(NOT EXISTS (\(storedRecords)) OR (\(condition) AND \(isNoted("NEW"))))"
  }

  /// Selects the records that the current notes are about.
  private var storedRecords: String {
    let alias = BindingSQL.alias
    return """
      SELECT 1 FROM \(SQLText.quoted(source.table)) AS \(alias) WHERE \(isNoted(alias))
      """
  }

  private func isNoted(_ row: String) -> String {
    source.keyFields.enumerated().map { index, field in
      "\(RowColumn(row, field)) IS \(name).k\(index)"
    }
    .joined(separator: " AND ")
  }

  private func isKey(of row: String, _ other: String) -> String {
    RowColumn.matching(source.keyFields, of: row, "IS", source.keyFields, of: other)
  }
}

extension ModelSchema {
  /// The columns that are not generated.
  fileprivate var writtenColumns: [String] {
    fields.filter { $0.generated == nil }.map(\.column)
  }
}
