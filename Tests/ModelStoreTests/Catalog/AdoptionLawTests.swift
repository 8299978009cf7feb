import Foundation
import Testing

@testable import ModelStore

/// Tables of another program, which it alters at random: in an adopted file and in a copy that was
/// never adopted.
private final class AlteredFiles {
  let adopted: SchemaTestFile
  let plain: SchemaTestFile
  let other: PlainDatabase
  let copy: PlainDatabase
  var random: SeededGenerator
  private var nameCount = 0

  init(seed: UInt64, hasJournal: Bool) throws {
    let script = """
      CREATE TABLE P (id INTEGER PRIMARY KEY, a TEXT, b NVARCHAR(20));
      CREATE TABLE Q (id INTEGER PRIMARY KEY, p INTEGER REFERENCES P, c DATETIME, d REAL);
      CREATE TABLE R (k TEXT NOT NULL PRIMARY KEY, e BOOLEAN, f) WITHOUT ROWID;
      CREATE TABLE S (x INTEGER NOT NULL, y INTEGER NOT NULL, z TEXT, UNIQUE (x, y));
      INSERT INTO P VALUES (1, 'a', 'b'), (2, NULL, 'c');
      INSERT INTO Q VALUES (1, 1, '2024-01-01 10:00:00', 1.5);
      INSERT INTO R VALUES ('k', 1, 'f');
      INSERT INTO S VALUES (1, 1, 's');
      """
    adopted = try SchemaTestFile("PRAGMA journal_mode = WAL; \(script)")
    plain = try SchemaTestFile(script)
    other = try PlainDatabase(adopted.path)
    copy = try PlainDatabase(plain.path)
    random = SeededGenerator(seed: seed)
    for database in [other, copy] { try database.execute("PRAGMA foreign_keys = OFF") }
    let store = try Store(at: adopted.path, onError: { _ in })
    try store.adopt()
    if hasJournal { try store.changeJournal.enable() }
    store.close()
  }

  private func newName() -> String {
    nameCount += 1
    return "n\(nameCount)"
  }

  private func names(_ sql: String) throws -> [String] {
    try copy.rows(sql).compactMap { if case .text(let name) = $0[0] { name } else { nil } }
  }

