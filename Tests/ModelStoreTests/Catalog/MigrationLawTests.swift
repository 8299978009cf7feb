import Foundation
import Testing

@testable import ModelStore

/// Random pairs of schemas: either the tables of a file become as the newer models declare them and
/// nothing is lost, or opening fails with a plan and nothing changes.
/// `MODELSTORE_SEED` shifts the seed, and `MODELSTORE_SCHEMA_PAIRS` says how many.
@Suite(.tags(.law)) struct MigrationLawTests {
  private static let pairCount =
    ProcessInfo.processInfo.environment["MODELSTORE_SCHEMA_PAIRS"].flatMap { Int($0) } ?? 200

  private struct Outcome {
    var migrated = 0
    var refused = 0
    var rebuilt = 0
  }

  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func open(
    _ path: String, _ world: MigrationWorld, _ models: [ModelSchema],
    _ changes: StoreConfiguration.SchemaChanges
  ) throws -> Store {
    let isNew = models == world.new
    let bindings = isNew && world.isLossy ? [] : world.bindings
    return try Store(
      at: path,
      declaring: Declarations(models: models, bindings: bindings, changeJournal: world.journal),
      configuration: StoreConfiguration(
        durability: .normal, schemaChanges: changes, changeJournal: world.journal),
      onError: { Issue.record($0) })
  }

  /// Creates the file of the older version.
  private func create(
    _ path: String, _ world: MigrationWorld, _ generator: inout SeededGenerator
  ) throws {
    try PlainDatabase(path).execute("PRAGMA journal_mode = WAL; " + world.tables)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    let store = try open(path, world, world.old, .none)
    let rows = world.rows(&generator)
    try store.write { tx in
      for row in rows {
        // A row that the first version refuses is left out.
        do {
          try tx.execute(row)
        } catch let error as StoreError where error.code == .rejected {
          continue
        }
      }
    }
    store.close()
    try PlainDatabase(path).execute(world.script)
    // New triggers make the store create its own again, behind them.
    try open(path, world, world.old, .none).close()
  }

  private func notes(_ path: String) throws -> [String] {
    try PlainDatabase(path).rows(
      """
      SELECT l.model FROM _ms_journal AS j JOIN _ms_journal_layouts AS l ON l.number = j.c0
      WHERE j.layout = 0 AND j.entry IN (2, 3) ORDER BY j.position
      """
    ).map { $0[0].description.filter { $0 != "'" } }
  }

  private func recordedCount(_ path: String) throws -> [[SQLValue]] {
    try PlainDatabase(path).rows("SELECT count(*) FROM _ms_journal WHERE layout <> 0")
  }

  @Test func aSchemaChangesCompletelyOrNotAtAll() throws {
    var outcome = Outcome()
    for seed in 0..<Self.pairCount {
      var generator = SeededGenerator(seed: UInt64(seed))
      let world = MigrationWorld(&generator)
      guard SchemaValidation(world.new).problems.isEmpty else { continue }
      let path = directory.file("\(seed).store")
      try create(path, world, &generator)
      try check(path, world, seed, &outcome)
    }
    // The law says nothing if nothing happens.
    #expect(outcome.migrated > Self.pairCount / 8, "\(outcome)")
    #expect(outcome.refused > Self.pairCount / 20, "\(outcome)")
    #expect(outcome.rebuilt > Self.pairCount / 10, "\(outcome)")
  }

  private func check(
    _ path: String, _ world: MigrationWorld, _ seed: Int, _ outcome: inout Outcome
  ) throws {
    let before = try MigrationSnapshot(path)
    let (notesBefore, recorded) = (try notes(path), try recordedCount(path))
    let plan = try Store.migrationPlan(
      at: path, schemas: world.new, configuration: StoreConfiguration(durability: .normal))
    let declared = Set(
      (world.old + world.new).flatMap { SchemaSQL($0).objects }.map(\.name))
    do {
      let store = try open(path, world, world.new, .migrate)
      #expect(plan.isSafe, "seed \(seed): \(plan)")
      let losses = before.losses(
        in: try MigrationSnapshot(path), declared: declared, widened: world.widened)
      #expect(losses == [], "seed \(seed): \(plan)")
      #expect(try store.migrationPlan() == MigrationPlan(), "seed \(seed)")
      #expect(try store.schemaDrift() == [], "seed \(seed)")
      #expect(try notes(path).dropFirst(notesBefore.count) == plan.journalGaps[...], "seed \(seed)")
      #expect(try recordedCount(path) == recorded, "seed \(seed)")
      store.close()
      outcome.migrated += 1
      if plan.steps.contains(where: { if case .rebuild = $0.action { true } else { false } }) {
        outcome.rebuilt += 1
      }
    } catch let error as StoreError where error.code == .schemaMismatch {
      #expect(!plan.isSafe, "seed \(seed): \(plan)")
      #expect(error.migrationPlan == plan, "seed \(seed)")
      let losses = before.losses(in: try MigrationSnapshot(path), declared: [], widened: [])
      #expect(losses == [], "seed \(seed)")
      outcome.refused += 1
    }
  }

  // Controls

  private func damaged(_ script: String) throws -> [String] {
    let path = directory.file("control.store")
    let file = try PlainDatabase(path)
    try file.execute(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a);
      CREATE TABLE u (id INTEGER PRIMARY KEY, t REFERENCES t ON DELETE CASCADE);
      CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END;
      CREATE TRIGGER y AFTER INSERT ON t BEGIN SELECT 2; END;
      CREATE INDEX i ON t (a) WHERE a > 1;
      INSERT INTO t VALUES (1, 1), (2, 2), (9, 3);
      INSERT INTO u VALUES (1, 1), (2, 2);
      DELETE FROM t WHERE id = 9;
      """)
    let before = try MigrationSnapshot(path)
    try file.execute(script)
    return before.losses(in: try MigrationSnapshot(path), declared: [], widened: [])
  }

  @Test(arguments: [
    ("DROP TRIGGER x", ["trigger of t"]),
    ("DROP TRIGGER x; CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END", ["trigger of t"]),
    ("UPDATE sqlite_sequence SET seq = 2 WHERE name = 't'", ["sequences"]),
    ("DELETE FROM t WHERE id = 2", ["problem: ['u', 2, 't', 0]", "t has 1 of 2 records"]),
    (
      "PRAGMA foreign_keys = ON; DELETE FROM t WHERE id = 2",
      ["t has 1 of 2 records", "u has 1 of 2 records"]
    ),
    ("UPDATE t SET a = 7 WHERE id = 2", ["t.a: 2"]),
    ("DROP INDEX i", ["index of t"]),
    ("ALTER TABLE t ADD COLUMN b", []),
  ])
  func whatIsLostIsFound(script: String, losses: [String]) throws {
    #expect(try damaged(script) == losses)
  }
}
