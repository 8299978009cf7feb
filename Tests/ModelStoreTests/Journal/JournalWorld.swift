import Testing

@testable import ModelStore

/// A store whose tables another program made, with a change journal, and that program.
final class JournalWorld {
  let directory: TemporaryDirectory
  let store: Store
  /// Another program, as SQLite is without any settings.
  let other: PlainDatabase
  let errors = Recorder<StoreError>()

  init(_ tables: String, detail: JournalDetail? = .full) throws {
    directory = try TemporaryDirectory()
    let path = directory.file("journal.store")
    let database = try PlainDatabase(path)
    try database.execute("PRAGMA journal_mode = WAL;" + tables)
    // SQLite's lock is not fair: others that write without a pause can keep it for long.
    let configuration = StoreConfiguration(busyTimeout: .seconds(600))
    store = try Store(
      at: path, configuration: configuration, onError: { [errors] in errors.add($0) })
    try store.adopt()
    if let detail { try store.changeJournal.enable(detail) }
    other = try PlainDatabase(path)
  }

  /// Everything in the journal behind `position`, one line for each entry.
  func entries(after position: JournalPosition = .start) throws -> [String] {
    try store.engine.connections.readers.sync { connection in
      let layouts = try #require(try JournalLayouts(reading: connection))
      var lines: [String] = []
      try JournalReader(connection: connection, layouts: layouts)
        .forEachEntry(after: position.rawValue) { entry in
          lines.append(Self.line(entry, layouts))
          return true
        }
      return lines
    }
  }

  /// The entries that `statements` of the other program make.
  func entries(of statements: String) throws -> [String] {
    let position = try store.changeJournal.position()
    try other.execute(statements)
    return try entries(after: position)
  }

  private static func line(_ entry: JournalEntry, _ layouts: JournalLayouts) -> String {
    switch entry.content {
    case .record(let record):
      let layout = layouts.all[record.layout]
      let key = record.key.map(\.description).joined(separator: ",")
      let start = "\(record.kind) \(layout?.model ?? "?") \(key)"
      let changes = record.changes.map {
        "\(layout?.others[$0.place].name ?? "?"): \($0.old) → \($0.new)"
      }
      let values = record.image.map(\.description) + changes
      return values.isEmpty ? start : "\(start) (\(values.joined(separator: ", ")))"
    case .transaction(let mark):
      let signature = [mark.signature.author, mark.signature.tag].compactMap(\.self)
      return (["transaction of \(entry.position - mark.first)"] + signature).joined(separator: " ")
    case .started(let layout), .began(let layout):
      return "started \(layouts.all[layout]?.model ?? "?")"
    case .stopped(let layout): return "stopped \(layouts.all[layout]?.model ?? "?")"
    }
  }

  /// The records of `model` as they follow from the entries of the journal, applied one after the
  /// other.
  func replayed(_ model: String) throws -> [[SQLValue]: [SQLValue]] {
    try Self.replayed(model, in: store)
  }

  static func replayed(_ model: String, in store: Store) throws -> [[SQLValue]: [SQLValue]] {
    try store.engine.connections.readers.sync { connection in
      let layouts = try #require(try JournalLayouts(reading: connection))
      var records: [[SQLValue]: [SQLValue]] = [:]
      try JournalReader(connection: connection, layouts: layouts).forEachEntry(after: 0) { entry in
        guard case .record(let record) = entry.content,
          layouts.all[record.layout]?.model == model
        else { return true }
        switch record.kind {
        case .insert:
          #expect(records.updateValue(record.image, forKey: record.key) == nil, "\(record)")
        case .delete:
          #expect(records.removeValue(forKey: record.key) == record.image, "\(record)")
        case .update:
          for change in record.changes {
            #expect(records[record.key]?[change.place] == change.old, "\(record)")
            records[record.key]?[change.place] = change.new
          }
        }
        return true
      }
      return records
    }
  }

  /// The records of `model` as they are.
  func stored(_ model: String) throws -> [[SQLValue]: [SQLValue]] {
    try Self.stored(model, in: store, by: other)
  }

  static func stored(
    _ model: String, in store: Store, by other: PlainDatabase
  ) throws -> [[SQLValue]: [SQLValue]] {
    let schema = try store.schema.model(named: model)
    let names = schema.fields.map { SQLText.quoted($0.column) }.joined(separator: ", ")
    let rows = try other.rows("SELECT \(names) FROM \(SQLText.quoted(schema.table))")
    let keys = schema.keyIndices
    return Dictionary(
      uniqueKeysWithValues: rows.map { row in
        (
          keys.map { row[$0] },
          schema.fields.indices.filter { !keys.contains($0) }.map { row[$0] }
        )
      })
  }
}
