import Foundation
import Synchronization
import Testing

@testable import ModelStore

@Suite(.tags(.unit), .timeLimit(.minutes(30))) struct SharedStoreTests {
  @Test func aMemberReceivesExactChangesOfAnother() throws {
    let world = try SharedWorld()
    let received = Recorder<ModelEvent<Album>>()
    let token = try world.members[1].observe(Album.self) { received.add($0) }
    try world.members[0].write { tx in
      try tx.insert(Artist(id: 1, name: "Ada"))
      try tx.insert(Album(id: 2, title: "One", artistID: 1))
    }
    // Commits that arrive together would be one event.
    try world.members[1].refresh()
    try world.members[0].write { tx in try tx.set(\Artist.name, to: "Eve", for: 1) }
    try world.members[1].refresh()
    // A write begins after every commit before it, so observers have received them.
    try world.members[1].write { tx in _ = try tx.delete(Artist.self, 1) }
    world.members[1].waitForDelivery()
    #expect(
      received.events.map { $0.changes.map { [$0.old?.artistName, $0.new?.artistName] } } == [
        [[nil, "Ada"]], [["Ada", "Eve"]], [["Eve", nil]],
      ])
    #expect(received.events.map { $0.isReset } == [false, false, false])
    token.cancel()
    try world.checkEqual()
  }

  @Test func aNewMemberBeginsFromTheSnapshotAndCatchesUp() throws {
    let world = try SharedWorld(memberCount: 1) { store in
      try store.write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    }
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 2, name: "Bo")) }
    let late = try world.member(1)
    try late.refresh()
    #expect(try late.fetch(Artist.all).map { $0.name } == ["Ada", "Bo"])
    try late.write { tx in _ = try tx.insert(Artist(id: 3, name: "Cy")) }
    try world.members[0].refresh()
    #expect(try world.members[0].fetch(Artist.all).map { $0.name } == ["Ada", "Bo", "Cy"])
  }

  @Test func aMemberThatWasClosedCatchesUp() throws {
    let world = try SharedWorld()
    world.close(1)
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    try world.reopen(1)
    try world.checkEqual()
  }

  @Test func writesOfManyTasksShareACommitOfTheLedger() async throws {
    let world = try SharedWorld()
    let (first, second) = (world.members[0], world.members[1])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...64 as ClosedRange<Int64> {
        let store = number % 2 == 0 ? first : second
        group.addTask {
          _ = try await store.write { tx in _ = try tx.insert(Artist(id: number, name: "a")) }
        }
      }
      try await group.waitForAll()
    }
    try await first.refresh()
    #expect(try await first.count(Artist.all) == 64)
    try world.checkEqual()
  }

  @Test func aWriteThatChangesNothingMakesNoCommit() throws {
    let world = try SharedWorld()
    let before = try world.ledger.standing()
    try world.members[0].write { _ in }
    try world.members[1].write { tx in try tx.execute("UPDATE Artist SET name = 'x' WHERE id = 9") }
    #expect(try world.ledger.standing() == before)
  }

  @Test func acknowledgementsReachEveryMember() throws {
    let world = try SharedWorld()
    let consumer = try world.members[0].consumer("mail", startingAt: .start)
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    let batch = try #require(try consumer.next(limit: 10))
    try batch.acknowledge()
    try world.members[1].refresh()
    let other = try world.members[1].consumer("mail", startingAt: .start)
    #expect(try other.next(limit: 10) == nil)
    try world.checkEqual()
  }

  @Test func anotherMemberUndoesATransaction() throws {
    let world = try SharedWorld()
    var id: TransactionID?
    try world.members[0].write { tx in
      _ = try tx.insert(Artist(id: 1, name: "Ada"))
      id = tx.id
    }
    try world.members[1].refresh()
    _ = try world.members[1].revert(try #require(id))
    try world.members[0].refresh()
    #expect(try world.members[0].fetch(Artist.all) == [])
    try world.checkEqual()
  }

  @Test func aRowThatARollbackRestoresIsNotShared() throws {
    struct Refusal: Error {}
    let world = try SharedWorld()
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    try world.members[0].write { tx in
      try? tx.savepoint { tx in
        try tx.delete(Artist.self, 1)
        throw Refusal()
      }
      try tx.insert(Artist(id: 2, name: "Bo"))
    }
    try world.checkEqual()
    #expect(try world.members[1].fetch(Artist.all).map { $0.id } == [1, 2])
  }

  @Test func aKeyInOtherLettersReachesEveryMember() throws {
    let world = try SharedWorld()
    try world.members[0].write { tx in
      try tx.execute("INSERT INTO Folded (k, v) VALUES ('a', 1)")
      try tx.execute("INSERT INTO Loose (k, v) VALUES (1, 1)")
    }
    try world.checkEqual()
    try world.members[0].write { tx in
      try tx.execute("UPDATE Folded SET k = 'A'")
      try tx.execute("UPDATE Loose SET k = 1.0")
    }
    try world.checkEqual()
    let file = try PlainDatabase(world.path(1))
    #expect(try file.rows("SELECT k, v FROM Folded") == [[.text("A"), .integer(1)]])
    #expect(try file.rows("SELECT k, v FROM Loose") == [[.real(1), .integer(1)]])
  }

  @Test func rowsAreKnownByNameAfterAnUndoneSchemaChange() throws {
    struct Refusal: Error {}
    let world = try SharedWorld()
    try world.members[0].write { tx in
      try tx.execute("INSERT INTO Plain (a) VALUES ('x')")
      for number in 1...3 {
        do {
          try tx.savepoint { tx in
            try tx.execute("CREATE TABLE New (a)")
            try tx.execute("INSERT INTO New VALUES (1)")
            throw Refusal()
          }
        } catch is Refusal {}
        try tx.execute("INSERT INTO Keyed (k, n, v) VALUES ('k', \(number), 1)")
        try tx.execute("INSERT INTO Numbered (x) VALUES ('n')")
        _ = try tx.insert(Artist(id: Int64(number), name: "Ada"))
      }
    }
    try world.checkEqual()
    #expect(try world.members[1].count(Artist.all) == 3)
  }

  @Test func aSchemaChangeFailsAlone() async throws {
    let world = try SharedWorld()
    let store = world.members[0]
    let codes = await withTaskGroup(of: StoreError.Code?.self) { group in
      for number in 1...16 as ClosedRange<Int64> {
        group.addTask {
          do {
            try await store.write { tx in
              _ = try tx.insert(Artist(id: number, name: "Ada"))
              if number == 8 { try tx.execute("CREATE TABLE New (a)") }
            }
            return nil
          } catch {
            return (error as? StoreError)?.code
          }
        }
      }
      return await group.reduce(into: []) { codes, code in codes.append(code) }
    }
    #expect(codes.compactMap { $0 } == [.unsupportedSchema])
    #expect(try await store.count(Artist.all) == 15)
    try world.checkEqual()
  }
}