  /// Changes the schema or rows of both files in the same way, or of none.
  func alter() throws {
    let tables = try names(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    guard let table = tables.randomElement(using: &random) else { return }
    let columns = try names("SELECT name FROM pragma_table_xinfo('\(table)') WHERE pk = 0")
    let column = columns.randomElement(using: &random) ?? "none"
    let list = columns.map { "\"\($0)\"" }.joined(separator: ", ")
    let types = ["TEXT", "INTEGER", "DATETIME", "BOOLEAN DEFAULT 1", "REAL NOT NULL DEFAULT 2", ""]
    let statement =
      switch Int.random(in: 0..<12, using: &random) {
      case 0...2:
        "ALTER TABLE \(table) ADD COLUMN \(newName()) \(types.randomElement(using: &random) ?? "")"
      case 3: "ALTER TABLE \(table) RENAME COLUMN \"\(column)\" TO \(newName())"
      case 4: "ALTER TABLE \(table) DROP COLUMN \"\(column)\""
      case 5: "ALTER TABLE \(table) RENAME TO \(newName())"
      case 6: "DROP TABLE \(table)"
      case 7: "DROP TABLE \(table); CREATE VIEW \(table) AS SELECT 1 AS \(newName())"
      case 8: "CREATE UNIQUE INDEX \(newName()) ON \(table) (\"\(column)\")"
      case 9:
        // As programs rebuild tables.
        """
        CREATE TABLE made (made INTEGER PRIMARY KEY, \(list.isEmpty ? "none" : list));
        INSERT INTO made (\(list.isEmpty ? "none" : list)) SELECT \(list.isEmpty ? "1" : list) FROM \(table);
        DROP TABLE \(table); ALTER TABLE made RENAME TO \(table)
        """
      case 10: "CREATE TABLE \(newName()) (id INTEGER PRIMARY KEY)"
      default: "DELETE FROM \(table)"
      }
    try inBoth("BEGIN; \(statement); COMMIT")
  }

  /// SQLite refuses, for example, to drop a column that a trigger of the journal reads.
  private func inBoth(_ script: String) throws {
    for database in [other, copy] {
      do {
        try database.execute(script)
      } catch {
        try database.execute("ROLLBACK")
        if database === other { return }
        throw error
      }
    }
  }

  static func schema(_ database: PlainDatabase) throws -> [[SQLValue]] {
    try database.rows(
      """
      SELECT type, name, tbl_name, sql FROM sqlite_schema
      ORDER BY type, name
      """)
  }

  func rows(of table: String) throws -> [[SQLValue]] {
    try other.rows("SELECT * FROM \"\(table)\"")
  }
}

@Suite(.tags(.law)) struct AdoptionLawTests {
  /// What adoption makes of a file that was never adopted, by the model's name.
  private static func fresh(_ files: AlteredFiles) throws -> [String: ModelSchema] {
    let store = try Store(at: files.plain.path, onError: { _ in })
    defer { store.close() }
    return Self.byName(try store.adoptableTables().compactMap(\.schema))
  }

  /// The models by name, without the types that were decided from the values of some moment.
  private static func byName(_ models: [ModelSchema]) -> [String: ModelSchema] {
    var found: [String: ModelSchema] = [:]
    for var model in models {
      for index in model.fields.indices
      where DeclaredMeaning(declaredType: model.fields[index].declaredType ?? "") != nil {
        model.fields[index].type = .any
        model.fields[index].form = nil
        model.fields[index].declaredType = model.fields[index].declaredType ?? ""
      }
      found[model.name] = model
    }
    return found
  }

  /// Each model that can be asked has the rows that it had at `position`, or the journal has a gap.
  private static func checkPast(
    _ store: Store, at position: JournalPosition, _ before: [String: [[SQLValue]]], _ seed: UInt64
  ) throws {
    for model in store.schema.models where model.kind == .table {
      guard let rows = before[model.name] else { continue }
      do {
        let past = try store.fetch(StoreQuery<DynamicRecord>(model), at: position).map(\.values)
        #expect(Set(past) == Set(rows), "seed \(seed): \(model.name) at \(position)")
      } catch let error as StoreError {
        #expect(error.code == .journalGap, "seed \(seed): \(model.name): \(error)")
      }
    }
  }

  @Test(arguments: 1...24 as ClosedRange<UInt64>)
  func aRefreshedModelIsAsIfAdoptedNow(seed: UInt64) throws {
    let hasJournal = seed.isMultiple(of: 2)
    let files = try AlteredFiles(seed: seed, hasJournal: hasJournal)
    for _ in 1...6 {
      var store = try Store(at: files.adopted.path, onError: { _ in })
      let position = try store.changeJournal.position()
      var before: [String: [[SQLValue]]] = [:]
      for model in store.schema.models where model.kind == .table {
        before[model.name] = try files.rows(of: model.table)
      }
      let names = Set(store.schema.models.map(\.name))
      store.close()
      for _ in 1...Int.random(in: 1...3, using: &files.random) { try files.alter() }
      store = try Store(at: files.adopted.path, onError: { _ in })
      try store.refreshAdopted()
      store.close()
      store = try Store(at: files.adopted.path, onError: { _ in })
      let fresh = try Self.fresh(files).filter { names.contains($0.key) }
      #expect(Self.byName(store.schema.models) == fresh, "seed \(seed)")
      #expect(try store.adoptedDrift() == [], "seed \(seed)")
      let isSound = try files.other.rows("PRAGMA integrity_check") == [[.text("ok")]]
      #expect(isSound, "seed \(seed)")
      #expect(try store.schemaDrift(of: [.rules]) == [], "seed \(seed)")
      #expect(try store.changeJournal.status().drift == [], "seed \(seed)")
      if hasJournal { try Self.checkPast(store, at: position, before, seed) }
      store.close()
    }
    let store = try Store(at: files.adopted.path, onError: { _ in })
    try store.leave(nil, losing: .accept)
    store.close()
    let expected = try AlteredFiles.schema(files.copy)
    #expect(try AlteredFiles.schema(files.other) == expected, "seed \(seed)")
  }
}
