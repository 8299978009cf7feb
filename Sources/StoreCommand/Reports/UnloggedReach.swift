import ModelStore

/// The effects of changes, through references, on tables that the journal does not record in full,
/// such as a table that is not a model. No undo restores them.
struct UnloggedReach {
  let store: Store

  /// The names of the tables in which foreign keys may have reacted to one of `changes`.
  ///
  /// - Parameter removal: The operation that removes a record; an insertion if it is taken back.
  /// - Complexity: Reads the references of every table for each model with removed or updated
  ///   records.
  func tables(behind changes: [ChangeLine], removal: RecordChange.Operation) throws -> [String] {
    let models = Set(
      changes.filter { $0.operation == removal || $0.operation == .update }.map(\.model))
    guard !models.isEmpty else { return [] }
    let entered = try store.changeJournal.details()
    let logged = Self.names(
      store.schema.models.filter { entered[$0.name] == .full }.map(\.table))
    return try store.read { transaction in
      var tables: Set<String> = []
      for model in store.schema.models where models.contains(model.name) {
        let here = changes.filter { $0.model == model.name }
        let isRemoved = here.contains { $0.operation == removal }
        // A change of key is a removal and an insertion.
        let isRekeyed = isRemoved && here.contains { ![removal, .update].contains($0.operation) }
        let columns = here.filter { $0.operation == .update }.flatMap(\.fields)
          .compactMap { model.field(named: $0.name)?.column }
        // References that cascade an update also cascade its reversal.
        let rows = try transaction.rows(
          """
          SELECT DISTINCT t.name
          FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS k
          WHERE t.type = 'table' AND t.name COLLATE NOCASE NOT IN (\(logged))
            AND k."table" = \(model.table) COLLATE NOCASE
            AND (
              \(isRemoved ? 1 : 0) AND k.on_delete NOT IN ('NO ACTION', 'RESTRICT')
              OR k.on_update IN ('SET NULL', 'SET DEFAULT') AND (
                \(isRekeyed ? 1 : 0) OR k."to" COLLATE NOCASE IN (\(Self.names(columns)))
              )
            )
          """)
        for case .text(let name)? in rows.map(\.values.first) { tables.insert(name) }
      }
      return tables.sorted()
    }
  }

  private static func names(_ names: [String]) -> SQLText {
    // No table or column is called so.
    names.reduce("''") { "\($0), \($1)" }
  }
}
