import Foundation
import Glibc
import Testing

@testable import ModelStore

/// Compacting frees space and changes nothing that a program sees.
@Suite(.tags(.process)) struct CompactTests {
  @Test func compactingShrinksTheFileAndKeepsEverything() throws {
    let world = try CopyWorld()
    try world.writeSome(1)
    let other = try PlainDatabase(world.path)
    try other.execute(
      "CREATE TABLE ballast(x); INSERT INTO ballast VALUES (zeroblob(1000000)); DROP TABLE ballast")
    let (hash, position) = (
      try world.store.contentHash(), try world.store.changeJournal.position()
    )
    let history = try world.store.changeJournal.transactions().map(\.id)
    #expect(try other.rows("SELECT count(*) FROM Artist") == [[.integer(9000)]])
    let sizes = try world.store.compact()
    #expect(sizes.byteCountAfter <= sizes.byteCountBefore - 1_000_000)
    var status = stat()
    #expect(lstat(world.path, &status) == 0 && Int64(status.st_size) == sizes.byteCountAfter)
    #expect(try world.store.contentHash() == hash)
    #expect(try world.store.changeJournal.position() == position)
    #expect(try world.store.changeJournal.transactions().map(\.id) == history)
    #expect(try world.store.checkIntegrity() == [])
    #expect(try world.store.schemaDrift() == [])
    #expect(try world.store.adoptableTables() == [])
    // Both go on.
    try world.writeSome(2)
    try other.execute("UPDATE Artist SET name = 'foreign' WHERE id = 1")
    #expect(try world.store.find(Album.self, 1)?.artistName == "renamed by 1")
    #expect(try world.store.find(Artist.self, 1)?.name == "foreign")
    #expect(try world.store.undo() != nil)
    world.store.close()
    #expect(try Store(at: world.path, models: Artist.self, Album.self).checkIntegrity() == [])
  }

  @Test func observersRefetchAfterCompacting() throws {
    let world = try CopyWorld(recordCount: 10)
    let query = try world.store.liveQuery(Artist.all)
    try world.store.compact()
    try world.store.write { tx in try tx.insert(Artist(id: 11, name: "later")) }
    #expect(query.count == 11)
  }

  /// Compacting itself refetches: no later commit and no look at the file is needed.
  @Test func compactingResetsObserversBeforeItReturns() throws {
    let world = try CopyWorld(recordCount: 10)
    let query = try world.store.liveQuery(Artist.all)
    let resets = Recorder<Bool>()
    let token = try query.observe { changes in resets.add(changes.isReset) }
    try world.store.compact()
    world.store.waitForDelivery()
    #expect(resets.events.first == true, "\(resets.events)")
    withExtendedLifetime(token) {}
  }

  @Test func consumersAndObserversGoOnAfterCompacting() throws {
    let world = try CopyWorld(recordCount: 3000)
    let consumer = try world.store.consumer("mail", startingAt: .end)
    let query = try world.store.liveQuery(Album.all.order { $0.title })
    let titles = Recorder<[String]>()
    let token = try query.observe { changes in
      titles.add(changes.isReset ? ["reset"] : changes.insertions.map(\.record.title))
    }
    try world.writeSome(1)
    let batch = try #require(try consumer.next())
    world.store.waitForDelivery()
    #expect(titles.taken() == [["title 1"]])
    try world.store.compact()
    // A batch that was read before is still the same changes.
    try world.store.write { tx in try tx.acknowledge(batch) }
    try world.writeSome(2)
    world.store.waitForDelivery()
    #expect(titles.events.last == ["title 2"], "\(titles.events)")
    #expect(query.count == 2)
    let next = try #require(try consumer.next())
    #expect(Set(next.changes.map(\.model)) == ["Album", "Artist"])
    #expect(Set(next.changes.filter { $0.model == "Album" }.map(\.key)) == [[.integer(2)]])
    withExtendedLifetime(token) {}
  }

  @Test func rowNumbersThatAreKeysAreKept() throws {
    let world = try AdoptedListWorld(.keyless, entries: [(1, "1"), (2, "2"), (3, "3")])
    func entries() throws -> [[SQLValue]] {
      try world.shell.rows("SELECT rowid, TrackId FROM Entry ORDER BY 1")
    }
    let before = try entries()
    // Without gaps the numbers stay the same.
    try world.store.compact()
    #expect(try entries() == before)
    try world.shell.execute("DELETE FROM Entry WHERE rowid = 1")
    let error = failure { try world.store.compact() }
    #expect(error?.code == .conflict && error?.message.contains("Entry") == true, "\(error as Any)")
    #expect(try entries() == Array(before.dropFirst()))
  }

  @Test func rowsOfAFullTextTableKeepTheirNumbers() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("text.db")
    try PlainDatabase(path).execute(
      """
      CREATE TABLE page(title TEXT PRIMARY KEY, body TEXT);
      CREATE VIRTUAL TABLE search USING fts5(body, content='page');
      INSERT INTO page VALUES ('a', 'one'), ('b', 'two');
      INSERT INTO search(search) VALUES ('rebuild');
      DELETE FROM page WHERE title = 'a';
      """)
    let store = try Store(at: path)
    #expect(failure { try store.compact() }?.code == .conflict)
  }

  @Test func aStoreInMemoryIsCompacted() throws {
    let store = try Store.inMemory(models: Artist.self)
    let name = String(repeating: "n", count: 100)
    try store.write { tx in
      for id in 1...Int64(2000) { try tx.insert(Artist(id: id, name: name)) }
    }
    try store.write { tx in _ = try tx.delete(Artist.where { $0.id > 10 }) }
    let hash = try store.contentHash()
    let sizes = try store.compact()
    #expect(sizes.byteCountAfter < sizes.byteCountBefore)
    #expect(try store.contentHash() == hash)
    #expect(try store.checkIntegrity() == [])
  }

  @Test func compactingInsideAWriteIsRefused() throws {
    let world = try CopyWorld(recordCount: 10)
    try world.store.write { _ in
      #expect(failure { try world.store.compact() }?.code == .misuse)
    }
    var reading = StoreConfiguration()
    reading.access = .readOnly
    world.store.close()
    let store = try Store(at: world.path, configuration: reading)
    #expect(failure { try store.compact() }?.code == .readOnly)
  }
}
