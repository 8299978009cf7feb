import ModelStore

/// The SQL that creates the tables, views, indexes and triggers of a file, without what the store
/// itself keeps there.
struct SchemaScript {
  let text: String

  /// - Parameter models: Their tables and indexes alone; nil for everything in the file.
  init(of opened: OpenedStore, models: [ModelSchema]?) throws {
    let snapshot = try opened.store.schemaSnapshot()
    guard let models else {
      text = snapshot.script
      return
    }
    let tables = Set(
      models.flatMap { [$0.table] + $0.lists.map(\.slotTable) }.map(\.asciiFolded))
    text = snapshot.script { object in
      tables.contains(object.table.asciiFolded) && object.type != "trigger"
    }
  }
}
