import Foundation
import Synchronization
import Testing

@testable import ModelStore

/// A member whose file no longer fits the shared store begins again, if the program asks for it.
@Suite(.tags(.unit), .timeLimit(.minutes(30))) struct SharedRebuildTests {
  /// A world whose member 1 is closed and diverged: its artist has another name, and the ledger has
  /// a commit that changes it.
  private static func diverged(isAsked: Bool) throws -> SharedWorld {
    let world = try SharedWorld()
    try world.members[0].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    try world.checkEqual()
    world.close(1)
    try PlainDatabase(world.path(1)).execute(
      """
      DROP TRIGGER _ms_member_update_Artist;
      DROP TRIGGER _ms_member_update_Album;
      UPDATE Artist SET name = 'x';
      """)
    try world.members[0].write { tx in try tx.set(\Artist.name, to: "Eve", for: 1) }
    world.rebuildsMembers(isAsked)
    return world
  }

  private static func names(_ path: String) throws -> [[SQLValue]] {
    try PlainDatabase(path).rows("SELECT name FROM Artist")
  }

  @Test func aDivergedMemberBeginsAgainAndItsFileIsKept() throws {
    let world = try Self.diverged(isAsked: true)
    try world.reopen(1)
    #expect(try world.members[1].fetch(Artist.all).map { $0.name } == ["Eve"])
    try world.checkEqual()
    #expect(try Self.names(world.path(1) + ".diverged-1") == [[.text("x")]])
    #expect(world.reports.events.map(\.code) == [.memberDiverged])
    let isNamed = world.reports.events.first?.message.contains(world.path(1) + ".diverged-1")
    #expect(isNamed == true)
    // The new file is a member like any other.
    try world.members[1].write { tx in _ = try tx.insert(Artist(id: 2, name: "Bo")) }
    world.close(1)
    try world.reopen(1)
    try world.checkEqual()
    #expect(world.reports.events.count == 1)
  }

  /// The names of a directory differ from those that SQLite opens.
  @Test func aMemberBehindASymbolicLinkBeginsAgain() throws {
    let world = try Self.diverged(isAsked: true)
    let link = world.directory.file("link")
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: (world.path(1) as NSString).deletingLastPathComponent)
    var configuration = StoreConfiguration(changeJournal: .full)
    configuration.ledger = world.shared
    let reports = Recorder<StoreError>()
    let store = try SharedWorld.store(at: link + "/1.store", configuration) { reports.add($0) }
    #expect(try store.fetch(Artist.all).map { $0.name } == ["Eve"])
    #expect(try Self.names(world.path(1) + ".diverged-1") == [[.text("x")]])
    #expect(reports.events.map(\.code) == [.memberDiverged])
    let message = try #require(reports.events.first).message
    #expect(!message.contains("rebuildsMembers"), "It was followed already.")
  }

  /// A crash between the two steps of a replacement leaves the file with both names.
  @Test func aReplacementThatEndedHalfwayDoesNotKeepTheFileClosed() throws {
    let world = try SharedWorld()
    world.close(1)
    #expect(link(world.path(1), world.path(1) + ".diverged-1") == 0)
    #expect(SharedWorld.code { _ = try world.open(1, StoreConfiguration()) } == .unsafeLocation)
    try world.reopen(1)
    #expect(!world.exists(1, ".diverged-1"))
    try world.members[1].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    try world.checkEqual()
  }

  /// What the log has after a crash is in the kept file.
  @Test func aFileWithALogIsKeptWhole() throws {
    let world = try Self.diverged(isAsked: true)
    let files = ["", "-wal"].map { URL(fileURLWithPath: world.path(1) + $0) }
    var crashed: [Data] = []
    do {
      let file = try PlainDatabase(world.path(1))
      try file.execute("PRAGMA wal_autocheckpoint = 0; UPDATE Artist SET name = 'y'")
      crashed = try files.map { try Data(contentsOf: $0) }
    }
    // Closing has emptied the log.
    for (file, content) in zip(files, crashed) { try content.write(to: file) }
    #expect(crashed[1].count > 0)
    try world.reopen(1)
    try world.checkEqual()
    #expect(try Self.names(world.path(1) + ".diverged-1") == [[.text("y")]])
    #expect(!world.exists(1, ".diverged-1-wal"))
  }

  @Test func aSecondFileIsKeptBesideTheFirst() throws {
    let world = try Self.diverged(isAsked: true)
    try Data("earlier".utf8).write(to: URL(fileURLWithPath: world.path(1) + ".diverged-1"))
    try world.reopen(1)
    #expect(try Self.names(world.path(1) + ".diverged-2") == [[.text("x")]])
    let first = try Data(contentsOf: URL(fileURLWithPath: world.path(1) + ".diverged-1"))
    #expect(first == Data("earlier".utf8))
  }

  @Test func aDivergedMemberStaysUnlessTheProgramAsks() throws {
    let world = try Self.diverged(isAsked: false)
    try world.reopen(1)
    #expect(SharedWorld.code { try world.members[1].refresh() } == .memberDiverged)
    #expect(try world.members[1].fetch(Artist.all).map { $0.name } == ["x"])
    #expect(!world.exists(1, ".diverged-1"))
  }

  @Test func aMemberThatIsTooOldBeginsAgain() throws {
    let world = try SharedWorld()
    world.close(1)
    for id in 1...4 as ClosedRange<Int64> {
      try world.members[0].write { tx in _ = try tx.insert(Artist(id: id, name: "Bo")) }
      try world.publishSnapshot(of: 0)
    }
    world.rebuildsMembers(true)
    try world.reopen(1)
    try world.checkEqual()
    #expect(world.reports.events.map(\.code) == [.memberOutdated])
    #expect(world.exists(1, ".diverged-1"))
  }

  @Test func aMemberWithAnotherSchemaBeginsAgain() throws {
    let world = try SharedWorld()
    world.close(1)
    try PlainDatabase(world.path(1)).execute("CREATE INDEX other ON Plain (b)")
    world.rebuildsMembers(true)
    try world.reopen(1)
    try world.members[1].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    try world.checkEqual()
    #expect(world.reports.events.map(\.code) == [.memberDiverged])
  }

  /// The file may have the only copy of acknowledged commits.
  @Test func aMemberWithCommitsThatTheLedgerLostIsNeverReplaced() throws {
    let world = try SharedWorld()
    try world.members[1].write { tx in _ = try tx.insert(Artist(id: 1, name: "Ada")) }
    world.close(1)
    try PlainDatabase(world.path(1)).execute("UPDATE _ms_member SET number = 5")
    world.rebuildsMembers(true)
    try world.reopen(1)
    #expect(SharedWorld.code { try world.members[1].refresh() } == .ledgerLostCommits)
    while world.reports.events.isEmpty {}
    #expect(world.reports.events.map(\.code) == [.ledgerLostCommits])
    #expect(try world.members[1].fetch(Artist.all).map { $0.name } == ["Ada"])
    #expect(!world.exists(1, ".diverged-1"))
  }

  /// A failover begins with a ledger that cannot be reached.
  @Test func aMemberThatFollowsReportsEachFailureOnce() throws {
    let polls = Mutex((isAway: false, count: 0))
    let ledger = MemoryLedger { step in
      guard step == .commits else { return }
      let isAway = polls.withLock { polls in
        polls.count += 1
        return polls.isAway
      }
      if isAway { throw LedgerError.unreachable("cut") }
    }
    let world = try SharedWorld(ledger: ledger)
    world.close(0)
    func waitForPolls(_ isAway: Bool) {
      polls.withLock { $0 = (isAway, 0) }
      while polls.withLock({ $0.count }) < 3 {}
    }
    // After following has succeeded, a failure is a new one.
    for isLast in [false, true] {
      waitForPolls(true)
      #expect(world.reports.taken().map(\.code) == [.ledgerUnavailable])
      if isLast { try PlainDatabase(world.path(1)).execute("UPDATE _ms_member SET number = 5") }
      waitForPolls(false)
    }
    while world.reports.events.isEmpty {}
    #expect(world.reports.events.map(\.code) == [.ledgerLostCommits])
  }

  /// The ledger can be read, but has no space for what members note.
  @Test func aMemberWhoseNotesFailReportsItOnce() throws {
    let noteCount = Mutex(0)
    let ledger = MemoryLedger { step in
      guard step == .note else { return }
      noteCount.withLock { $0 += 1 }
      throw LedgerError.outOfSpace("full")
    }
    let world = try SharedWorld(memberCount: 1, ledger: ledger)
    while noteCount.withLock({ $0 }) < 4 {}
    #expect(world.reports.events.count == 1)
  }

  @Test func aFileThatAnotherProgramUsesIsNotReplaced() throws {
    let world = try Self.diverged(isAsked: true)
    let other = try PlainDatabase(world.path(1))
    #expect(try other.rows("SELECT name FROM Artist") == [[.text("x")]])
    #expect(SharedWorld.code { try world.reopen(1) } == .busy)
    #expect(!world.exists(1, ".diverged-1"))
    withExtendedLifetime(other) {}
  }

  @Test(arguments: [MemoryLedger.Step.snapshot, .commits])
  func theFileStaysWhileTheLedgerCannotBeReached(_ step: MemoryLedger.Step) throws {
    let isAway = Mutex(false)
    let ledger = MemoryLedger { found in
      if found == step, isAway.withLock({ $0 }) { throw LedgerError.unreachable("cut") }
    }
    let world = try SharedWorld(ledger: ledger)
    world.close(1)
    try PlainDatabase(world.path(1)).execute("CREATE INDEX other ON Plain (b)")
    let before = try world.content(1)
    world.rebuildsMembers(true)
    isAway.withLock { $0 = true }
    // Without commits the member cannot be checked, so it opens as it is.
    let code = SharedWorld.code {
      try world.reopen(1)
      world.close(1)
    }
    #expect(code == (step == .snapshot ? .ledgerUnavailable : nil))
    #expect(try world.content(1) == before)
    #expect(!world.exists(1, ".diverged-1"))
    isAway.withLock { $0 = false }
    try world.reopen(1)
    try world.checkEqual()
  }
}
