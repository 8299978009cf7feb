import Foundation
import Glibc
import Testing

@testable import ModelStore

/// Restoring replaces the content of a store in one transaction.
@Suite(.tags(.process)) struct RestoreTests {
  @Test func everyProcessSeesTheContentOfTheBackup() throws {
    let world = try CopyWorld()
    let target = world.directory.file("backup.store")
    let other = try PlainDatabase(world.path)
    let backup = try world.store.backup(to: target)
    let hash = try world.store.contentHash()
    let query = try world.store.liveQuery(Artist.all)
    for number in 1...20 { try world.writeSome(Int64(number)) }
    try world.write { tx in try tx.execute("DELETE FROM Artist WHERE id > 100") }
    #expect(query.count == 100)
    #expect(try Store.restore(world.path, from: target).position == backup.position)
    #expect(try world.store.contentHash() == hash)
    #expect(query.count == 9000)
    #expect(try other.rows("SELECT count(*) FROM Artist") == [[.integer(9000)]])
    #expect(try world.store.checkIntegrity() == [])
    #expect(try world.store.changeJournal.position() == backup.position)
    // The store, the other program and the journal go on.
    try world.store.write { tx in try tx.insert(Artist(id: 10_001, name: "later")) }
    try other.execute("UPDATE Artist SET name = 'foreign' WHERE id = 1")
    #expect(try world.store.changeJournal.position() > backup.position)
    #expect(query.count == 9001)
    #expect(try world.store.fetch(Artist.all, at: backup.position).count == 9000)
    #expect(try other.rows("PRAGMA journal_mode") == [[.text("wal")]])
    world.store.close()
    #expect(try Store(at: world.path, models: Artist.self, Album.self).checkIntegrity() == [])
  }

  /// Another store, as a copy of its files, records how it was reconciled.
  @Test func aRestoredStoreForgetsThatItWasReconciled() throws {
    let world = try CopyWorld(recordCount: 10)
    let path = world.directory.file("new.store")
    try CopyWorld.open(path).close()
    world.store.close()
    let recorded = "SELECT count(*) > 0 FROM _ms_reconciled"
    #expect(try PlainDatabase(world.path).rows(recorded) == [[.integer(1)]])
    try Store.restore(path, from: world.path)
    #expect(try PlainDatabase(path).rows(recorded) == [[.integer(0)]])
    #expect(try PlainDatabase(world.path).rows(recorded) == [[.integer(1)]])
    #expect(try world.findings(of: path) == [])
  }

  @Test func observersHaveTheRestoredContentWhenItReturns() throws {
    let world = try CopyWorld(recordCount: 10)
    let target = world.directory.file("backup.store")
    try world.store.backup(to: target)
    let query = try world.store.liveQuery(Artist.all)
    for number in 1...5 {
      let id = Int64(100 + number)
      try world.store.write { tx in try tx.insert(Artist(id: id, name: "later")) }
      try Store.restore(world.path, from: target)
      #expect(query.count == 10)
    }
  }

  /// No page is damaged, so only a check of the whole backup finds it.
  @Test func aBackupWithADamagedIndexIsRefused() throws {
    let world = try CopyWorld(recordCount: 10)
    let target = world.directory.file("backup.store")
    try world.store.backup(to: target)
    try PlainDatabase(target).execute(
      """
      CREATE INDEX byName ON Artist(name);
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = 'CREATE INDEX byName ON Artist(id)' WHERE name = 'byName';
      """)
    let hash = try world.store.contentHash()
    #expect(failure { try Store.restore(world.path, from: target) }?.code == .corrupt)
    #expect(try world.store.contentHash() == hash)
  }

  @Test func aMissingStoreIsCreated() throws {
    let world = try CopyWorld(recordCount: 10)
    let target = world.directory.file("backup.store")
    try world.store.backup(to: target)
    let path = world.directory.file("new.store")
    try Store.restore(path, from: target)
    #expect(try world.findings(of: path) == [])
    #expect(
      try Store(at: path, models: Artist.self, Album.self).contentHash()
        == world.store.contentHash())
  }

  @Test func whatIsNoSoundBackupIsRefused() throws {
    let world = try CopyWorld(recordCount: 3000)
    let hash = try world.store.contentHash()
    let text = world.directory.file("text")
    try Data(repeating: 0x41, count: 10_000).write(to: URL(filePath: text))
    #expect(failure { try Store.restore(world.path, from: text) }?.code == .notADatabase)
    let plain = world.directory.file("plain.db")
    try PlainDatabase(plain).execute("CREATE TABLE t(a)")
    #expect(failure { try Store.restore(world.path, from: plain) }?.code == .unsupportedSchema)
    #expect(
      failure { try Store.restore(world.path, from: world.directory.file("none")) }?.code
        == .fileNotFound)
    let target = world.directory.file("backup.store")
    try world.store.backup(to: target)
    let file = try FileHandle(forUpdating: URL(filePath: target))
    try file.seek(toOffset: 20 * 4096)
    try file.write(contentsOf: Data(repeating: 0x5A, count: 4096))
    try file.close()
    #expect(failure { try Store.restore(world.path, from: target) }?.code == .corrupt)
    let small = world.directory.file("small.store")
    try PlainDatabase(small).execute("PRAGMA page_size = 1024; CREATE TABLE t(a)")
    try Store(at: small, models: Artist.self).close()
    let error = failure { try Store.restore(world.path, from: small) }
    #expect(error?.code == .unsupportedSchema && error?.message.contains("1024") == true)
    #expect(try world.store.contentHash() == hash)
    #expect(try world.store.checkIntegrity() == [])
  }

  @Test func anErrorWhileCopyingLeavesTheEarlierContent() throws {
    struct Stop: Error {}
    let world = try CopyWorld()
    let target = world.directory.file("backup.store")
    try world.store.backup(to: target)
    try world.writeSome(1)
    let hash = try world.store.contentHash()
    #expect(throws: Stop.self) {
      try Store.restore(world.path, from: target) { done, _ in if done > 0 { throw Stop() } }
    }
    #expect(try world.store.contentHash() == hash)
    try world.writeSome(2)
    #expect(try world.store.checkIntegrity() == [])
  }

  /// A batch from before names positions that other changes have now.
  @Test func aBatchFromBeforeIsNotAcknowledgedAfterwards() throws {
    let world = try CopyWorld(recordCount: 10)
    let consumer = try world.store.consumer("mail", startingAt: .end)
    let target = world.directory.file("backup.store")
    try world.store.backup(to: target)
    try world.writeSome(1)
    let batch = try #require(try consumer.next())
    try Store.restore(world.path, from: target)
    try batch.acknowledge()
    #expect(
      failure { try world.store.write { tx in try tx.acknowledge(batch) } }?.code == .conflict)
    try world.store.write { tx in try tx.insert(Artist(id: 77, name: "new")) }
    let next = try #require(try consumer.next())
    #expect(next.changes.map(\.key) == [[.integer(77)]])
  }

  /// Two restorations of one backup have different epochs.
  @Test func aBatchFromBetweenTwoRestorationsIsNotAcknowledgedAfterTheSecond() throws {
    let world = try CopyWorld(recordCount: 10)
    let consumer = try world.store.consumer("mail", startingAt: .end)
    let target = world.directory.file("backup.store")
    try world.store.backup(to: target)
    try Store.restore(world.path, from: target)
    try world.store.write { tx in try tx.insert(Artist(id: 77, name: "first")) }
    let batch = try #require(try consumer.next())
    try Store.restore(world.path, from: target)
    try world.store.write { tx in try tx.insert(Artist(id: 78, name: "second")) }
    try batch.acknowledge()
    #expect(try consumer.next()?.changes.map(\.key) == [[.integer(78)]])
    #expect(
      failure { try world.store.write { tx in try tx.acknowledge(batch) } }?.code == .conflict)
  }

  /// Otherwise a crash could leave the content of the backup with the earlier epochs.
  @Test func aRestorationIsOneTransaction() throws {
    let world = try CopyWorld(recordCount: 10)
    _ = try world.store.consumer("mail", startingAt: .end)
    let target = world.directory.file("backup.store")
    try world.store.backup(to: target)
    try world.writeSome(1)
    let before = try commitCount(inLogOf: world.path)
    try Store.restore(world.path, from: target)
    #expect(try commitCount(inLogOf: world.path) == before + 1)
  }

  /// In another process, the same positions are other changes after a restoration.
  @Test(OtherProcess.isNeeded, arguments: [false, true])
  func observersRefetchWhenAnotherProgramRestores(isWriteFirst: Bool) throws {
    let world = try CopyWorld(recordCount: 10)
    let target = world.directory.file("backup.store")
    try world.store.write { tx in try tx.update(Artist(id: 1, name: "of the backup")) }
    try world.store.backup(to: target)
    try world.store.undo()
    try world.store.write { tx in try tx.update(Artist(id: 2, name: "later")) }
    let end = try world.store.changeJournal.position()
    let byName = Artist.all.order { $0.name }
    let query = try world.store.liveQuery(byName)
    let before = query.keys(in: 0..<10)
    let other = try OtherProcess(
      """
      source, target = sqlite3.connect(sys.argv[1]), sqlite3.connect(sys.argv[2])
      source.backup(target)
      # As many entries as the store's own journal had, of other changes.
      while target.execute("SELECT max(position) FROM _ms_journal").fetchone()[0] < int(sys.argv[3]):
        target.execute("UPDATE Artist SET name = 'x' || name WHERE id = 3")
        target.commit()
      say("done")
      """, target, world.path, "\(end.rawValue)")
    #expect(other.line() == "done")
    try other.finish()
    if isWriteFirst {
      try world.store.write { tx in try tx.update(Artist(id: 10, name: "own")) }
    } else {
      try world.store.refresh()
    }
    #expect(query.keys(in: 0..<10) == (try world.store.fetch(byName).map { [.integer($0.id)] }))
    #expect(query.keys(in: 0..<10) != before)
  }

  @Test func aFileWithARollbackJournalIsRestored() throws {
    let world = try CopyWorld(recordCount: 10)
    let target = world.directory.file("backup.store")
    try world.store.backup(to: target)
    let hash = try world.store.contentHash()
    world.store.close()
    let path = world.directory.file("rollback.store")
    try Store.restore(path, from: target)
    var configuration = StoreConfiguration()
    configuration.journalMode = .asFound
    let store = try Store(
      at: path, models: Artist.self, Album.self, configuration: configuration)
    try store.write { tx in try tx.insert(Artist(id: 11, name: "more")) }
    #expect(
      failure { try Store.restore(path, from: world.path, configuration: configuration) }?.code
        == .unsupportedSchema)
    #expect(try store.fetch(Artist.all).count == 11)
    try Store.restore(path, from: target, configuration: configuration)
    #expect(try store.contentHash() == hash)
    #expect(try PlainDatabase(path).rows("PRAGMA journal_mode") == [[.text("delete")]])
  }

  /// The application opens the store again, which migrates the content.
  @Test func aBackupOfAnEarlierVersionIsUpdatedByTheNextOpening() throws {
    let directory = try TemporaryDirectory()
    let (path, target) = (directory.file("a.store"), directory.file("backup.store"))
    let earlier = try Store(at: path, models: Artist.self)
    try earlier.write { tx in try tx.insert(Artist(id: 1, name: "Nina")) }
    try earlier.backup(to: target)
    earlier.close()
    let store = try Store(at: path, models: Artist.self, Album.self)
    try store.write { tx in try tx.insert(Album(id: 1, title: "t", artistID: 1)) }
    try Store.restore(path, from: target)
    #expect(try store.fetch(Artist.all).map(\.name) == ["Nina"])
    #expect(failure { try store.fetch(Album.all) } != nil)
    store.close()
    let again = try Store(at: path, models: Artist.self, Album.self)
    #expect(try again.fetch(Album.all).isEmpty)
    #expect(try again.checkIntegrity() == [])
  }

  @Test(arguments: [false, true])
  func cancellingTheTaskLeavesTheEarlierContent(hasConsumers: Bool) async throws {
    let world = try CopyWorld()
    if hasConsumers { _ = try await world.store.consumer("mail", startingAt: .end) }
    let (path, target) = (world.path, world.directory.file("backup.store"))
    try await world.store.backup(to: target)
    try world.writeSome(1)
    let hash = try await world.store.contentHash()
    let isCopying = DispatchSemaphore(value: 0)
    let isCancelled = DispatchSemaphore(value: 0)
    let task = Task {
      try await Store.restore(path, from: target) { _, _ in
        isCopying.signal()
        isCancelled.wait()
      }
    }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        isCopying.wait()
        continuation.resume()
      }
    }
    task.cancel()
    for _ in 0..<10 { isCancelled.signal() }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await world.store.contentHash() == hash)
    #expect(try await world.store.checkIntegrity() == [])
  }
}

/// The number of commits in the log of a database: <https://sqlite.org/fileformat2.html#walformat>.
private func commitCount(inLogOf path: String) throws -> Int {
  let log = [UInt8](try Data(contentsOf: URL(filePath: path + "-wal")))
  let frameSize = 24 + 4096
  return stride(from: 32, to: log.count - frameSize + 1, by: frameSize).count { frame in
    log[frame + 8..<frame + 16] == log[16..<24] && log[frame + 4..<frame + 8].contains { $0 != 0 }
  }
}
