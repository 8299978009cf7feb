import Foundation
import Synchronization

@testable import ModelStore

/// Members that programs of several versions open.
final class SharedSchemaWorld: Sendable {
  let directory: TemporaryDirectory
  let ledger: MemoryLedger
  let reports = Recorder<StoreError>()
  /// How often a migration in Swift ran.
  let backfills = Atomic(0)

  init(_ ledger: MemoryLedger = MemoryLedger()) throws {
    directory = try TemporaryDirectory()
    self.ledger = ledger
  }

  func path(_ number: Int) -> String { directory.file("\(number).store") }

  static func note(_ version: Int) -> ModelSchema {
    var fields = [
      FieldSchema(name: "id", type: .integer, isRowID: true),
      FieldSchema(name: "text", type: .text),
    ]
    if version > 1 { fields.append(FieldSchema(name: "size", type: .integer, isOptional: true)) }
    if version > 2 { fields.remove(at: 1) }
    return ModelSchema(name: "Note", fields: fields, key: ["id"])
  }

  static let tag = ModelSchema(
    name: "Tag",
    fields: [
      FieldSchema(name: "word", type: .text),
      FieldSchema(
        name: "note", type: .integer, isOptional: true,
        reference: ReferenceSchema(table: "Note", onDelete: .cascade)),
    ], key: ["word"])

  /// Opens a member with the program of a version: 2 has one more field, a migration and a model;
  /// 3 lacks a field.
  func open(
    _ number: Int, version: Int, rebuilds: Bool = true,
    _ schemaChanges: StoreConfiguration.SchemaChanges = .migrate,
    busyTimeout: Duration = .seconds(20)
  ) throws -> Store {
    var configuration = StoreConfiguration(
      busyTimeout: busyTimeout, schemaChanges: schemaChanges, changeJournal: .full)
    var shared = ledger.shared(as: "notes")
    shared.rebuildsMembers = rebuilds
    shared.snapshotByteCountMin = .max
    configuration.ledger = shared
    let backfill = Migration(version: 1, name: "sizes", onFreshFiles: .skip) { [self] tx in
      backfills.add(1, ordering: .relaxed)
      try tx.execute("ALTER TABLE Note ADD COLUMN size INTEGER")
      try tx.execute("UPDATE Note SET size = length(text)")
    }
    return try Store(
      at: path(number),
      declaring: Declarations(
        migrations: version > 1 ? [backfill] : [],
        models: version > 1 ? [Self.note(version), Self.tag] : [Self.note(version)],
        changeJournal: .full),
      configuration: configuration, onError: { [reports] error in reports.add(error) })
  }

  /// Opens a member with a program that declares nothing, such as `storecli`.
  func openUndeclared(_ number: Int, _ configuration: StoreConfiguration) throws -> Store {
    var configuration = configuration
    configuration.ledger = ledger.shared(as: "notes")
    return try Store(
      at: path(number), declaring: Declarations(), configuration: configuration,
      onError: { [reports] error in reports.add(error) })
  }

  func insert(_ id: Int64, _ text: String, in store: Store) throws {
    let schema = try store.schema.model(named: "Note")
    try store.write { tx in
      _ = try tx.insert(["id": .integer(id), "text": .text(text)], into: schema)
    }
  }

  func rows(_ store: Store) throws -> [[SQLValue]] {
    let schema = try store.schema.model(named: "Note")
    return try store.fetch(StoreQuery<DynamicRecord>(schema)).map(\.values)
  }

  /// The names of the files in the directory, without what SQLite keeps beside open ones.
  func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.file("")).sorted()
      .filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
  }

  static let sized: [[SQLValue]] = [
    [.integer(1), .text("one"), .integer(3)], [.integer(2), .text("second"), .integer(6)],
  ]

  /// A world with two open members of version 1 that have two notes.
  static func started(
    _ ledger: MemoryLedger = MemoryLedger()
  ) throws -> (world: SharedSchemaWorld, members: [Store]) {
    let world = try SharedSchemaWorld(ledger)
    let members = try [world.open(0, version: 1), world.open(1, version: 1)]
    try world.insert(1, "one", in: members[0])
    try world.insert(2, "second", in: members[1])
    try members[0].refresh()
    return (world, members)
  }

  /// Changes the catalog of a member as a command does.
  static func addRule(
    _ number: Int, in world: SharedSchemaWorld, _ body: (Store) throws -> Void = { _ in }
  ) throws -> Int {
    try world.ledger.shared(as: "notes").changeCatalog(
      of: world.path(number), declaring: Declarations(), StoreConfiguration(),
      report: { [reports = world.reports] error in reports.add(error) }
    ) { store in
      try store.add(Rule("note.text", of: "Note", fields: ["text"], .immutable))
      try body(store)
      return try store.rules().count
    }
  }
}
