import CFaultVFS
import CSQLite
import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct TransactionOutcomeTests {
  private struct World {
    let faulty: FaultyStore
    let store: Store
    let id: TransactionID

    /// - Parameter operation: What fails, once, while artist 2 is inserted.
    init(_ operation: fault_vfs_op, _ code: Int32, _ effect: fault_vfs_effect) throws {
      let faulty = try FaultyStore()
      let store = try faulty.open()
      try store.changeJournal.enable()
      try store.write { tx in _ = try tx.insert(Artist(id: 1, name: "kept")) }
      let fault = fault_vfs_arm(operation, faulty.path + "-wal", 1, code, effect, .once)
      let error = failure {
        try store.write { tx in _ = try tx.insert(Artist(id: 2, name: "unknown")) }
      }
      #expect(fault_vfs_fired(fault) == 1)
      fault_vfs_disarm(fault)
      #expect(error?.code == .outcomeUnknown)
      let id = try #require(error?.transaction)
      #expect(failure { try store.write { _ in } }?.transaction == id)
      #expect(failure { try store.changeJournal.outcome(of: id) }?.code == .outcomeUnknown)
      self.faulty = faulty
      self.store = store
      self.id = id
    }

    static func ids(_ store: Store) throws -> [Int64] { try store.fetch(Artist.all).map(\.id) }
  }

  @Test func aTransactionThatACrashRestoresIsCommitted() throws {
    let world = try World(.sync, ExtendedCode.ioSync, .full)
    let killed = try world.faulty.afterKill()
    #expect(try killed.changeJournal.outcome(of: world.id) == .committed)
    #expect(try World.ids(killed) == [1, 2])
    try killed.write { tx in _ = try tx.insert(Artist(id: 3, name: "c")) }
    #expect(try killed.changeJournal.outcome(of: world.id) == .committed)
  }

  @Test func aTransactionThatWasNeverWrittenIsNotCommitted() throws {
    let world = try World(.write, ExtendedCode.ioWrite, .none)
    let killed = try world.faulty.afterKill()
    for _ in 0..<2 {
      #expect(try killed.changeJournal.outcome(of: world.id) == .notCommitted)
      #expect(try World.ids(killed) == [1])
    }
    try killed.write { tx in _ = try tx.insert(Artist(id: 3, name: "c")) }
    #expect(try killed.changeJournal.outcome(of: world.id) == .notCommitted)
  }

  @Test func theAnswerNotCommittedRemainsCorrectAfterACrash() throws {
    let world = try World(.sync, ExtendedCode.ioSync, .none)
    // Another program keeps the log's index, in which the commit was not noted.
    let other = try PlainDatabase(world.faulty.path)
    _ = try other.rows("SELECT * FROM Artist")
    world.store.close()
    let again = try world.faulty.open()
    #expect(try World.ids(again) == [1])
    #expect(try again.changeJournal.outcome(of: world.id) == .notCommitted)
    let killed = try world.faulty.afterKill()
    #expect(try World.ids(killed) == [1])
    #expect(try killed.changeJournal.outcome(of: world.id) == .notCommitted)
  }

  @Test func anOutcomeThatCannotBeDeterminedIsUnknown() throws {
    let world = try JournalWorld(JournalHistoryTests.tables, detail: nil)
    let journal = world.store.changeJournal
    let unsigned = try world.store.write { tx in
      try tx.execute("INSERT INTO Tag VALUES ('a', 1)")
      return tx.id
    }
    #expect(try journal.outcome(of: unsigned) == .unknown)
    try journal.enable()
    #expect(try journal.outcome(of: unsigned) == .unknown)
    var rolledBack: TransactionID?
    _ = failure {
      try world.store.write { tx in
        try tx.execute("DELETE FROM Tag")
        rolledBack = tx.id
        throw StoreError(.rejected, "No.")
      }
    }
    let id = try world.store.write { tx in
      try tx.execute("DELETE FROM Tag")
      return tx.id
    }
    #expect(try journal.outcome(of: id) == .committed)
    #expect(try journal.outcome(of: try #require(rolledBack)) == .notCommitted)
    #expect(TransactionID(id.description) == id)
    try world.store.write { tx in try tx.execute("INSERT INTO Tag VALUES ('b', 1)") }
    let newest = try journal.position()
    try world.other.execute("DELETE FROM _ms_journal WHERE position < \(newest.rawValue)")
    #expect(try journal.outcome(of: id) == .unknown)
    #expect(try journal.outcome(of: try #require(rolledBack)) == .unknown)
  }

  @Test func aTransactionThatOnlyAltersTablesIsSignedToo() throws {
    let world = try JournalWorld(JournalHistoryTests.tables)
    let id = try world.store.write { tx in
      try tx.execute("CREATE INDEX Item_n ON Item (n)")
      return tx.id
    }
    #expect(try world.store.changeJournal.outcome(of: id) == .committed)
  }
}