/// What happens when the ledger, a file or a program is not as it should be.
@Suite(.tags(.unit), .timeLimit(.minutes(30))) struct SharedStoreFailureTests {
  /// A ledger that fails at a step while it is told to.
  private final class Failing: Sendable {
    private let failures = Mutex<[MemoryLedger.Step: LedgerError]>([:])

    var ledger: MemoryLedger {
      MemoryLedger { [self] step in
        if let error = failures.withLock({ $0[step] }) { throw error }
      }
    }

    /// - Parameter step: nil for no failures any more.
    func fail(_ step: MemoryLedger.Step?, _ error: LedgerError = .unreachable("cut")) {
      failures.withLock { failures in
        if let step { failures[step] = error } else { failures = [:] }
      }
    }
  }

  @Test func aMemberReadsWhileTheLedgerIsAwayAndRefusesWrites() throws {
    let failing = Failing()
    let world = try SharedWorld(ledger: failing.ledger)
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    failing.fail(.turn)
    let code = SharedWorld.code {
      try world.members[0].write { tx in _ = try tx.insert(Artist(id: 2, name: "Bo")) }
    }
    #expect(code == .ledgerUnavailable)
    #expect(try world.members[0].fetch(Artist.all).map { $0.id } == [1])
    failing.fail(nil)
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 2, name: "Bo")) }
    try world.checkEqual()
  }

  @Test(arguments: [MemoryLedger.Step.append, .appended])
  func aCommitOnItsWayWhenTheConnectionBreaksIsDecidedByTheLedger(
    _ step: MemoryLedger.Step
  ) throws {
    let failing = Failing()
    let world = try SharedWorld(ledger: failing.ledger)
    var transaction: TransactionID?
    let code = SharedWorld.code {
      try world.members[0].write { tx in
        try tx.insert(Artist(id: 1, name: "Ada"))
        transaction = tx.id
        failing.fail(step, .outcomeUnknown(tx.id))
      }
    }
    failing.fail(nil)
    #expect(code == (step == .append ? .ledgerUnavailable : nil))
    let names = step == .append ? [] : ["Ada"]
    #expect(try world.members[0].fetch(Artist.all).map { $0.name } == names)
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 2, name: "Bo")) }
    try world.checkEqual()
    let number = try world.ledger.resolve(try #require(transaction), deadline: .seconds(5))
    #expect(number == (step == .append ? nil : CommitNumber(rawValue: 1)))
  }

  @Test(arguments: [MemoryLedger.Step.append, .appended])
  func anOutcomeThatStaysUnknownIsAskedForBeforeTheNextWrite(_ step: MemoryLedger.Step) throws {
    let failing = Failing()
    let world = try SharedWorld(ledger: failing.ledger)
    world.close(0)
    let store = try world.member(0, busyTimeout: .milliseconds(50))
    func write(_ id: Int64) -> StoreError.Code? {
      SharedWorld.code { try store.write { tx in _ = try tx.insert(Artist(id: id, name: "Ada")) } }
    }
    var transaction: TransactionID?
    let first = SharedWorld.code {
      try store.write { tx in
        try tx.insert(Artist(id: 1, name: "Ada"))
        transaction = tx.id
        failing.fail(step, .outcomeUnknown(tx.id))
        failing.fail(.resolve)
      }
    }
    #expect(first == .outcomeUnknown)
    #expect(write(2) == .ledgerUnavailable)
    failing.fail(nil)
    #expect(write(3) == nil)
    #expect(try store.fetch(Artist.all).map { $0.id } == (step == .append ? [3] : [1, 3]))
    #expect(transaction != nil)
    store.close()
    try world.reopen(0)
    try world.checkEqual()
  }

  @Test func aProgramWithoutTheLedgerCannotWrite() throws {
    let world = try SharedWorld()
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    world.close(1)
    let before = try world.content(1)
    let shell = try PlainDatabase(world.path(1))
    for statement in [
      "UPDATE Artist SET name = 'x'", "DELETE FROM Plain", "INSERT INTO Keyed VALUES ('a', 1, 2)",
    ] {
      #expect(throws: PlainDatabase.Failure.self) { try shell.execute(statement) }
    }
    let alone = try world.open(1, StoreConfiguration(changeJournal: .full))
    let code = SharedWorld.code {
      try alone.write { tx in _ = try tx.insert(Artist(id: 2, name: "Bo")) }
    }
    #expect(code == .configurationConflict)
    alone.close()
    #expect(try world.content(1) == before)
  }

  @Test func aProgramWithoutTheLedgerKeepsTheSchema() throws {
    let world = try SharedWorld()
    world.close(1)
    let before = try world.content(1)
    let code = SharedWorld.code {
      let store = try Store(
        at: world.path(1), models: Artist.self, Album.self,
        migrations: [
          Migration(version: 1, name: "tables", sql: SharedWorld.tables, onFreshFiles: .run),
          Migration(version: 2, name: "more", sql: "CREATE TABLE More (a)"),
        ], configuration: StoreConfiguration(schemaChanges: .migrate))
      store.close()
    }
    #expect(code == .schemaMismatch)
    #expect(try world.content(1) == before)
    try world.reopen(1)
    try world.members[1].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    try world.checkEqual()
  }

  @Test func aMemberWithAnotherSchemaTakesNoTurn() async throws {
    let world = try SharedWorld()
    world.close(1)
    try PlainDatabase(world.path(1)).execute("CREATE INDEX other ON Plain (b)")
    let store = try world.member(1)
    let head = try world.ledger.standing()
    let alone = SharedWorld.code {
      try store.write { tx in _ = try tx.insert(Artist(id: 9, name: "Ada")) }
    }
    #expect(alone == .memberDiverged)
    let together = await withTaskGroup(of: StoreError.Code?.self) { group in
      for number in 1...16 as ClosedRange<Int64> {
        group.addTask {
          do {
            try await store.write { tx in _ = try tx.insert(Artist(id: number, name: "Ada")) }
            return nil
          } catch {
            return (error as? StoreError)?.code
          }
        }
      }
      return await group.reduce(into: []) { codes, code in codes.append(code) }
    }
    #expect(together == Array(repeating: .memberDiverged, count: 16))
    #expect(try world.ledger.standing() == head)
    try await world.members[0].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    try await store.refresh()
    #expect(try await store.count(Artist.all) == 1)
  }

  @Test func aFileThatWasChangedWithoutTheLedgerIsFound() throws {
    let world = try SharedWorld()
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    try world.members[1].refresh()
    world.close(1)
    let file = try PlainDatabase(world.path(1))
    try file.execute(
      """
      DROP TRIGGER _ms_member_update_Artist;
      DROP TRIGGER _ms_member_update_Album;
      UPDATE Artist SET name = 'x'
      """)
    let store = try world.member(1)
    try world.members[0].write { tx in try tx.set(\Artist.name, to: "Eve", for: 1) }
    #expect(SharedWorld.code { try store.refresh() } == .memberDiverged)
    #expect(try store.fetch(Artist.all).map { $0.name } == ["x"])
  }

  /// The change journal does not record a table without a model.
  @Test func aRowThatWasChangedWithoutTheLedgerIsFound() throws {
    let world = try SharedWorld()
    try world.members[0].write { tx in try tx.execute("INSERT INTO Plain (a, b) VALUES ('x', 1)") }
    try world.checkEqual()
    world.close(1)
    let file = try PlainDatabase(world.path(1))
    try file.execute("DROP TRIGGER _ms_member_update_Plain; UPDATE Plain SET b = 2")
    let store = try world.member(1)
    try world.members[0].write { tx in try tx.execute("UPDATE Plain SET b = 3") }
    #expect(SharedWorld.code { try store.refresh() } == .memberDiverged)
    #expect(try file.rows("SELECT b FROM Plain") == [[.real(2)]])
  }

  @Test func aLedgerThatLostCommitsIsFound() throws {
    let world = try SharedWorld(memberCount: 1)
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    world.close(0)
    let file = try PlainDatabase(world.path(0))
    try file.execute("UPDATE _ms_member SET number = 5")
    let store = try world.member(0)
    let code = SharedWorld.code {
      try store.write { tx in _ = try tx.insert(Artist(id: 2, name: "Bo")) }
    }
    #expect(code == .ledgerLostCommits)
  }

  @Test func aMemberThatOnlyReadsNoticesALedgerThatLostCommits() throws {
    let world = try SharedWorld(memberCount: 1)
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    world.close(0)
    try PlainDatabase(world.path(0)).execute("UPDATE _ms_member SET number = 5")
    let store = try world.member(0)
    #expect(SharedWorld.code { try store.refresh() } == .ledgerLostCommits)
    #expect(try store.fetch(Artist.all).map { $0.name } == ["Ada"])
    store.close()
    // The number is right, and the commit another one.
    try PlainDatabase(world.path(0)).execute("UPDATE _ms_member SET number = 1, hash = x'00'")
    let other = try world.member(0)
    #expect(SharedWorld.code { try other.refresh() } == .ledgerLostCommits)
  }

  /// A member remembers which commit its file has.
  @Test func aFileWithEarlierContentIsNoticedBeforeTheLedgerHasAWrite() throws {
    let polls = Mutex((isHeld: false, count: 0))
    let ledger = MemoryLedger { step in
      guard step == .commits, polls.withLock({ $0.isHeld }) else { return }
      polls.withLock { $0.count += 1 }
      while polls.withLock({ $0.isHeld }) {}
    }
    let world = try SharedWorld(memberCount: 1, ledger: ledger)
    let record = try PlainDatabase(world.path(0)).rows("SELECT number, hash FROM _ms_member")
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    guard case .blob(let hash) = record[0][1] else { preconditionFailure("A hash is a blob.") }
    let text = CommitHash(bytes: Array(hash)).description
    // Following reads the file before it asks the ledger, and then stands still.
    polls.withLock { $0.isHeld = true }
    defer { polls.withLock { $0.isHeld = false } }
    while polls.withLock({ $0.count }) == 0 {}
    try PlainDatabase(world.path(0)).execute(
      "UPDATE _ms_member SET number = 0, hash = x'\(text)'")
    let code = SharedWorld.code {
      try world.members[0].write { tx in _ = try tx.insert(Artist(id: 2, name: "Bo")) }
    }
    #expect(code == .busy)
    #expect(try world.ledger.standing()?.number.rawValue == 1)
  }

  /// The steps at which a rival founds the store, while this member opens a new file: before it
  /// looks for the store, and before it founds it.
  @Test(arguments: [MemoryLedger.Step.standing, .found])
  func aNewMemberThatComesSecondJoins(_ step: MemoryLedger.Step) throws {
    let world = try Self.worldWithRival(at: step)
    let member = try world.member(0)
    // The rival's snapshot does not have its first commit.
    try member.refresh()
    #expect(try member.find(Artist.self, 1) == Artist(id: 1, name: "Rival"))
    try member.write { tx in _ = try tx.insert(Artist(id: 2, name: "Second")) }
    #expect(try world.ledger.standing()?.number.rawValue == 2)
    #expect(!world.exists(0, ".diverged-1"))
    #expect(world.reports.events.isEmpty)
  }

  @Test func aLoserOfTheFoundingKeepsItsContentAndSaysWhatToDo() throws {
    let world = try Self.worldWithRival(at: .found)
    let own = try world.open(0, StoreConfiguration(changeJournal: .full))
    try own.write { tx in _ = try tx.insert(Artist(id: 9, name: "Own")) }
    own.close()
    // Opening it once more does not make it a member of the other's store.
    for _ in 1...2 {
      #expect(SharedWorld.code { _ = try world.member(0) } == .configurationConflict)
    }
    let kept = try world.open(0, StoreConfiguration(changeJournal: .full))
    #expect(try kept.fetch(Artist.all) == [Artist(id: 9, name: "Own")])
  }

  /// A world in which another program founds the store, and writes to it, when the first member
  /// reaches `step`.
  private static func worldWithRival(at step: MemoryLedger.Step) throws -> SharedWorld {
    let rival = Mutex<(@Sendable () throws -> Void)?>(nil)
    let ledger = MemoryLedger { reached in
      if reached == step { try rival.withLock({ $0.take() })?() }
    }
    let world = try SharedWorld(memberCount: 0, ledger: ledger)
    rival.withLock { [path = world.path(1), shared = world.shared] found in
      found = {
        var configuration = StoreConfiguration(changeJournal: .full)
        configuration.ledger = shared
        let store = try SharedWorld.store(at: path, configuration)
        try store.write { tx in _ = try tx.insert(Artist(id: 1, name: "Rival")) }
        store.close()
      }
    }
    return world
  }

  @Test func aMemberNeedsAWriteAheadLog() throws {
    let world = try SharedWorld(memberCount: 0)
    try PlainDatabase(world.path(0)).execute("CREATE TABLE Other (a)")
    var configuration = StoreConfiguration(journalMode: .asFound)
    configuration.ledger = world.shared
    #expect(SharedWorld.code { _ = try world.open(0, configuration) } == .configurationConflict)
    #expect(
      SharedWorld.code { _ = try Store.inMemory(models: Artist.self, configuration: configuration) }
        == .configurationConflict)
    #expect(try world.ledger.standing() == nil)
  }

  @Test func aMembersBackupIsNotRestoredOverAStore() throws {
    let world = try SharedWorld(memberCount: 1)
    let backup = world.directory.file("backup")
    _ = try world.members[0].backup(to: backup)
    let own = try world.open(7, StoreConfiguration())
    try own.write { tx in _ = try tx.insert(Artist(id: 9, name: "Own")) }
    own.close()
    let before = try world.content(7)
    let code = SharedWorld.code {
      _ = try Store.restore(world.path(7), from: backup)
    }
    #expect(code == .unsupportedSchema)
    #expect(try world.content(7) == before)
  }

  @Test func theSchemaOfASharedStoreStays() throws {
    let world = try SharedWorld()
    let before = try world.content(0)
    let codes: [StoreError.Code?] = [
      SharedWorld.code {
        try world.members[0].write { tx in try tx.execute("CREATE TABLE New (a)") }
      },
      SharedWorld.code {
        try world.members[0].write { tx in try tx.execute("PRAGMA user_version = 7") }
      },
      SharedWorld.code { _ = try world.members[0].compact() },
    ]
    #expect(codes == [.unsupportedSchema, .unsupportedSchema, .unsupportedSchema])
    #expect(try world.content(0) == before)
    try world.checkEqual()
  }

  @Test(arguments: ["CREATE VIEW Own AS SELECT 1 AS a", "CREATE VIRTUAL TABLE Own USING fts5(a)"])
  func aFileWithoutRowsThatIsNotEmptyDoesNotJoin(_ sql: String) throws {
    let world = try SharedWorld(memberCount: 1)
    try PlainDatabase(world.path(7)).execute(sql)
    #expect(SharedWorld.code { _ = try world.member(7) } == .configurationConflict)
    #expect(try PlainDatabase(world.path(7)).rows("SELECT a FROM Own").count < 2)
  }

  @Test func aMemberDoesNotPollForCommitsThatItKnows() throws {
    let world = try SharedWorld(memberCount: 1)
    let membership = try #require(world.members[0].engine.membership)
    let coming = CommitNumber(rawValue: 2)
    try world.members[0].write { tx in
      _ = try tx.insert(Artist(id: 1, name: "Ada"))
      #expect(!membership.isPollDue(after: coming), "No member can commit during a turn.")
    }
    #expect(!membership.isPollDue(after: CommitNumber(rawValue: 1)))
    #expect(membership.isPollDue(after: coming))
    #expect(!membership.isPollDue(after: coming), "A poll is queued.")
  }

  /// Before each page that the reader asks for, which has one commit, another member commits: three
  /// times before the first one, and then once.
  @Test func refreshingAppliesWhatWasThereAndEndsAlthoughOthersWrite() throws {
    struct Meanwhile {
      var writer: Store?
      let reader: pthread_t
      var pageCount: Int64 = 0
      var isWriting = false

      /// - Throws: On a thread that is not the reader's, so that no poll brings it commits.
      mutating func next() throws -> (writer: Store, ids: ClosedRange<Int64>)? {
        guard reader == pthread_self() else { throw LedgerError.unreachable("no poll") }
        guard !isWriting, pageCount < 100, let writer else { return nil }
        isWriting = true
        pageCount += 1
        return (writer, pageCount == 1 ? 1...3 : pageCount + 2...pageCount + 2)
      }
    }
    let meanwhile = Mutex(Meanwhile(reader: pthread_self()))
    let ledger = MemoryLedger(pageByteCountMax: 1) { step in
      guard step == .commits, let (writer, ids) = try meanwhile.withLock({ try $0.next() }) else {
        return
      }
      for id in ids {
        #expect(throws: Never.self) {
          try writer.write { tx in _ = try tx.insert(Artist(id: id, name: "Ada")) }
        }
      }
      meanwhile.withLock { $0.isWriting = false }
    }
    let world = try SharedWorld(ledger: ledger)
    meanwhile.withLock { $0.writer = world.members[0] }
    try world.members[1].refresh()
    let ids = try world.members[1].fetch(Artist.all).map { $0.id }
    meanwhile.withLock { $0.writer = nil }
    #expect(ids == [1, 2, 3])
    #expect(meanwhile.withLock { $0.pageCount } == 3)
  }

  @Test func aFileWithContentOfItsOwnDoesNotJoin() throws {
    let world = try SharedWorld(memberCount: 1)
    let own = try world.open(7, StoreConfiguration())
    own.close()
    #expect(SharedWorld.code { _ = try world.member(7) } == .configurationConflict)
  }
}
