import Foundation
import Synchronization
import Testing

@testable import ModelStore

/// A newer program changes the schema of a shared store, and all members begin again with it.
@Suite(.tags(.unit), .timeLimit(.minutes(30))) struct SharedSchemaTests {
  /// Members that programs of several versions open.
  private final class World: Sendable {
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
      _ schemaChanges: StoreConfiguration.SchemaChanges = .migrate
    ) throws -> Store {
      var configuration = StoreConfiguration(
        busyTimeout: .seconds(20), schemaChanges: schemaChanges, changeJournal: .full)
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
  }

  private static let sized: [[SQLValue]] = [
    [.integer(1), .text("one"), .integer(3)], [.integer(2), .text("second"), .integer(6)],
  ]

  /// A world with two open members of version 1 that have two notes.
  private static func started(
    _ ledger: MemoryLedger = MemoryLedger()
  ) throws -> (world: World, members: [Store]) {
    let world = try World(ledger)
    let members = try [world.open(0, version: 1), world.open(1, version: 1)]
    try world.insert(1, "one", in: members[0])
    try world.insert(2, "second", in: members[1])
    try members[0].refresh()
    return (world, members)
  }

  @Test func aNewerProgramChangesTheSchemaForAllMembers() throws {
    var (world, members) = try Self.started()
    let before = try #require(try world.ledger.standing())
    members[0].close()
    members[0] = try world.open(0, version: 2)
    #expect(try world.rows(members[0]) == Self.sized)
    let after = try #require(try world.ledger.standing())
    #expect(after.epoch == before.epoch + 1 && after.number == before.number.next)
    #expect(after.schema != before.schema)
    // The earlier program reads on, and cannot write.
    #expect(SharedWorld.code { try world.insert(3, "x", in: members[1]) } == .memberOutdated)
    #expect(try world.rows(members[1]).count == 2)
    members[1].close()
    members[1] = try world.open(1, version: 2)
    #expect(try world.rows(members[1]) == Self.sized)
    #expect(world.backfills.load(ordering: .relaxed) == 1)
    // Both are members like any others.
    try world.insert(3, "third", in: members[1])
    try members[0].refresh()
    try world.insert(4, "fourth", in: members[0])
    try members[1].refresh()
    #expect(try world.rows(members[0]) == world.rows(members[1]))
    #expect(try members[0].checkIntegrity() == [] && members[1].checkIntegrity() == [])
    #expect(try members[0].schemaDrift() == [])
    #expect(try world.files() == ["0.store", "1.store"])
    for member in members { member.close() }
    // Only the earlier program met the change while it ran.
    #expect(Set(world.reports.events.map(\.code)).isSubset(of: [.memberOutdated]))
    // A further opening changes nothing.
    let head = try world.ledger.standing()
    try world.open(0, version: 2).close()
    #expect(try world.ledger.standing() == head)
  }

  @Test func historyAndUndoGoOn() throws {
    var (world, members) = try Self.started()
    members[0].close()
    members[0] = try world.open(0, version: 2)
    let start = try members[0].changeJournal.position()
    let note = try members[0].schema.model(named: "Note")
    try members[0].write { tx in try tx.update(note, key: [.integer(1)], set: ["size": .integer(9)])
    }
    members[1].close()
    members[1] = try world.open(1, version: 2)
    #expect(try members[1].changeJournal.position() > start)
    let past = try members[1].fetch(StoreQuery<DynamicRecord>(note), at: start).map(\.values)
    #expect(past == Self.sized)
    #expect(try members[0].undo() != nil)
    try members[1].refresh()
    #expect(try world.rows(members[1]) == Self.sized)
  }

  /// Also the tables that the change made.
  @Test func noProgramWithoutTheLedgerWritesIntoTheNewTables() throws {
    let (world, members) = try Self.started()
    for member in members { member.close() }
    try world.open(0, version: 2).close()
    let file = try PlainDatabase(world.path(0))
    for text in ["INSERT INTO Tag VALUES ('a', NULL)", "UPDATE Note SET size = 0"] {
      #expect(throws: (any Error).self) { try file.execute(text) }
    }
    #expect(try file.rows("SELECT count(*) FROM Tag") == [[.integer(0)]])
  }

  /// The ledger has everything of its file, so the program need not ask for it.
  @Test func aMemberWithTheEarlierSchemaBeginsAgainWhenItIsOpened() throws {
    let (world, members) = try Self.started()
    for member in members { member.close() }
    try world.open(0, version: 2, rebuilds: false).close()
    let store = try world.open(1, version: 2, rebuilds: false)
    #expect(try world.rows(store) == Self.sized)
    store.close()
    #expect(try world.files() == ["0.store", "1.store"])
    #expect(world.reports.events.isEmpty)
    // A change that the program does not declare, too.
    #expect(try Self.addRule(0, in: world) == 1)
    let again = try world.open(1, version: 2, rebuilds: false)
    #expect(try again.rules().count == 1)
    try world.insert(3, "third", in: again)
    again.close()
    #expect(try world.ledger.standing()?.epoch == 3)
  }

  /// Another program has changed its schema, so the file may have more than the ledger.
  @Test(arguments: [true, false])
  func aFileThatMayHaveMoreIsKept(_ rebuilds: Bool) throws {
    let (world, members) = try Self.started()
    for member in members { member.close() }
    try PlainDatabase(world.path(1)).execute("CREATE TABLE Own AS SELECT 5 AS x")
    try world.open(0, version: 2).close()
    let code = SharedWorld.code { try world.open(1, version: 2, rebuilds: rebuilds).close() }
    #expect(code == (rebuilds ? nil : .memberDiverged))
    let kept = world.path(1) + (rebuilds ? ".diverged-1" : "")
    #expect(try PlainDatabase(kept).rows("SELECT x FROM Own") == [[.integer(5)]])
    // A member that stays may also find it out while it follows.
    let codes = Set(world.reports.events.map(\.code))
    #expect(codes == [.memberDiverged] || !rebuilds && codes.isEmpty)
    #expect(
      try world.files() == ["0.store", "1.store"] + (rebuilds ? ["1.store.diverged-1"] : []))
  }

  /// It had everything when the snapshot was asked for.
  @Test func aFileThatChangesWhileTheSnapshotArrivesIsKept() throws {
    let path = Mutex<String?>(nil)
    let ledger = MemoryLedger { step in
      guard step == .snapshot, let path = path.withLock({ $0.take() }) else { return }
      try PlainDatabase(path).execute("CREATE TABLE Own AS SELECT 5 AS x")
    }
    let (world, members) = try Self.started(ledger)
    for member in members { member.close() }
    try world.open(0, version: 2).close()
    path.withLock { $0 = world.path(1) }
    let store = try world.open(1, version: 2)
    #expect(try world.rows(store) == Self.sized)
    store.close()
    let kept = try PlainDatabase(world.path(1) + ".diverged-1")
    #expect(try kept.rows("SELECT x FROM Own") == [[.integer(5)]])
    #expect(world.reports.events.map(\.code) == [.memberDiverged])
  }

  /// It lacks commits before the change that the ledger has removed.
  @Test(arguments: [true, false])
  func aMemberThatIsFarBehindAChangeIsKept(_ rebuilds: Bool) throws {
    let (world, members) = try Self.started()
    members[1].close()
    for id in 3...6 as ClosedRange<Int64> {
      try world.insert(id, "more", in: members[0])
      let engine = members[0].engine
      let keeper = SnapshotKeeper(of: world.ledger, path: "", byteCountMin: 0)
      #expect(try keeper.publishIfDue { try MemberCopying(engine: engine).copy(for: nil) })
    }
    members[0].close()
    try world.open(0, version: 2).close()
    let code = SharedWorld.code { try world.open(1, version: 2, rebuilds: rebuilds).close() }
    #expect(code == (rebuilds ? nil : .memberOutdated))
    #expect(FileManager.default.fileExists(atPath: world.path(1) + ".diverged-1") == rebuilds)
    let rows = try PlainDatabase(world.path(1)).rows("SELECT count(*) FROM Note")
    #expect(rows == [[.integer(rebuilds ? 6 : 2)]])
  }

  /// Its snapshot would bring the earlier schema back.
  @Test func aMemberWithTheEarlierSchemaPublishesNoSnapshot() throws {
    let (world, members) = try Self.started()
    let engine = members[1].engine
    members[0].close()
    try world.open(0, version: 2).close()
    let keeper = SnapshotKeeper(of: world.ledger, path: "", byteCountMin: 0)
    #expect(try !keeper.publishIfDue { try MemberCopying(engine: engine).copy(for: nil) })
    members[1].close()
    let store = try world.open(2, version: 2)
    #expect(try world.rows(store) == Self.sized)
    store.close()
  }

  @Test func anOlderProgramDoesNotTakeAChangeBack() throws {
    let (world, members) = try Self.started()
    for member in members { member.close() }
    try world.open(0, version: 2).close()
    let head = try world.ledger.standing()
    let code = SharedWorld.code { try world.open(1, version: 1).close() }
    #expect(code == .newerFormat)
    #expect(try world.ledger.standing() == head)
  }

  /// It then reads everything that the earlier schema had.
  @Test func aMemberGetsTheCommitsBeforeAChange() throws {
    let (world, members) = try Self.started()
    try world.insert(3, "third", in: members[0])
    members[0].close()
    try world.open(0, version: 2).close()
    let store = members[1]
    #expect(SharedWorld.code { try store.refresh() } == .memberOutdated)
    #expect(try world.rows(store).count == 3)
    let health = try #require(try store.memberHealth())
    #expect(health.obstacle?.contains("schema") == true, "\(health)")
    store.close()
  }

  @Test func ofTwoProgramsThatOpenAtOnceOneChangesTheSchema() throws {
    let (world, members) = try Self.started()
    for member in members { member.close() }
    let found = Mutex<[[[SQLValue]]]>([])
    DispatchQueue.concurrentPerform(iterations: 2) { number in
      do {
        let store = try world.open(number, version: 2)
        let rows = try world.rows(store)
        found.withLock { $0.append(rows) }
        store.close()
      } catch {
        Issue.record(error)
      }
    }
    #expect(found.withLock { $0 } == [Self.sized, Self.sized])
    #expect(try world.ledger.standing()?.epoch == 2)
    #expect(try world.files() == ["0.store", "1.store"])
  }

  @Test func aChangeThatLosesDataIsRefusedAndChangesNothing() throws {
    var (world, members) = try Self.started()
    members[0].close()
    members[0] = try world.open(0, version: 2)
    members[1].close()
    members[1] = try world.open(1, version: 2)
    let head = try world.ledger.standing()
    members[0].close()
    do {
      try world.open(0, version: 3).close()
      Issue.record("A field with values was dropped.")
    } catch let error as StoreError {
      #expect(error.code == .schemaMismatch && error.migrationPlan != nil, "\(error)")
      #expect(!error.message.contains(".partial"), "\(error)")
    }
    #expect(try world.ledger.standing() == head)
    try world.insert(3, "third", in: members[1])
    members[0] = try world.open(0, version: 2)
    try members[0].refresh()
    #expect(try world.rows(members[0]).count == 3)
    #expect(try world.files() == ["0.store", "1.store"])
  }

  /// Without `.migrate`, opening adds what it adds to an ordinary file.
  @Test func theConfigurationDecidesWhichChangesAreMade() throws {
    let (world, members) = try Self.started()
    for member in members { member.close() }
    let code = SharedWorld.code { try world.open(0, version: 2, .none).close() }
    #expect(code == .schemaMismatch)
    #expect(try world.ledger.standing()?.epoch == 1)
    try world.open(0, version: 2, .createTables).close()
    #expect(try world.ledger.standing()?.epoch == 2)
  }

  @Test func aFileThatAnotherProgramUsesStopsTheChangeBeforeItBegins() throws {
    let (world, members) = try Self.started()
    for member in members { member.close() }
    let other = try PlainDatabase(world.path(0))
    #expect(try other.rows("SELECT count(*) FROM Note") == [[.integer(2)]])
    let head = try world.ledger.standing()
    #expect(SharedWorld.code { try world.open(0, version: 2).close() } == .busy)
    withExtendedLifetime(other) {}
    // A store of this process, too.
    let store = try world.open(1, version: 1)
    #expect(SharedWorld.code { try world.open(1, version: 2).close() } == .misuse)
    #expect(try world.ledger.standing() == head)
    try world.insert(3, "third", in: store)
    store.close()
  }

  /// The shared store has the change then, and the file follows when it is opened again.
  @Test func aFileThatAProgramBeginsToUseDuringTheChangeIsBehind() throws {
    /// A file that another program opens at the right time.
    struct Other: @unchecked Sendable {
      // Guard: the thread that changes the schema uses it, and the test before and afterwards.
      let file: PlainDatabase
    }
    let other = Mutex<Other?>(nil)
    let ledger = MemoryLedger { step in
      guard step == .append, let other = other.withLock({ $0.take() }) else { return }
      _ = try other.file.rows("SELECT count(*) FROM Note")
    }
    let (world, members) = try Self.started(ledger)
    for member in members { member.close() }
    var opened: Other? = try Other(file: PlainDatabase(world.path(0)))
    other.withLock { [opened] in $0 = opened }
    #expect(SharedWorld.code { try world.open(0, version: 2).close() } == .memberBehind)
    #expect(try world.ledger.standing()?.epoch == 2)
    #expect(try opened?.file.rows("SELECT count(*) FROM Note") == [[.integer(2)]])
    // While it is used, opening cannot replace it either.
    #expect(SharedWorld.code { try world.open(0, version: 2).close() } == .busy)
    opened = nil
    let store = try world.open(0, version: 2)
    #expect(try world.rows(store) == Self.sized)
    store.close()
    #expect(try world.ledger.standing()?.epoch == 2)
    #expect(world.backfills.load(ordering: .relaxed) == 1)
  }

  @Test(arguments: [MemoryLedger.Step.turn, .append])
  func aLedgerThatCannotBeReachedChangesNothing(_ step: MemoryLedger.Step) throws {
    let isAway = Mutex(false)
    let ledger = MemoryLedger { found in
      if found == step, isAway.withLock({ $0 }) { throw LedgerError.unreachable("cut") }
    }
    let (world, members) = try Self.started(ledger)
    for member in members { member.close() }
    let head = try world.ledger.standing()
    isAway.withLock { $0 = true }
    #expect(SharedWorld.code { try world.open(0, version: 2).close() } == .ledgerUnavailable)
    isAway.withLock { $0 = false }
    #expect(try world.ledger.standing() == head)
    let store = try world.open(0, version: 2)
    #expect(try world.rows(store) == Self.sized)
    store.close()
    #expect(try world.files() == ["0.store", "1.store"])
  }

  /// The ledger has the change, and its answer was lost.
  @Test(arguments: [true, false])
  func aChangeWhoseOutcomeIsUnknownIsMadeOnce(_ isResolved: Bool) throws {
    let steps = Mutex<Set<MemoryLedger.Step>>([])
    let ledger = MemoryLedger { step in
      guard steps.withLock({ $0.contains(step) }) else { return }
      if step == .appended { throw LedgerError.outcomeUnknown(.make(first: nil)) }
      throw LedgerError.unreachable("cut")
    }
    let (world, members) = try Self.started(ledger)
    for member in members { member.close() }
    steps.withLock { $0 = isResolved ? [.appended] : [.appended, .resolve] }
    let code = SharedWorld.code { try world.open(0, version: 2).close() }
    #expect(code == (isResolved ? nil : .outcomeUnknown))
    steps.withLock { $0 = [] }
    let store = try world.open(0, version: 2)
    #expect(try world.rows(store) == Self.sized)
    store.close()
    #expect(try world.ledger.standing()?.epoch == 2)
    #expect(world.backfills.load(ordering: .relaxed) == 1)
  }

  /// Changes the catalog of a member as a command does.
  private static func addRule(
    _ number: Int, in world: World, _ body: (Store) throws -> Void = { _ in }
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

  @Test func aCommandChangesTheCatalogForAllMembers() throws {
    let (world, members) = try Self.started()
    for member in members { member.close() }
    #expect(try Self.addRule(0, in: world) == 1)
    #expect(try world.ledger.standing()?.epoch == 2)
    for number in 0..<2 {
      let store = try world.open(number, version: 1)
      #expect(try store.rules().count == 1)
      #expect(try world.rows(store).count == 2)
      store.close()
    }
    #expect(try world.files() == ["0.store", "1.store"])
  }

  /// A snapshot has a rollback journal.
  @Test func aMemberThatBeganAgainGetsAWriteAheadLogInEveryJournalMode() throws {
    let (world, members) = try Self.started()
    for member in members { member.close() }
    _ = try Self.addRule(0, in: world)
    let store = try world.openUndeclared(0, StoreConfiguration(journalMode: .asFound))
    #expect(store.usesWriteAheadLog)
    try world.insert(3, "third", in: store)
    store.close()
    #expect(world.reports.events.isEmpty)
  }

  @Test func aProgramWithoutDeclarationsOpensAMemberThatHasHadMigrations() throws {
    let (world, members) = try Self.started()
    for member in members { member.close() }
    try world.open(0, version: 2).close()
    let store = try world.openUndeclared(0, StoreConfiguration())
    #expect(try world.rows(store) == Self.sized)
    try world.insert(3, "third", in: store)
    store.close()
    #expect(try world.ledger.standing()?.epoch == 2)
  }

  @Test func aCommandThatFailsChangesNothing() throws {
    struct Stop: Error {}
    let (world, members) = try Self.started()
    for member in members { member.close() }
    let head = try world.ledger.standing()
    #expect(throws: Stop.self) { try Self.addRule(0, in: world) { _ in throw Stop() } }
    #expect(try world.ledger.standing() == head)
    let store = try world.open(0, version: 1)
    #expect(try store.rules() == [])
    try world.insert(3, "third", in: store)
    store.close()
    #expect(try world.files() == ["0.store", "1.store"])
  }

  /// What it would do was decided for the earlier schema.
  @Test func aCommandThatMeetsAChangeOfAnotherMemberDoesNotRun() throws {
    let (world, members) = try Self.started()
    for member in members { member.close() }
    try world.open(0, version: 2).close()
    let head = try world.ledger.standing()
    let code = SharedWorld.code {
      _ = try Self.addRule(1, in: world) { _ in Issue.record("It ran.") }
    }
    #expect(code == .memberOutdated)
    #expect(try world.ledger.standing() == head)
    #expect(try Self.addRule(1, in: world) == 1)
    #expect(try world.ledger.standing()?.epoch == 3)
  }

  @Test func theRecordOfAChangeIsReadAsItWasWrittenAndNotDamaged() throws {
    let change = SchemaCommit(
      number: CommitNumber(rawValue: 7), previous: CommitHash(of: [1]),
      transaction: .make(first: nil), epoch: 3, before: CommitHash(of: [3]).bytes,
      schema: CommitHash(of: [2]).bytes)
    let commit = change.ledgerCommit
    #expect(try SchemaCommit(commit) == change)
    let rows = CommitRecord(
      number: change.number, previous: change.previous, transaction: change.transaction,
      tables: [], sequences: []
    ).ledgerCommit
    #expect(try SchemaCommit(rows) == nil)
    // A library of before takes it for a later form.
    #expect(throws: LedgerError.self) { try CommitRecord(commit) }
    for place in 1..<commit.record.count {
      var bytes = commit.record
      bytes[place] ^= 1
      for hash in [commit.hash, CommitHash(of: bytes)] {
        let damaged = LedgerCommit(
          number: commit.number, transaction: commit.transaction, hash: hash, record: bytes)
        do {
          #expect(try SchemaCommit(damaged) != change)
        } catch {
          #expect(error == .mismatch(error.message))
        }
      }
    }
  }
}
