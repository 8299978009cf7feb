/// Notes which source records REPLACE is about to evict, for what it does not tell afterwards.
///
/// While `recursive_triggers` is off, as in other programs, REPLACE deletes the records in its way
/// without a delete trigger: <https://sqlite.org/lang_conflict.html>. A BEFORE trigger sees them;
/// it does not know whether the statement will replace, ignore or fail. So it notes what the
/// records mean to the binding, and the AFTER trigger, which fires only when nothing is in the way
/// any more, looks which of them are gone. A delete trigger that did fire takes its note back.
/// What is in the way is asked by ``UniqueSets``, and more may be noted than goes.
struct BindingEvictions {
  package let table: SchemaObject
  private let source: ModelSchema
  /// Fields that find the binding's targets.
  private let link: [FieldSchema]
  /// More about the record, each by its column's name; the row's name stands before its columns.
  private let others: [(name: String, value: (String) -> String)]
  /// True for rows that mean something to the binding.
  private let isRelevant: (String) -> String
  /// What makes records collide.
  private let sets: [UniqueSet]

  private var name: String { SQLText.quoted(table.name) }

  /// For an aggregate: any record that goes takes its part along.
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
      // Links are compared with what records hold, so they must compare as those do.
      return "m\(index)\(type.isEmpty ? "" : " " + type)"
        + " COLLATE \(SQLText.quoted(field.collation.name))"
    }
    table = make.table(.evicted, key: key, linked + others.map { "\($0.name) INTEGER" })
  }

  /// For a copy: the record that comes stands for one that it evicts by the fields that find it.
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

  /// The notes of what is gone.
  struct Gone {
    /// True for them, over the table of notes.
    package let condition: String
    /// Selects the fields that find targets.
    package let links: String
  }

  /// - Parameter consuming: What is to be done about the notes of what is gone.
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

  /// The new record's value. REPLACE puts the default in the place of NULL where a column takes
  /// none, and BEFORE triggers still see NULL. Not where some program cannot evaluate the default.
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

  /// True for notes of records that are no more, or whose key another record has now.
  private func gone(orReplacedWhen condition: String) -> String {
    "(NOT EXISTS (\(storedRecords)) OR (\(condition) AND \(isNoted("NEW"))))"
  }

  /// Selects the records that notes at hand are of.
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
