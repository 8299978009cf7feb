import CFaultVFS
import CSQLite
import Foundation
import Testing

@testable import ModelStore

/// Restoring and compacting commit once, and say what a failed COMMIT means.
@Suite(.tags(.unit)) struct CopyCommitTests {
  enum Work: CaseIterable, Sendable { case restoring, compacting }

  /// A store behind the fault-injecting VFS, with a backup of its first state.
  private struct World {
    let faulty: FaultyStore
    let store: Store
    let backup: String

    init() throws {
      faulty = try FaultyStore()
      store = try faulty.open()
      backup = faulty.directory.file("backup.store")
      try store.write { tx in
        for id in 1...Int64(20) { try tx.insert(Artist(id: id, name: "first")) }
      }
      try store.backup(to: backup)
      try store.write { tx in try tx.execute("DELETE FROM Artist WHERE id > 3") }
    }

    func run(_ work: Work) throws {
      switch work {
      case .compacting: try store.compact()
      case .restoring:
        var configuration = StoreConfiguration()
        configuration.busyTimeout = .milliseconds(50)
        configuration.fileSystem = "fault"
        try Store.restore(faulty.path, from: backup, configuration: configuration)
      }
    }

    func ids(of store: Store) throws -> [Int64] { try store.fetch(Artist.all).map(\.id) }
  }

  private static func counts(after work: Work) -> [Int] { work == .restoring ? [3, 20] : [3] }

  @Test(arguments: Work.allCases, [fault_vfs_effect.none, .full])
  func aFailedSyncLeavesTheOutcomeUnknown(work: Work, effect: fault_vfs_effect) throws {
    let world = try World()
    let (store, path) = (world.store, world.faulty.path)
    let seen = Recorder<Int>()
    let subscription = try store.observe(Artist.self) { seen.add($0.changes.count) }
    let fault = fault_vfs_arm(.sync, path + "-wal", 1, ExtendedCode.ioSync, effect, .once)
    #expect(code { try world.run(work) } == .outcomeUnknown)
    #expect(fault_vfs_fired(fault) == 1)
    fault_vfs_disarm(fault)
    // As after any other COMMIT with an unknown outcome.
    #expect(code { try store.write { _ in } } == .outcomeUnknown)
    #expect(code { try world.run(work) } == .outcomeUnknown)
    #expect(code { try store.checkpoint() } == .outcomeUnknown)
    let killed = try world.faulty.afterKill()
    #expect(try Self.counts(after: work).contains(world.ids(of: killed).count))
    #expect(try killed.checkIntegrity() == [])
    subscription.cancel()
    store.close()
    let again = try world.faulty.open()
    #expect(try Self.counts(after: work).contains(world.ids(of: again).count))
    try again.write { tx in try tx.insert(Artist(id: 99, name: "after")) }
    #expect(try again.checkIntegrity() == [])
  }

  @Test(arguments: Work.allCases) func aFullDiskChangesNothing(work: Work) throws {
    let world = try World()
    let fault = fault_vfs_arm(
      .write, world.faulty.path + "-wal", 1, SQLITE_FULL, .half, .sticky)
    #expect(code { try world.run(work) } == .outOfSpace)
    #expect(fault_vfs_fired(fault) >= 1)
    fault_vfs_disarm(fault)
    #expect(try world.ids(of: world.faulty.afterKill()) == [1, 2, 3])
    try world.store.write { tx in try tx.insert(Artist(id: 4, name: "next")) }
    try world.run(work)
    #expect(try world.ids(of: world.store).count == (work == .restoring ? 20 : 4))
    #expect(try world.store.checkIntegrity() == [])
  }

  /// Before the COMMIT it is certain that nothing was committed.
  @Test func aFailureOfTheBackupIsNotUnknown() throws {
    let world = try World()
    let fault = fault_vfs_arm(
      .read, world.backup, 1, ExtendedCode.ioRead, .none, .sticky)
    #expect(code { try world.run(.restoring) } == .ioFailure)
    #expect(fault_vfs_fired(fault) >= 1)
    fault_vfs_disarm(fault)
    #expect(try world.ids(of: world.store) == [1, 2, 3])
    try world.run(.restoring)
    #expect(try world.ids(of: world.store).count == 20)
  }

  /// The backup is read, checked and prepared while the store can be written.
  @Test func theBackupIsCheckedWhileOthersWrite() throws {
    let world = try World()
    _ = try world.store.consumer("mail", startingAt: .end)
    try world.store.backup(to: world.backup, existing: .replace)
    let writer = HookedWriter(world.store)
    let rule = fault_vfs_add_hook(
      .read, world.backup,
      { context in
        guard let context else { return }
        Unmanaged<HookedWriter>.fromOpaque(context).takeUnretainedValue().write()
      }, Unmanaged.passUnretained(writer).toOpaque())
    defer { fault_vfs_disarm(rule) }
    try world.run(.restoring)
    #expect(writer.results.events.count > 3)
    #expect(Set(writer.results.events) == ["written"])
  }

  /// Writes on another thread whenever it is called.
  private final class HookedWriter: Sendable {
    let results = Recorder<String>()
    private let store: Store

    init(_ store: Store) { self.store = store }

    func write() {
      // An earlier write that waits would wait for this thread.
      guard !results.events.contains("waited") else { return }
      let isDone = DispatchSemaphore(value: 0)
      // A thread of its own: tests may keep those of the global queue.
      Thread { [store, results] in
        do {
          try store.write { tx in try tx.execute("UPDATE Artist SET name = name || 'x'") }
          results.add("written")
        } catch {
          results.add("\(error)")
        }
        isDone.signal()
      }.start()
      // Only a store that makes writers wait takes so long.
      if isDone.wait(timeout: .now() + 120) == .timedOut { results.add("waited") }
    }
  }

  /// Another program deletes a row at each moment at which compacting asks for a lock.
  @Test func noCommitOfOthersMakesCompactingChangeUsedNumbers() throws {
    var outcomes: [StoreError.Code?: Int] = [:]
    var moment: Int64 = 0
    while true {
      moment += 1
      let notes = try NotesWithTrigger(deletingAt: moment)
      let outcome = code { try notes.store.compact() }
      guard notes.rival.hasRun else { break }
      outcomes[outcome, default: 0] += 1
      let after = try notes.rival.database.rows("SELECT rowid, body FROM note ORDER BY 1")
      let all = (1...3).map { [SQLValue.integer($0), .text("text \($0)")] }
      #expect(
        after == (notes.rival.hasDeleted ? Array(all.dropFirst()) : all), "moment \(moment)")
      #expect(moment < 500)
      if moment >= 500 { break }
    }
    // Deleted before the check, and not at all or afterwards.
    #expect(Set(outcomes.keys).isSuperset(of: [.conflict, nil]), "\(outcomes)")
  }

  /// A table whose row numbers a trigger uses, and a rival that deletes its first row once.
  private final class NotesWithTrigger {
    let directory: TemporaryDirectory
    let store: Store
    let rival: Rival
    private let rule: fault_vfs_rule

    init(deletingAt moment: Int64) throws {
      guard fault_vfs_register() == SQLITE_OK else { throw FaultyStore.NotRegistered() }
      directory = try TemporaryDirectory()
      let path = realPath(directory.file("notes.db"))
      try PlainDatabase(path).execute(
        """
        PRAGMA journal_mode = WAL;
        CREATE TABLE note(body TEXT);
        CREATE TABLE log(number INTEGER);
        INSERT INTO note VALUES ('text 1'), ('text 2'), ('text 3');
        CREATE TRIGGER logged AFTER INSERT ON note
        BEGIN INSERT INTO log VALUES (new.rowid); END
        """)
      var configuration = StoreConfiguration()
      configuration.fileSystem = "fault"
      configuration.busyTimeout = .seconds(2)
      store = try Store(at: path, configuration: configuration)
      rival = Rival(try PlainDatabase(path), moment)
      try rival.database.execute("PRAGMA wal_autocheckpoint = 0; PRAGMA busy_timeout = 0")
      rule = fault_vfs_add_hook(
        .shmLock, path,
        { context in
          guard let context else { return }
          Unmanaged<Rival>.fromOpaque(context).takeUnretainedValue().called()
        }, Unmanaged.passUnretained(rival).toOpaque())
    }

    deinit { fault_vfs_disarm(rule) }
  }

  /// Only the thread that compacts uses it.
  private final class Rival {
    let database: PlainDatabase
    private var left: Int64
    private(set) var hasDeleted = false
    var hasRun: Bool { left <= 0 }

    init(_ database: PlainDatabase, _ moment: Int64) {
      self.database = database
      left = moment
    }

    func called() {
      left -= 1
      guard left == 0 else { return }
      do {
        try database.execute("DELETE FROM note WHERE rowid = 1")
        hasDeleted = true
      } catch let error as PlainDatabase.Failure where error.code == SQLITE_BUSY {
        hasDeleted = false
      } catch {
        Issue.record(error)
      }
    }
  }
}
