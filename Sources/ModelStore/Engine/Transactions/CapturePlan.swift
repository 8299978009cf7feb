/// The tables that one transaction captures. It is made before the transaction begins, from the
/// needs of observers and validators.
///
/// A class, because every transaction holds it and most use the same one.
final class CapturePlan {
  /// Returns whether a row that is about to change may concern an observer. "No" is certain.
  typealias Concern = @Sendable (TrackedTable, borrowing PreupdateRow) -> Bool

  let tables: [TrackedTable]
  /// The names of the tables' models.
  let models: Set<String>
  /// The initial state of each transaction.
  let tracker: OriginTracker
  let causes: CauseTracker
  let hooked: HookedTables
  /// Selects the rows that are captured; nil captures all.
  var concerns: Concern?

  /// Creates a plan.
  ///
  /// - Parameters:
  ///   - triggers: All triggers that may change a model.
  ///   - sources: The tables whose changes may fire one of them.
  init(
    tables: [TrackedTable], triggers: [OriginTracker.TriggerFacts], sources: [TrackedTable]
  ) {
    self.tables = tables
    models = Set(tables.map(\.schema.name))
    tracker = OriginTracker(triggers: triggers)
    causes = CauseTracker(tables: sources)
    hooked = HookedTables(names: tables.map(\.schema.table))
  }
}

/// The facts about a file that capturing needs: the columns of its tables, and the tables that its
/// triggers write.
struct CaptureFacts: Sendable {
  private let triggers: [OriginTracker.TriggerFacts]
  private let columns: [ExactText: [TrackedTable.ColumnFacts]]

  /// Creates the facts of a file without tables.
  init() {
    triggers = []
    columns = [:]
  }

  /// Creates the facts from a catalog.
  ///
  /// - Parameter writing: The file's tables, with those of their triggers that may write to a
  ///   model.
  init(_ writing: [(table: TableFacts, triggers: [TriggerFacts])]) {
    triggers = writing.flatMap { _, triggers in
      triggers.map { trigger in
        OriginTracker.TriggerFacts(
          name: trigger.name, binding: BindingTriggers.bindingName(ofTrigger: trigger.name),
          writes: trigger.writtenTables)
      }
    }
    columns = Dictionary(
      uniqueKeysWithValues: writing.map { table, _ in
        (
          ExactText(table.name.asciiFolded),
          table.columns.map { column in
            TrackedTable.ColumnFacts(
              name: column.name, hasDefault: column.defaultSQL != nil,
              stored: StoredColumn.Facts(
                declaredType: column.declaredType, isVirtual: column.generated == .virtual,
                keyPosition: column.keyPosition))
          }
        )
      })
  }

  /// Reads the facts with two statements, independent of the file's size.
  ///
  /// - Throws: ``SQLiteError``, also for a virtual table whose module is missing. Use the catalog's
  ///   facts then.
  init(reading connection: Connection) throws {
    let tables = try connection.rows(
      """
      SELECT l.name, c.name, c.type, c.hidden = 2, c.dflt_value IS NOT NULL, c.pk
      FROM pragma_table_list AS l
      JOIN pragma_table_xinfo(l.name, 'main') AS c
      WHERE l.schema = 'main' AND l.type <> 'view' AND c.hidden <> 1
      ORDER BY l.name, c.cid
      """
    ) { row in
      (
        table: ExactText(try row.text(at: 0).asciiFolded),
        column: TrackedTable.ColumnFacts(
          name: try row.text(at: 1), hasDefault: try row.integer(at: 4) != 0,
          stored: StoredColumn.Facts(
            declaredType: try row.text(at: 2), isVirtual: try row.integer(at: 3) != 0,
            keyPosition: Int(try row.integer(at: 5))))
      )
    }
    columns = Dictionary(grouping: tables, by: \.table).mapValues { $0.map(\.column) }
    triggers = try FileFacts.writingTriggers(on: connection).map { trigger in
      OriginTracker.TriggerFacts(
        name: trigger.name, binding: BindingTriggers.bindingName(ofTrigger: trigger.name),
        writes: trigger.writtenTables)
    }
  }

  /// Returns the facts of the table of `schema`.
  ///
  /// - Parameter fields: The wanted fields; nil means all.
  /// - Returns: nil if the file has no such table.
  func table(of schema: ModelSchema, wanting fields: Set<Int>?) -> TrackedTable? {
    columns[ExactText(schema.table.asciiFolded)].map {
      TrackedTable(schema: schema, columns: $0, wanted: fields)
    }
  }

  /// Returns the plan for the wanted fields.
  ///
  /// - Parameter interests: The wanted fields by model; nil means all fields.
  /// - Returns: nil if nothing has to be captured.
  func plan(of models: [ModelSchema], wanting interests: [String: Set<Int>?]) -> CapturePlan? {
    let tables = models.compactMap { schema -> TrackedTable? in
      guard schema.kind == .table, let fields = interests[schema.name] else { return nil }
      return table(of: schema, wanting: fields)
    }
    guard !tables.isEmpty else { return nil }
    let sources = triggers.isEmpty ? [] : models.filter { $0.kind == .table }
    return CapturePlan(
      tables: tables, triggers: triggers,
      sources: sources.compactMap { table(of: $0, wanting: nil) })
  }

  /// Returns the plan for every field of all `models`.
  func plan(ofAll models: [ModelSchema]) -> CapturePlan? {
    plan(
      of: models,
      wanting: Dictionary(uniqueKeysWithValues: models.map { ($0.name, Set<Int>?.none) }))
  }
}
