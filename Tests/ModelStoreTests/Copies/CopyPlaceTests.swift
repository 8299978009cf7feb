import Foundation
import Glibc
import Testing

@testable import ModelStore

/// The place of a backup: no file in use is replaced, and no other user gets at the copy.
@Suite(.tags(.process)) struct CopyPlaceTests {
  /// Opens a database, reads it, and keeps it open until it gets a line.
  private static let reader = """
    db = sqlite3.connect(sys.argv[1], isolation_level=None)
    say(str(db.execute("SELECT count(*) FROM t").fetchone()[0]))
    sys.stdin.readline()
    db.close()
    """

  /// A database of another program with a write-ahead log, which has no log while it is closed.
  private static func makeDatabase(_ path: String) throws {
    try PlainDatabase(path).execute(
      "PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)")
  }

  private static func isIntact(_ path: String) throws -> Bool {
    let database = try PlainDatabase(path)
    return try database.rows("SELECT a FROM t") == [[.integer(1)]]
      && database.rows("PRAGMA integrity_check") == [[.text("ok")]]
  }

  @Test(OtherProcess.isNeeded) func aFileThatAnotherProgramHasOpenIsNotReplaced() throws {
    let world = try CopyWorld(recordCount: 10)
    let target = world.directory.file("backup.store")
    try Self.makeDatabase(target)
    let other = try OtherProcess(Self.reader, target)
    #expect(other.line() == "1")
    let log = try FileManager.default.attributesOfItem(atPath: target + "-wal")
    #expect(log[.size] as? Int == 0)
    let error = failure { try world.store.backup(to: target, existing: .replace) }
    #expect(error?.code == .busy && error?.message.contains(target) == true, "\(error as Any)")
    #expect(try Self.isIntact(target))
    try other.say("end")
    try other.finish()
    try world.store.backup(to: target, existing: .replace)
    #expect(try world.findings(of: target) == [])
    #expect(try world.otherFiles == ["backup.store"])
  }

  @Test(OtherProcess.isNeeded) func aProgramMayOpenTheFileWhileTheCopyIsMade() throws {
    let world = try CopyWorld()
    let target = world.directory.file("backup.store")
    try Self.makeDatabase(target)
    var other: OtherProcess?
    let error = failure {
      try world.store.backup(to: target, existing: .replace) { _, _ in
        guard other == nil else { return }
        other = try OtherProcess(Self.reader, target)
        #expect(other?.line() == "1")
      }
    }
    #expect(error?.code == .busy)
    try other?.say("end")
    try other?.finish()
    #expect(try Self.isIntact(target))
    #expect(try world.otherFiles == ["backup.store"])
  }

  @Test func aStoreThatIsOpenedWhileTheCopyIsMadeIsNotReplaced() throws {
    let world = try CopyWorld()
    let target = world.directory.file("backup.store")
    try Store(at: target, models: Artist.self).close()
    var other: Store?
    let error = failure {
      try world.store.backup(to: target, existing: .replace) { _, _ in
        if other == nil { other = try Store(at: target, models: Artist.self) }
      }
    }
    #expect(error?.code == .misuse)
    try other?.write { tx in try tx.insert(Artist(id: 1, name: "kept")) }
    #expect(try other?.fetch(Artist.all).map(\.name) == ["kept"])
  }

  /// Asking for a lock must not release those of another connection of this process.
  @Test(OtherProcess.isNeeded) func theLocksOfThisProcessStay() throws {
    let world = try CopyWorld(recordCount: 10)
    let target = world.directory.file("backup.store")
    try PlainDatabase(target).execute("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
    let own = try PlainDatabase(target)
    try own.execute("BEGIN IMMEDIATE")
    let held = try lockRows(of: target)
    #expect(!held.isEmpty)
    #expect(
      failure { try world.store.backup(to: target, existing: .replace) }?.code == .busy)
    #expect(try lockRows(of: target) == held)
    let rival = try OtherProcess(
      """
      db = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
      try:
          db.execute("BEGIN IMMEDIATE")
          say("admitted")
      except sqlite3.OperationalError as error:
          say(str(error))
      """, target)
    #expect(rival.line() == "database is locked")
    try rival.finish()
    try own.execute("ROLLBACK")
    try world.store.backup(to: target, existing: .replace)
    #expect(try world.findings(of: target) == [])
  }

  @Test func theCopyIsMadeInADirectoryThatOnlyThisUserCanOpen() throws {
    let world = try CopyWorld()
    #expect(chmod(world.directory.path, 0o1777) == 0)
    let target = world.directory.file("backup.store")
    var modes: Set<mode_t> = []
    try world.store.backup(to: target) { _, _ in
      for name in try world.otherFiles {
        var status = stat()
        #expect(name.hasSuffix(".partial") && lstat(world.directory.file(name), &status) == 0)
        modes.insert(status.st_mode)
      }
    }
    #expect(modes == [S_IFDIR | 0o700])
    #expect(try world.otherFiles == ["backup.store"])
    #expect(try world.findings(of: target) == [])
  }

  @Test func aDirectoryInWhichOthersCanReplaceFilesIsRefused() throws {
    let world = try CopyWorld(recordCount: 10)
    let shared = world.directory.file("shared")
    #expect(mkdir(shared, 0o700) == 0 && chmod(shared, 0o777) == 0)
    #expect(failure { try world.store.backup(to: shared + "/backup") }?.code == .unsafeLocation)
    #expect(try FileManager.default.contentsOfDirectory(atPath: shared) == [])
    #expect(chmod(shared, 0o1777) == 0)
    try world.store.backup(to: shared + "/backup")
    #expect(try world.findings(of: shared + "/backup") == [])
  }

  @Test(OtherProcess.isNeeded) func theNextCopyRemovesWhatACrashLeft() throws {
    let world = try CopyWorld(recordCount: 10)
    func make(_ name: String, secondsAgo: Int) throws {
      let path = world.directory.file(name)
      #expect(mkdir(path, 0o700) == 0)
      try Data("pages".utf8).write(to: URL(filePath: path + "/copy"))
      try Data("log".utf8).write(to: URL(filePath: path + "/copy-wal"))
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -Double(secondsAgo))], ofItemAtPath: path)
    }
    let old = "backup.store.1f.partial"
    let others = [
      "backup.store.2f.partial", "backup.store.notes.partial", "other.store.1f.partial",
    ]
    for name in [old] + others { try make(name, secondsAgo: 3600) }
    try make("backup.store.3f.partial", secondsAgo: 5)
    // As a process does that is making a copy now.
    let running = try OtherProcess(
      """
      import fcntl, os
      directory = os.open(sys.argv[1], os.O_RDONLY)
      fcntl.flock(directory, fcntl.LOCK_EX)
      say("locked")
      sys.stdin.readline()
      """, world.directory.file(others[0]))
    #expect(running.line() == "locked")
    try world.store.backup(to: world.directory.file("backup.store"))
    #expect(
      try world.otherFiles == (others + ["backup.store", "backup.store.3f.partial"]).sorted())
    try running.say("end")
    try running.finish()
    try world.store.backup(to: world.directory.file("backup.store"), existing: .replace)
    #expect(
      try world.otherFiles
        == (others.dropFirst() + ["backup.store", "backup.store.3f.partial"]).sorted())
  }
}
