import Synchronization
import Testing

@testable import ModelStore

/// Reverting, squashing, recording and showing migrations.
@Suite(.tags(.unit)) struct FileMigrationsTests {
  private static let create = Migration(
    version: 1, name: "create", sql: "CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT)",
    reverse: "DROP TABLE a")
  private static let index = Migration(
    version: 2, name: "index", sql: "CREATE INDEX a_x ON a (x)", reverse: "DROP INDEX a_x")
  private static let column = Migration(
    version: 3, name: "column", sql: "ALTER TABLE a ADD COLUMN y TEXT",
    reverse: "ALTER TABLE a DROP COLUMN y")
  private static let all = [create, index, column]

  private let directory: TemporaryDirectory
  private let store: Store

  init() throws {
    directory = try TemporaryDirectory()
    store = try Self.open(directory.file("a.store"))
  }

  private static func open(_ path: String) throws -> Store {
    try Store(
      at: path, declaring: Declarations(), configuration: StoreConfiguration(),
      onError: { Issue.record($0) })
  }

  private func migrations(_ declared: [Migration] = all) -> FileMigrations {
    FileMigrations(of: store, declared: declared)
  }

  private func ledger() throws -> [String] {
    try migrations([]).status().map { status in
      let entry = try #require(status.applied)
      return "\(entry) \(entry.kind)" + (entry.replaced.isEmpty ? "" : " \(entry.replaced)")
    }
  }

  private func schema() throws -> [[SQLValue]] {
    try store.read { tx in
      try tx.rows("SELECT name, sql FROM sqlite_schema WHERE name GLOB 'a*' ORDER BY 1").map(
        \.values)
    }
  }

  @Test func migrationsAreAppliedUpToAVersionAndRevertedToOne() throws {
    let empty = try schema()
    let first = try migrations().apply(upTo: 1)
    #expect(first.map(\.description) == ["1 create"])
    #expect(first[0].reverse == "DROP TABLE a")
    #expect(first[0].duration.map { $0 >= .zero } == true)
    #expect(first[0].program?.isEmpty == false)
    let after1 = try schema()
    #expect(try migrations().apply().map(\.version) == [2, 3])
    #expect(try migrations().apply() == [])
    #expect(try ledger() == ["1 create run", "2 index run", "3 column run"])
    // The file has the texts, so the program needs none.
    #expect(try migrations([]).revert(to: 1).map(\.version) == [3, 2])
    #expect(try schema() == after1)
    #expect(try migrations([]).revert(to: 1) == [])
    #expect(try migrations([]).revert(to: 0).map(\.version) == [1])
    #expect(try schema() == empty)
    #expect(try ledger() == [])
  }

  @Test func theStepsAreTheStatementsThatRun() throws {
    try migrations().apply(upTo: 1)
    let steps = try migrations().steps()
    #expect(steps.steps.map(\.version) == [2, 3])
    #expect(steps.steps[0].action == .run(["CREATE INDEX a_x ON a (x)"]))
    #expect(try migrations().steps(upTo: 2).steps.map(\.version) == [2])
    try migrations().apply()
    #expect(try migrations().steps().isEmpty)
    let back = try migrations([]).stepsBack(to: 1)
    #expect(
      back.steps.map(\.action)
        == [.revert(["ALTER TABLE a DROP COLUMN y"]), .revert(["DROP INDEX a_x"])])
  }

  @Test func aPreviewChangesNothing() throws {
    try migrations().apply(upTo: 1)
    let before = try schema()
    #expect(try migrations().apply(mode: .preview).map(\.version) == [2, 3])
    #expect(try migrations().revert(to: 0, mode: .preview).map(\.version) == [1])
    #expect(try schema() == before)
    #expect(try ledger() == ["1 create run"])
  }

  @Test func anIrreversibleMigrationIsNamedBeforeAnythingChanges() throws {
    let forever = Migration(version: 4, name: "forever", sql: "DROP INDEX a_x")
    let last = Migration(version: 5, name: "last", sql: "SELECT 1", reverse: "SELECT 2")
    try migrations(Self.all + [forever, last]).apply()
    let error = failure { try migrations([]).revert(to: 1) }
    #expect(error?.code == .migrationConflict)
    #expect(
      error?.message
        == "The migration 4 forever is irreversible: neither the file nor this program has a reverse for it. Write a new migration instead; nothing was changed."
    )
    #expect(try ledger().count == 5)
    #expect(try migrations([]).revert(to: 4).map(\.version) == [5])
  }

  @Test(arguments: [7, 2] as [Int64])
  func aVersionThatTheFileLacksIsRefused(version: Int64) throws {
    try migrations([Self.create]).apply()
    #expect(failure { try migrations().revert(to: version) }?.code == .migrationConflict)
    #expect(failure { try migrations().apply(upTo: 9) }?.code == .migrationConflict)
  }

  @Test func aFailingReverseIsRolledBack() throws {
    let bad = Migration(
      version: 4, name: "bad", sql: "SELECT 1", reverse: "DROP TABLE a; DROP TABLE nowhere")
    try migrations(Self.all + [bad]).apply()
    let before = try schema()
    let error = failure { try migrations([]).revert(to: 0) }
    #expect(
      error?.message.hasPrefix("Reverting migration 4 bad, statement 2:") == true,
      "\(error?.message ?? "")")
    #expect(try schema() == before)
    #expect(try ledger().count == 4)
  }

  @Test func aReverseThatBreaksReferencesIsRefused() throws {
    let parent = Migration(
      version: 1, name: "parent",
      sql: """
        CREATE TABLE a (id INTEGER PRIMARY KEY);
        CREATE TABLE a_child (a INTEGER REFERENCES a (id));
        """)
    let rows = Migration(
      version: 2, name: "rows", sql: "INSERT INTO a VALUES (1); INSERT INTO a_child VALUES (1)",
      reverse: "DELETE FROM a")
    try migrations([parent, rows]).apply()
    #expect(failure { try migrations().revert(to: 1) }?.code == .rejected)
    #expect(try ledger().count == 2)
  }

  @Test func aReverseInSwiftNeedsTheDeclaration() throws {
    let swift = Migration(version: 1, name: "swift", onFreshFiles: .run) { tx in
      try tx.execute("CREATE TABLE a (x)")
    } reverse: { tx in
      try tx.execute("DROP TABLE a")
    }
    try migrations([swift]).apply()
    #expect(try migrations([swift]).status().map(\.isReversible) == [true])
    #expect(try migrations([]).status().map(\.isReversible) == [false])
    #expect(failure { try migrations([]).revert(to: 0) }?.code == .migrationConflict)
    #expect(try migrations([swift]).stepsBack(to: 0).steps.map(\.action) == [.revertByCode])
    #expect(try migrations([swift]).revert(to: 0).map(\.version) == [1])
    #expect(try schema() == [])
  }

  @Test func redoRunsTheNewestOneAgain() throws {
    #expect(try migrations().redo() == nil)
    try migrations().apply()
    let changed = Migration(
      version: 3, name: "column", sql: "ALTER TABLE a ADD COLUMN z TEXT",
      reverse: "ALTER TABLE a DROP COLUMN z")
    #expect(try migrations([Self.create, Self.index, changed]).redo()?.sql == changed.sql)
    #expect(try store.read { tx in try tx.rows("SELECT z FROM a") } == [])
    #expect(failure { try migrations([Self.create]).redo() }?.code == .migrationConflict)
    // If applying fails, the migration is not reverted either.
    let bad = Migration(version: 3, name: "column", sql: "ALTER TABLE nowhere ADD COLUMN z")
    let before = try schema()
    #expect(failure { try migrations([Self.create, Self.index, bad]).redo() } != nil)
    #expect(try schema() == before)
  }

  @Test func theStatusTellsFileAndProgramApart() throws {
    let late = Migration(version: 2, name: "late", sql: "SELECT 1")
    let extra = Migration(version: 5, name: "extra", sql: "SELECT 5")
    try migrations([Self.create, Self.column, extra]).apply()
    let changed = Migration(version: 1, name: "create", sql: "CREATE TABLE b (x)")
    let renamed = Migration(version: 3, name: "columns", sql: Self.column.sql)
    let next = Migration(version: 6, name: "next", sql: "SELECT 6")
    let status = try migrations([changed, late, renamed, next]).status()
    #expect(status.map(\.version) == [1, 2, 3, 5, 6])
    #expect(status.map(\.state) == [.changed, .late, .renamed, .missing, .pending])
    #expect(status[0].declared?.sql == changed.sql)
    #expect(status[0].applied?.sql == Self.create.sql)
  }

  @Test func aChangedTextIsAccepted() throws {
    try migrations([Self.create]).apply()
    #expect(try migrations([Self.create]).repair(1) == nil)
    let changed = Migration(
      version: 1, name: "created", sql: "CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT, y)",
      reverse: nil)
    #expect(failure { try migrations([changed]).apply() }?.code == .migrationConflict)
    #expect(try migrations([changed]).repair(1)?.sql == Self.create.sql)
    #expect(try migrations([changed]).apply() == [])
    #expect(try ledger() == ["1 created repair"])
    #expect(try migrations([]).status().map(\.isReversible) == [false])
    #expect(failure { try migrations([changed]).repair(2) }?.code == .migrationConflict)
    #expect(failure { try migrations(Self.all).repair(2) }?.code == .migrationConflict)
  }

  // Squashing

  private static let squash = Migration(
    version: 10, name: "squash",
    sql: "CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT, y TEXT); CREATE INDEX a_x ON a (x)",
    reverse: "DROP TABLE a", replaces: [1, 2, 3])

  @Test(arguments: [false, true])
  func aFileWithAllReplacedMigrationsRecordsTheSquash(areDeclared: Bool) throws {
    try migrations().apply()
    let before = try schema()
    let declared = (areDeclared ? Self.all : []) + [Self.squash]
    #expect(try migrations(declared).steps().steps.map(\.action) == [.squash])
    #expect(
      try migrations(declared).status().map(\.state)
        == (areDeclared
          ? [.applied, .applied, .applied, .pending]
          : [.replaced(by: 10), .replaced(by: 10), .replaced(by: 10), .pending]))
    #expect(try migrations(declared).apply().map(\.kind) == [.squash])
    #expect(try ledger() == ["10 squash squash [1, 2, 3]"])
    #expect(try schema() == before)
    #expect(try migrations(declared).apply() == [])
    #expect(
      failure { try migrations(declared).revert(to: 2) }?.message
        == "The migration 10 squash stands for 2 in this file, so it can only be reverted as a whole. Nothing was changed."
    )
    #expect(try migrations([]).revert(to: 0).map(\.version) == [10])
    #expect(try schema() == [])
  }

  @Test(arguments: [false, true])
  func aFileWithoutReplacedMigrationsRunsTheSquash(areDeclared: Bool) throws {
    let declared = (areDeclared ? Self.all : []) + [Self.squash]
    #expect(try migrations(declared).apply().map(\.kind) == [.run])
    #expect(try ledger() == ["10 squash run [1, 2, 3]"])
    #expect(try migrations(declared).apply() == [])
    #expect(try FileMigrations.differences(of: Self.squash, from: Self.all) == [])
  }

  @Test func aFileWithSomeReplacedMigrationsRunsTheOthersFirst() throws {
    try migrations().apply(upTo: 2)
    let error = failure { try migrations([Self.squash]).apply() }
    #expect(
      error?.message
        == "The migration 10 squash replaces others, of which the file has had only 1, 2, and 3 is missing here. Declare the replaced migrations, too; nothing was changed."
    )
    #expect(try migrations([Self.column, Self.squash]).apply().map(\.kind) == [.run, .squash])
    #expect(try ledger() == ["10 squash squash [1, 2, 3]"])
  }

  @Test func aSquashCanHaveTheNumberOfTheLastOne() throws {
    let later = Migration(version: 4, name: "later", sql: "CREATE TABLE a_later (x)")
    try migrations(Self.all + [later]).apply()
    let squash = Migration(
      version: 3, name: "squash", sql: Self.squash.sql, replaces: [1, 2, 3])
    #expect(try migrations([squash, later]).apply().map(\.version) == [3])
    #expect(try ledger() == ["3 squash squash [1, 2, 3]", "4 later run"])
    #expect(try migrations([squash, later]).apply() == [])
    // A program with the old list finds out.
    #expect(failure { try migrations(Self.all + [later]).apply() }?.code == .migrationConflict)
    // And a second squash stands for all of them.
    let second = Migration(version: 20, name: "all", sql: "SELECT 1", replaces: [3, 4])
    #expect(try migrations([second]).apply().map(\.replaced) == [[1, 2, 3, 4]])
  }

  @Test func aSquashWithAnotherSchemaIsFound() throws {
    let wrong = Migration(
      version: 3, name: "wrong", sql: "CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT)",
      replaces: [1, 2, 3])
    #expect(
      try FileMigrations.differences(of: wrong, from: Self.all)
        == ["This file lacks the column a.y.", "This file lacks the index a_x."])
  }

  @Test(arguments: [
    Migration(version: 2, name: "s", sql: "", replaces: [1, 3]),
    Migration(version: 10, name: "s", sql: "", replaces: [1, 3]),
  ])
  func aSquashOutOfOrderIsRefused(squash: Migration) throws {
    let others = [Self.create, Self.index, Self.column].filter { $0.version != squash.version }
    #expect(failure { try migrations(others + [squash]).apply() }?.code == .migrationConflict)
  }

  // Baseline

  @Test func aFileWithTheSameSchemaGetsABaseline() throws {
    try store.write { tx in
      try tx.execute("CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT)")
    }
    let error = failure { try migrations().baseline(2) }
    #expect(error?.code == .schemaMismatch)
    #expect(error?.schemaDifferences == ["This file lacks the index a_x."])
    #expect(error?.message.contains("This file lacks the index a_x.") == true)
    #expect(try ledger() == [])
    #expect(try migrations().drift(at: 1) == [])
    try store.write { tx in try tx.execute("CREATE INDEX a_x ON a (x)") }
    #expect(try migrations().baseline(2, mode: .preview).map(\.version) == [1, 2])
    #expect(try ledger() == [])
    #expect(try migrations().baseline(2).map(\.version) == [1, 2])
    #expect(try migrations().baseline(2) == [])
    #expect(try ledger() == ["1 create baseline", "2 index baseline"])
    #expect(try migrations().apply().map(\.version) == [3])
    #expect(try migrations().drift() == [])
    try store.write { tx in try tx.execute("DROP INDEX a_x") }
    #expect(try migrations().drift() == ["This file lacks the index a_x."])
  }

  // Two programs

  @Test func ofTwoProgramsOneFindsNothingToDo() throws {
    let file = try SchemaTestFile()
    let migrators = try (0..<2).map { _ in
      Migrator(connection: try file.connect(), scope: .app)
    }
    #expect(try migrators[0].apply(Self.all).count == 3)
    #expect(try migrators[1].apply(Self.all) == [])
    // Version 3 is gone when the second one has the lock.
    #expect(try migrators[0].revert(to: 2, declaring: Self.all).map(\.version) == [3])
    #expect(try migrators[1].revert(to: 2, declaring: Self.all) == [])
    #expect(
      failure { try migrators[1].revert(to: 3, declaring: Self.all) }?.code == .migrationConflict)
  }

  @Test func theLedgerIsComparedAgainOnlyIfAnotherProgramHasWritten() throws {
    let file = try SchemaTestFile()
    let migrators = try (0..<2).map { _ in
      Migrator(connection: try file.connect(), scope: .app)
    }
    let more = (4...9).map { number in
      Migration(version: number, name: "more", sql: "CREATE TABLE more_\(number) (x)")
    }
    var outlook = Migrator.Outlook()
    func next(_ migrator: Migrator) throws -> [Int64] {
      try migrator.connection.inTransaction {
        try migrator.applyNext(of: Self.all + more, creating: [], after: &outlook)
      }.map(\.version)
    }
    #expect(try (1...4).map { _ in try next(migrators[0]) } == [[1], [2], [3], [4]])
    #expect(outlook.comparisonCount == 1)
    #expect(try migrators[1].apply(Self.all + more.dropLast(2)).map(\.version) == [5, 6, 7])
    #expect(try (1...3).map { _ in try next(migrators[0]) } == [[8], [9], []])
    #expect(outlook.comparisonCount == 2)
  }

  @Test func aMigrationTakesAsManyStatementsInALargeSchema() throws {
    let counts = try [5, 40].map { size in
      let file = try SchemaTestFile()
      defer { withExtendedLifetime(file) {} }
      let connection = try file.connect()
      let migrator = Migrator(connection: connection, scope: .app)
      let all = (1...size).map { number in
        Migration(version: Int64(number), name: "table", sql: "CREATE TABLE t\(number) (x)")
      }
      try migrator.apply(all)
      let before = connection.statementCount
      try migrator.apply(all + [Migration(version: 99, name: "x", sql: "CREATE TABLE x (x)")])
      return connection.statementCount - before
    }
    #expect(counts[0] == counts[1])
  }

  @Test func eachCommitIsToldWhenItIsDone() throws {
    var told: [[Int64]] = []
    var found: [[String]] = []
    let broken = Migration(version: 4, name: "broken", sql: "nonsense")
    #expect(throws: StoreError.self) {
      try migrations(Self.all + [broken]).apply { entries in
        told.append(entries.map(\.version))
        found.append(entries.map { $0.name })
      }
    }
    #expect(told == [[1], [2], [3]] && found == [["create"], ["index"], ["column"]])
    try migrations().revert(to: 0)
    told = []
    try migrations().apply(mode: .preview) { told.append($0.map(\.version)) }
    #expect(told == [])
    struct Stop: Error {}
    #expect(throws: Stop.self) { try migrations().apply { _ in throw Stop() } }
    #expect(try ledger().count == 1)
  }

  // A file with older tables

  @Test func migrationsThatNeedOlderTablesCannotBeCompared() throws {
    try store.write { tx in try tx.execute("CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT)") }
    try migrations([Self.column]).apply()
    let sentence = """
      The migrations do not make a schema to compare with, because they fail in an empty database: \
      Migration 3 column, statement 1: no such table: a. If the tables are older than the \
      migrations, write a base migration that creates them.
      """
    let bodies: [() throws -> Void] = [
      { _ = try migrations([Self.column]).drift() },
      { _ = try migrations([Self.column]).expectedSchema() },
      { _ = try migrations([Self.column]).baseline(3) },
    ]
    for body in bodies {
      let error = failure { try body() }
      #expect(error?.code == .schemaMismatch && error?.message == sentence, "\(error as Any)")
    }
  }

  @Test func concurrentReversionsTakeTurns() async throws {
    let path = directory.file("a.store")
    try migrations().apply()
    await store.close()
    let counts = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<2 {
        group.addTask { try await Store.revertMigrations(at: path, to: 0).count }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(counts.reduce(0, +) == 3)
  }

  @Test func aFileWhoseModelsAreInUseIsLeftAlone() throws {
    let path = directory.file("b.store")
    let model = MigratedFiles.member(MigratedFiles.name)
    let declaring = try Store(
      at: path, declaring: Declarations(migrations: Self.all, models: [model]),
      configuration: StoreConfiguration(), onError: { Issue.record($0) })
    #expect(failure { try Store.revertMigrations(at: path, to: 0) }?.code == .configurationConflict)
    declaring.close()
    #expect(try Store.revertMigrations(at: path, to: 1) == [3, 2])
  }

  @Test func modelsFollowTheReverseOfARenaming() throws {
    let path = directory.file("c.store")
    let model = MigratedFiles.member(MigratedFiles.name)
    func open(_ model: ModelSchema, _ migrations: [Migration]) throws -> Store {
      try Store(
        at: path,
        declaring: Declarations(migrations: migrations, models: [model], changeJournal: .full),
        configuration: StoreConfiguration(), onError: { Issue.record($0) })
    }
    let first = try open(model, [])
    try first.write { tx in try tx.execute("INSERT INTO Member VALUES (1, 'a')") }
    first.close()
    let tag = MigratedFiles.member(MigratedFiles.name, table: "Tag")
    try open(
      tag,
      [
        Migration(
          version: 1, name: "rename", sql: "ALTER TABLE Member RENAME TO Tag",
          reverse: "ALTER TABLE Tag RENAME TO Member")
      ]
    ).close()
    #expect(try Store.revertMigrations(at: path, to: 0) == [1])
    let store = try open(model, [])
    let transactions = try store.changeJournal.transactions()
    #expect(transactions.flatMap(\.gaps) == [])
    #expect(transactions.flatMap(\.changes).map(\.model) == ["Member"])
  }

  // Files of earlier versions of the library

  @Test func aLedgerOfAnEarlierLibraryIsRead() throws {
    let file = try SchemaTestFile(
      """
      CREATE TABLE _ms_migrations (
        scope TEXT NOT NULL, version INTEGER NOT NULL, name TEXT NOT NULL, checksum TEXT NOT NULL,
        sql TEXT NOT NULL, applied_at TEXT NOT NULL, PRIMARY KEY (scope, version)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT);
      INSERT INTO _ms_migrations
      VALUES ('app', 1, 'create', '\(Self.create.checksum)', '', '2026-01-01T00:00:00.000Z')
      """)
    let migrator = Migrator(connection: try file.connect(), scope: .app)
    let entry = try #require(try migrator.ledger.entries().first)
    #expect(entry.kind == .run)
    #expect(entry.reverse == nil)
    #expect(entry.duration == nil)
    // The declared reverse counts.
    #expect(try migrator.revert(to: 0, declaring: [Self.create]).map(\.version) == [1])
    #expect(try migrator.apply([Self.create]) == [Self.create])
  }
}
