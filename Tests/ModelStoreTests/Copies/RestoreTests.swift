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
    #expect(failure { try batch.acknowledge() }?.code == .conflict)
    try world.store.write { tx in try tx.insert(Artist(id: 77, name: "new")) }
    let next = try #require(try consumer.next())
    #expect(next.changes.map(\.key) == [[.integer(77)]])
  }
}
