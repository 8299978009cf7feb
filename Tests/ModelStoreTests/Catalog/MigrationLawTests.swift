import CFaultVFS
import CSQLite
import Foundation
import Glibc
import Synchronization
import Testing

@testable import ModelStore

/// Random pairs of schemas: either the tables of a file become as the newer models declare them and
/// nothing is lost, or opening fails with a plan and nothing changes. Some of the programs that
/// change a file are killed before; then the file is old or new, and the next program goes on.
///
/// `MODELSTORE_SEED` shifts the seed, and `MODELSTORE_SCHEMA_PAIRS` says how many.
@Suite(.tags(.law), .ownThreads) struct MigrationLawTests {
  private static let pairCount =
    ProcessInfo.processInfo.environment["MODELSTORE_SCHEMA_PAIRS"].flatMap { Int($0) } ?? 200
  /// One of so many pairs is first migrated by a process that is killed.
  private static let killInterval = 10

  private struct Outcome {
    var migrated = 0
    var refused = 0
    var rebuilt = 0
    var renamed = 0
    var killedBefore = 0
    var killedAfter = 0
  }

  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private static func configuration(of world: MigrationWorld, isNew: Bool) -> StoreConfiguration {
    StoreConfiguration(
      durability: .normal, schemaChanges: isNew ? .migrate : .none, changeJournal: world.journal)
  }

  private static func open(
    _ path: String, _ world: MigrationWorld, isNew: Bool = true,
    configuration: StoreConfiguration? = nil
  ) throws -> Store {
    try Store(
      at: path,
      declaring: Declarations(
        migrations: isNew ? world.migrations : [], models: isNew ? world.new : world.old,
        bindings: isNew ? world.newBindings : world.bindings, changeJournal: world.journal),
      configuration: configuration ?? Self.configuration(of: world, isNew: isNew),
      onError: { Issue.record($0) })
  }

  /// Creates the file of the older version.
  private func create(
    _ path: String, _ world: MigrationWorld, _ generator: inout SeededGenerator
  ) throws {
    try PlainDatabase(path).execute("PRAGMA journal_mode = WAL; " + world.tables)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    let store = try Self.open(path, world, isNew: false)
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
    try Self.open(path, world, isNew: false).close()
  }

  @Test func aSchemaChangesCompletelyOrNotAtAll() async throws {
    var outcome = Outcome()
    for seed in 0..<Self.pairCount {
      var generator = SeededGenerator(seed: UInt64(seed))
      let world = MigrationWorld(&generator)
      guard try SchemaValidation(world.new.withSlotModels()).problems.isEmpty else { continue }
      let path = directory.file("\(seed).store")
      try create(path, world, &generator)
      let earlier = try Earlier(path, world, copyingTo: directory.file("renamed.store"))
      if seed.isMultiple(of: Self.killInterval) {
        let limit = 1 << Int.random(in: 1...11, using: &generator)
        let call = Int.random(in: 1...limit, using: &generator)
        try await kill(path, seed, atCall: call)
        let isOld = try checkAfterKill(path, world, earlier, "seed \(seed), call \(call)")
        if isOld { outcome.killedBefore += 1 } else { outcome.killedAfter += 1 }
      }
      try check(path, world, earlier, "seed \(seed)", &outcome)
      try FileManager.default.removeItem(atPath: path)
    }
    // The law says nothing if nothing happens.
    #expect(outcome.migrated > Self.pairCount / 8, "\(outcome)")
    #expect(outcome.refused > Self.pairCount / 20, "\(outcome)")
    #expect(outcome.rebuilt > Self.pairCount / 10, "\(outcome)")
    #expect(outcome.renamed > Self.pairCount / 20, "\(outcome)")
    #expect(outcome.killedBefore > 0 || Self.pairCount < 200, "\(outcome)")
    #expect(outcome.killedAfter > 0 || Self.pairCount < 200, "\(outcome)")
    print("schema pairs: \(outcome)")
  }

  // Kills

  private static let changingCalls: [fault_vfs_op] = [.write, .truncate, .sync, .delete, .shmLock]

  /// Runs the new version in a process that kills itself at a call that changes a file, or at its
  /// end.
  private func kill(_ path: String, _ seed: Int, atCall call: Int) async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, seed = seed as Int, call = call as Int] in
      try MigrationLawTests.migrate(path, seed, dyingAtCall: call)
    }
  }

  private static func migrate(_ path: String, _ seed: Int, dyingAtCall call: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let world = MigrationWorld(&generator)
    try #require(fault_vfs_register() == SQLITE_OK)
    var configuration = configuration(of: world, isNew: true)
    configuration.fileSystem = "fault"
    // With a small cache, pages are in the log long before the commit.
    configuration.cacheSize = 16 << 10
    callsLeft.store(call, ordering: .relaxed)
    for operation in Self.changingCalls {
      try #require(fault_vfs_add_hook(operation, nil, dieAtTheLastCall, nil) > 0)
    }
    do {
      try open(path, world, configuration: configuration).close()
    } catch let error as StoreError {
      #expect(error.code == .schemaMismatch)
    }
    Glibc.kill(getpid(), SIGKILL)
  }

  /// - Returns: Whether the file is as before.
  private func checkAfterKill(
    _ path: String, _ world: MigrationWorld, _ earlier: Earlier, _ label: String
  ) throws -> Bool {
    let now = try Earlier(path, world)
    // A model that no longer declares a list changes only in the catalog.
    if now.schema == earlier.schema, now.catalog == earlier.catalog {
      #expect(earlier.before.losses(in: now.before) == [], "\(label)")
      return true
    }
    // A migration is a transaction of its own.
    let isRenamed = !world.migrations.isEmpty && now.plan?.isEmpty == false
    let losses =
      isRenamed
      ? earlier.renamed.losses(in: now.before, declared: try world.declaredNames)
      : earlier.renamed.losses(
        in: now.before, declared: try world.declaredNames, widened: world.widened,
        filled: world.filled)
    #expect(losses == [], "\(label)")
    #expect(isRenamed || now.plan?.isEmpty == true, "\(label)")
    return false
  }

  // Comparing

  private func check(
    _ path: String, _ world: MigrationWorld, _ earlier: Earlier, _ label: String,
    _ outcome: inout Outcome
  ) throws {
    do {
      let store = try Self.open(path, world)
      defer { store.close() }
      let losses = earlier.renamed.losses(
        in: try MigrationSnapshot(path), declared: try world.declaredNames,
        widened: world.widened, filled: world.filled)
      #expect(losses == [], "\(label)")
      #expect(try store.migrationPlan() == MigrationPlan(), "\(label)")
      #expect(try store.schemaDrift() == [], "\(label)")
      #expect(try store.bindingFindings() == [], "\(label)")
      try checkJournal(store, path, world, earlier, label)
      outcome.migrated += 1
      guard let plan = earlier.plan else {
        outcome.renamed += 1
        return
      }
      #expect(plan.isSafe, "\(label): \(plan)")
      if plan.steps.contains(where: { if case .rebuild = $0.action { true } else { false } }) {
        outcome.rebuilt += 1
      }
    } catch let error as StoreError where error.code == .schemaMismatch {
      // A migration stays applied, with the tables that were created for it.
      let losses = earlier.renamed.losses(
        in: try MigrationSnapshot(path),
        declared: earlier.plan == nil ? try world.declaredNames : [])
      #expect(losses == [], "\(label): \(error)")
      outcome.refused += 1
      guard let plan = earlier.plan else { return }
      #expect(!plan.isSafe, "\(label): \(plan)")
      #expect(error.migrationPlan == plan, "\(label)")
    }
  }

  /// The journal has each record as it was before, or a gap, and only where the plan says so.
  private func checkJournal(
    _ store: Store, _ path: String, _ world: MigrationWorld, _ earlier: Earlier, _ label: String
  ) throws {
    let now = try RecordedChanges(PlainDatabase(path))
    // The journal of a model that the file did not have begins.
    let known = Set(try world.old.withSlotModels().map(\.name))
    let notes = now.notes.dropFirst(earlier.journal.notes.count).filter(known.contains)
    if let plan = earlier.plan {
      #expect(notes == plan.journalGaps, "\(label)")
      if world.filled.isEmpty { #expect(now.count == earlier.journal.count, "\(label)") }
    }
    guard world.journal == .full else { return }
    for model in world.old {
      let hasGap = notes.contains(model.name) || earlier.plan == nil
      let present = try store.schema.model(named: model.name)
      do {
        let past = try store.fetch(
          StoreQuery<DynamicRecord>(present), at: earlier.journal.end)
        // A renamed field has its past under its new name.
        let places = model.fields.map { field in
          present.fieldIndex(named: field.name) ?? present.fieldIndex(named: "sign") ?? 0
        }
        let found = Set(past.map { record in places.map { record.values[$0] } })
        #expect(found == earlier.records[model.name], "\(label): \(model.name)")
      } catch let error as StoreError where error.code == .journalGap {
        #expect(hasGap, "\(label): \(model.name)")
      }
    }
  }

  /// What the change journal of a file has.
  private struct RecordedChanges {
    /// The models for which the journal begins or has a gap, in order.
    var notes: [String] = []
    /// How many changes it has.
    var count: [[SQLValue]] = []
    var end = JournalPosition.start

    init(_ file: PlainDatabase) throws {
      guard try !file.rows("SELECT 1 FROM sqlite_schema WHERE name = '_ms_journal'").isEmpty else {
        return
      }
      notes = try file.rows(
        """
        SELECT l.model FROM _ms_journal AS j JOIN _ms_journal_layouts AS l ON l.number = j.c0
        WHERE j.layout = 0 AND j.entry IN (2, 3) ORDER BY j.position
        """
      ).map { $0[0].description.filter { $0 != "'" } }
      count = try file.rows("SELECT count(*) FROM _ms_journal WHERE layout <> 0")
      let end = try file.rows("SELECT ifnull(max(position), 0) FROM _ms_journal")
      if case .integer(let number) = end[0][0] { self.end = JournalPosition(rawValue: number) }
    }
  }

  /// A file before it is migrated.
  private struct Earlier {
    let before: MigrationSnapshot
    /// The same after the migrations.
    let renamed: MigrationSnapshot
    /// nil if there are migrations, which a plan does not consider.
    var plan: MigrationPlan?
    let schema: [[SQLValue]]
    let catalog: [[SQLValue]]
    let journal: RecordedChanges
    /// The records of each model of the older version, as it reads them.
    var records: [String: Set<[SQLValue]>] = [:]

    /// - Parameter copy: Where to apply the migrations, to know what they change.
    init(_ path: String, _ world: MigrationWorld, copyingTo copy: String? = nil) throws {
      before = try MigrationSnapshot(path)
      let file = try PlainDatabase(path)
      schema = try file.rows("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid")
      catalog = try file.rows("SELECT * FROM _ms_models ORDER BY 1")
      journal = try RecordedChanges(file)
      guard let copy else {
        renamed = before
        plan = try Store.migrationPlan(
          at: path, schemas: world.new, configuration: StoreConfiguration(durability: .normal))
        return
      }
      for model in world.old {
        let columns = model.fields.map { SQLText.quoted($0.column) }.joined(separator: ", ")
        records[model.name] = Set(
          try file.rows("SELECT \(columns) FROM \(SQLText.quoted(model.table))"))
      }
      guard !world.migrations.isEmpty else {
        renamed = before
        plan = try Store.migrationPlan(
          at: path, schemas: world.new, configuration: StoreConfiguration(durability: .normal))
        return
      }
      try file.execute("VACUUM INTO \(SQLText.literal(copy))")
      let changed = try PlainDatabase(copy)
      // The migrator drops the triggers of the journal, too.
      for row in schema where row[0] == .text("trigger") {
        let name = row[1].description.filter { $0 != "'" }
        if name.hasPrefix("_ms_") { try changed.execute("DROP TRIGGER \(SQLText.quoted(name))") }
      }
      try changed.execute(MigrationWorld.renaming)
      renamed = try MigrationSnapshot(copy)
      try FileManager.default.removeItem(atPath: copy)
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
    return before.losses(in: try MigrationSnapshot(path))
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

/// How many calls of the file system this process makes before it is killed.
private let callsLeft = Atomic(Int.max)

private func dieAtTheLastCall(_: UnsafeMutableRawPointer?) {
  if callsLeft.subtract(1, ordering: .relaxed).newValue < 0 { Glibc.kill(getpid(), SIGKILL) }
}
