import Foundation
import Glibc
import Testing

@testable import ModelStore

/// A backup is one state of an open store, whole or absent.
@Suite(.tags(.process)) struct BackupTests {
  @Test func aBackupCopiesEachPageOnceWhileOthersWrite() throws {
    let world = try CopyWorld()
    let target = world.directory.file("backup.store")
    let before = try world.store.changeJournal.position()
    let hash = try world.store.contentHash()
    var steps: [Int] = []
    var pageCount = 0
    let backup = try world.store.backup(to: target) { done, all in
      steps.append(done)
      pageCount = all
      try world.writeSome(Int64(steps.count))
      try PlainDatabase(world.path).execute("UPDATE Artist SET name = 'other' WHERE id = 8999")
    }
    let step = Int(PageCopy.stepPageCount)
    #expect(pageCount > step)
    #expect(steps == Array(stride(from: step, to: pageCount, by: step)))
    #expect(backup.position == before)
    #expect(backup.path == realPath(of: target))
    #expect(try world.findings(of: target) == [])
    var reading = StoreConfiguration()
    reading.access = .readOnly
    #expect(try Store(at: target, configuration: reading).contentHash() == hash)
    var status = stat()
    #expect(lstat(target, &status) == 0 && Int64(status.st_size) == backup.byteCount)
    #expect(status.st_mode & 0o777 == 0o600)
    #expect(try world.otherFiles == ["backup.store"])
  }

  @Test func aStoreInMemoryIsBackedUpToAFile() throws {
    let directory = try TemporaryDirectory()
    let store = try Store.inMemory(models: Artist.self)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "Nina")) }
    let path = directory.file("backup.store")
    let backup = try store.backup(to: path)
    #expect(backup.position == .start)
    #expect(try Store(at: path, models: Artist.self).fetch(Artist.all).map(\.name) == ["Nina"])
  }

  @Test func anExistingFileIsReplacedOnlyOnRequest() throws {
    let world = try CopyWorld(recordCount: 10)
    let target = world.directory.file("backup.store")
    try Data("precious".utf8).write(to: URL(filePath: target))
    #expect(failure { try world.store.backup(to: target) }?.code == .fileExists)
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
    try world.store.backup(to: target, existing: .replace)
    #expect(try world.findings(of: target) == [])
    try world.writeSome(1)
    let second = try world.store.backup(to: target, existing: .replace)
    #expect(second.position == (try world.store.changeJournal.position()))
    #expect(try world.findings(of: target) == [])
    #expect(try world.otherFiles == ["backup.store"])
  }

  @Test func aBackupNeverGoesToAFileOfAnOpenStore() throws {
    let world = try CopyWorld(recordCount: 10)
    let link = world.directory.file("link")
    let hash = try world.store.contentHash()
    #expect(symlink(world.path, link) == 0)
    let names = [world.path, link, world.path + "-wal", world.path + "-journal"]
    for name in names + [
      world.directory.path + "/../" + world.directory.path.lastName + "/copied.store"
    ] {
      let error = failure { try world.store.backup(to: name, existing: .replace) }
      #expect(error?.code == .misuse, "\(name)")
    }
    let other = try Store(at: world.directory.file("other.store"), models: Artist.self)
    let error = failure {
      try world.store.backup(to: world.directory.file("other.store"), existing: .replace)
    }
    #expect(error?.code == .misuse)
    other.close()
    #expect(
      failure { try world.store.backup(to: world.directory.path, existing: .replace) }?.code
        == .unsafeLocation)
    #expect(
      failure { try world.store.backup(to: world.directory.file("no/backup")) }?.code
        == .fileNotFound)
    #expect(try world.store.contentHash() == hash)
    #expect(try world.store.checkIntegrity() == [])
  }

  @Test func aLogBesideThePlaceOfABackupIsRefused() throws {
    let world = try CopyWorld(recordCount: 10)
    let target = world.directory.file("backup.store")
    try Data("log".utf8).write(to: URL(filePath: target + "-wal"))
    #expect(failure { try world.store.backup(to: target) }?.code == .unsafeLocation)
    #expect(try world.otherFiles == ["backup.store-wal"])
  }

  /// The schema versions of a copy begin again, so one of them gets the number of a recorded one.
  @Test func aChangedBackupIsCheckedWhenItIsOpened() throws {
    let world = try CopyWorld(recordCount: 10)
    let target = world.directory.file("backup.store")
    try world.store.backup(to: target)
    let version = try PlainDatabase(world.path).rows("PRAGMA schema_version")
    let triggers = "SELECT name FROM sqlite_schema WHERE type = 'trigger' ORDER BY name"
    let copy = try PlainDatabase(target)
    let before = try copy.rows(triggers)
    guard case .text(let name)? = before.first?.first else {
      Issue.record("The store has no trigger.")
      return
    }
    try copy.execute("DROP TRIGGER \"\(name)\"")
    for _ in 0..<100 where try copy.rows("PRAGMA schema_version") != version {
      try copy.execute("CREATE INDEX filler ON Artist(id)")
      guard try copy.rows("PRAGMA schema_version") != version else { break }
      try copy.execute("DROP INDEX filler")
    }
    #expect(try copy.rows("PRAGMA schema_version") == version)
    try CopyWorld.open(target).close()
    #expect(try copy.rows(triggers) == before)
  }

  /// SQLite stops after 100 findings, and a store may have records that break a rule.
  @Test func damageIsFoundBehindManyMissingValues() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("damaged.db")
    try PlainDatabase(path).execute(
      """
      CREATE TABLE a(x);
      CREATE TABLE b(x, y);
      CREATE TABLE c(x);
      CREATE INDEX i ON b(x);
      INSERT INTO b VALUES (1, 2);
      WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 150)
      INSERT INTO a SELECT NULL FROM n;
      INSERT INTO c SELECT x FROM a;
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, '(x', '(x NOT NULL') WHERE name IN ('a', 'c');
      """)
    let store = try Store(at: path)
    let target = directory.file("backup.db")
    try store.backup(to: target)
    store.close()
    try PlainDatabase(path).execute(
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON b(y)' WHERE name = 'i';
      """)
    let damaged = try Store(at: path)
    #expect(failure { try damaged.backup(to: directory.file("other.db")) }?.code == .corrupt)
  }

  @Test func anErrorWhileCopyingLeavesNoFile() throws {
    struct Stop: Error {}
    let world = try CopyWorld()
    let target = world.directory.file("backup.store")
    #expect(throws: Stop.self) {
      try world.store.backup(to: target) { done, _ in if done > 0 { throw Stop() } }
    }
    #expect(try world.otherFiles == [])
    // The reader is free again.
    try world.store.backup(to: target)
    #expect(try world.findings(of: target) == [])
  }

  @Test func cancellingTheTaskLeavesNoFile() async throws {
    let world = try CopyWorld()
    let target = world.directory.file("backup.store")
    let task = Task {
      try await world.store.backup(to: target) { _, _ in
        withUnsafeCurrentTask { $0?.cancel() }
      }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try world.otherFiles == [])
  }

  @Test func aDamagedStoreIsNotBackedUpAndNotRestored() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("damaged.store")
    let made = try Store(at: path, models: Artist.self)
    try made.write { tx in
      let name = String(repeating: "n", count: 100)
      for id in 1...Int64(2000) { try tx.insert(Artist(id: id, name: name)) }
    }
    made.close()
    let file = try FileHandle(forUpdating: URL(filePath: path))
    try file.seek(toOffset: 30 * 4096)
    try file.write(contentsOf: Data(repeating: 0x5A, count: 4096))
    try file.close()
    let store = try Store(at: path, models: Artist.self)
    let target = directory.file("backup.store")
    #expect(failure { try store.backup(to: target) }?.code == .corrupt)
    #expect(access(target, F_OK) != 0)
    store.close()
    try FileManager.default.copyItem(atPath: path, toPath: target)
    #expect(
      failure { try Store.restore(directory.file("new.store"), from: target) }?.code == .corrupt)
    #expect(access(directory.file("new.store"), F_OK) != 0)
  }
}

/// The path that a file has without symbolic links.
private func realPath(of path: String) -> String? {
  guard let real = realpath(path, nil) else { return nil }
  defer { free(real) }
  return String(cString: real)
}

extension String {
  fileprivate var lastName: String { String(split(separator: "/").last ?? "") }
}
