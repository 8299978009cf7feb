import Foundation
import Synchronization
import Testing

@testable import ModelStore

/// A newer program changes the schema of a shared store, and all members begin again with it.
@Suite(.tags(.unit), .timeLimit(.minutes(30))) struct SharedSchemaTests {
  private typealias World = SharedSchemaWorld

  @Test func aNewerProgramChangesTheSchemaForAllMembers() throws {
    var (world, members) = try World.started()
    let before = try #require(try world.ledger.standing())
    members[0].close()
    members[0] = try world.open(0, version: 2)
    #expect(try world.rows(members[0]) == World.sized)
    let after = try #require(try world.ledger.standing())
    #expect(after.epoch == before.epoch + 1 && after.number == before.number.next)
    #expect(after.schema != before.schema)
    // The earlier program reads on, and cannot write.
    #expect(SharedWorld.code { try world.insert(3, "x", in: members[1]) } == .memberOutdated)
    #expect(try world.rows(members[1]).count == 2)
    members[1].close()
    members[1] = try world.open(1, version: 2)
    #expect(try world.rows(members[1]) == World.sized)
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
    var (world, members) = try World.started()
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
    #expect(past == World.sized)
    #expect(try members[0].undo() != nil)
    try members[1].refresh()
    #expect(try world.rows(members[1]) == World.sized)
  }

  /// Also the tables that the change made.
  @Test func noProgramWithoutTheLedgerWritesIntoTheNewTables() throws {
    let (world, members) = try World.started()
    for member in members { member.close() }
    try world.open(0, version: 2).close()
    let file = try PlainDatabase(world.path(0))
    for text in ["INSERT INTO Tag VALUES ('a', NULL)", "UPDATE Note SET size = 0"] {
      #expect(throws: (any Error).self) { try file.execute(text) }
    }
    #expect(try file.rows("SELECT count(*) FROM Tag") == [[.integer(0)]])
  }

  @Test func anOlderProgramDoesNotTakeAChangeBack() throws {
    let (world, members) = try World.started()
    for member in members { member.close() }
    try world.open(0, version: 2).close()
    let head = try world.ledger.standing()
    let code = SharedWorld.code { try world.open(1, version: 1).close() }
    #expect(code == .newerFormat)
    #expect(try world.ledger.standing() == head)
  }

  /// It then reads everything that the earlier schema had.
  @Test func aMemberGetsTheCommitsBeforeAChange() throws {
    let (world, members) = try World.started()
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
    let (world, members) = try World.started()
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
    #expect(found.withLock { $0 } == [World.sized, World.sized])
    #expect(try world.ledger.standing()?.epoch == 2)
    #expect(try world.files() == ["0.store", "1.store"])
  }

  @Test func aChangeThatLosesDataIsRefusedAndChangesNothing() throws {
    var (world, members) = try World.started()
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
    let (world, members) = try World.started()
    for member in members { member.close() }
    let code = SharedWorld.code { try world.open(0, version: 2, .none).close() }
    #expect(code == .schemaMismatch)
    #expect(try world.ledger.standing()?.epoch == 1)
    try world.open(0, version: 2, .createTables).close()
    #expect(try world.ledger.standing()?.epoch == 2)
  }

  @Test func aFileThatAnotherProgramUsesStopsTheChangeBeforeItBegins() throws {
    let (world, members) = try World.started()
    for member in members { member.close() }
    // It has a log, too.
    let other = try PlainDatabase(world.path(0))
    try other.execute("CREATE INDEX own ON Note (text); DROP INDEX own")
    let head = try world.ledger.standing()
    func code(_ number: Int) -> StoreError.Code? {
      SharedWorld.code { try world.open(number, version: 2, busyTimeout: .zero).close() }
    }
    #expect(code(0) == .busy)
    withExtendedLifetime(other) {}
    // A store of this process, too.
    let store = try world.open(1, version: 1, busyTimeout: .zero)
    #expect(code(1) == .misuse)
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
    let (world, members) = try World.started(ledger)
    for member in members { member.close() }
    var opened: Other? = try Other(file: PlainDatabase(world.path(0)))
    other.withLock { [opened] in $0 = opened }
    func code(_ version: Int) -> StoreError.Code? {
      SharedWorld.code { try world.open(0, version: version, busyTimeout: .zero).close() }
    }
    #expect(code(2) == .memberBehind)
    #expect(try world.ledger.standing()?.epoch == 2)
    #expect(try opened?.file.rows("SELECT count(*) FROM Note") == [[.integer(2)]])
    // While it is used, opening cannot replace it either. The earlier program can read.
    #expect(code(2) == .busy)
    for rebuilds in [false, true] {
      let reading = try world.open(0, version: 1, rebuilds: rebuilds, busyTimeout: .zero)
      #expect(try world.rows(reading).count == 2)
      #expect(world.reports.taken().contains { $0.code == .busy })
      #expect(SharedWorld.code { try world.insert(3, "x", in: reading) } == .memberOutdated)
      reading.close()
    }
    opened = nil
    let store = try world.open(0, version: 2)
    #expect(try world.rows(store) == World.sized)
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
    let (world, members) = try World.started(ledger)
    for member in members { member.close() }
    let head = try world.ledger.standing()
    isAway.withLock { $0 = true }
    #expect(SharedWorld.code { try world.open(0, version: 2).close() } == .ledgerUnavailable)
    isAway.withLock { $0 = false }
    #expect(try world.ledger.standing() == head)
    let store = try world.open(0, version: 2)
    #expect(try world.rows(store) == World.sized)
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
    let (world, members) = try World.started(ledger)
    for member in members { member.close() }
    steps.withLock { $0 = isResolved ? [.appended] : [.appended, .resolve] }
    let code = SharedWorld.code { try world.open(0, version: 2).close() }
    #expect(code == (isResolved ? nil : .outcomeUnknown))
    steps.withLock { $0 = [] }
    let store = try world.open(0, version: 2)
    #expect(try world.rows(store) == World.sized)
    store.close()
    #expect(try world.ledger.standing()?.epoch == 2)
    #expect(world.backfills.load(ordering: .relaxed) == 1)
  }

  @Test func aCommandChangesTheCatalogForAllMembers() throws {
    let (world, members) = try World.started()
    for member in members { member.close() }
    #expect(try World.addRule(0, in: world) == 1)
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
    let (world, members) = try World.started()
    for member in members { member.close() }
    _ = try World.addRule(0, in: world)
    let store = try world.openUndeclared(0, StoreConfiguration(journalMode: .asFound))
    #expect(store.usesWriteAheadLog)
    try world.insert(3, "third", in: store)
    store.close()
    #expect(world.reports.events.isEmpty)
  }

  @Test func aProgramWithoutDeclarationsOpensAMemberThatHasHadMigrations() throws {
    let (world, members) = try World.started()
    for member in members { member.close() }
    try world.open(0, version: 2).close()
    let store = try world.openUndeclared(0, StoreConfiguration())
    #expect(try world.rows(store) == World.sized)
    try world.insert(3, "third", in: store)
    store.close()
    #expect(try world.ledger.standing()?.epoch == 2)
  }

  @Test func aCommandThatFailsChangesNothing() throws {
    struct Stop: Error {}
    let (world, members) = try World.started()
    for member in members { member.close() }
    let head = try world.ledger.standing()
    #expect(throws: Stop.self) { try World.addRule(0, in: world) { _ in throw Stop() } }
    #expect(try world.ledger.standing() == head)
    let store = try world.open(0, version: 1)
    #expect(try store.rules() == [])
    try world.insert(3, "third", in: store)
    store.close()
    #expect(try world.files() == ["0.store", "1.store"])
  }

  /// What it would do was decided for the earlier schema.
  @Test func aCommandThatMeetsAChangeOfAnotherMemberDoesNotRun() throws {
    let (world, members) = try World.started()
    for member in members { member.close() }
    try world.open(0, version: 2).close()
    let head = try world.ledger.standing()
    let code = SharedWorld.code {
      _ = try World.addRule(1, in: world) { _ in Issue.record("It ran.") }
    }
    #expect(code == .memberOutdated)
    #expect(try world.ledger.standing() == head)
    #expect(try World.addRule(1, in: world) == 1)
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
