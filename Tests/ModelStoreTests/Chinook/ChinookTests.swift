import Foundation
import Synchronization
import Testing

@testable import ModelStore

/// Where the database lies, beside the project.
enum ChinookFile {
  static let source = (0..<5).reduce(URL(filePath: #filePath)) { url, _ in
    url.deletingLastPathComponent()
  }.appending(path: "shared/data/chinook.sqlite")

  static var isPresent: Bool { FileManager.default.fileExists(atPath: source.path()) }
}

/// The store at work on a database from outside this project.
@Suite(
  .tags(.law),
  .enabled("needs shared/data/chinook.sqlite beside the project") { ChinookFile.isPresent })
struct ChinookTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("chinook.sqlite")
    try FileManager.default.copyItem(atPath: ChinookFile.source.path(), toPath: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  /// A list kept by events alone.
  private final class Kept: Sendable {
    let list: Mutex<[DynamicRecord]>
    let resets = Recorder<UInt64>()

    init(_ list: [DynamicRecord]) { self.list = Mutex(list) }

    func follow(_ changes: QueryChanges<DynamicRecord>) {
      if changes.isReset { resets.add(changes.newVersion) }
      list.withLock { changes.apply(to: &$0) }
    }
  }

  @Test(arguments: [7 as UInt64])
  func aLiveQueryFollowsTenThousandRandomWrites(seed: UInt64) throws {
    var configuration = StoreConfiguration()
    configuration.durability = .normal
    let store = try Store(at: path, configuration: configuration)
    let models = try store.adopt()
    #expect(models.count == 11)
    let schema = try #require(models.first { $0.name == "Track" })
    let name = try #require(schema.fieldIndex(named: "Name"))
    let length = try #require(schema.fieldIndex(named: "Milliseconds"))
    let query = StoreQuery<DynamicRecord>(
      schema, where: .comparison(.field(length), .greater, .value(.integer(200_000))),
      orderings: [QueryOrdering(fieldIndex: name)])
    let sql = "FROM Track WHERE Milliseconds > 200000 ORDER BY Name, TrackId"
    let database = try PlainDatabase(path)
    let live = try store.liveQuery(query)
    let kept = Kept(try store.fetch(query))
    let subscription = try live.observe { kept.follow($0) }
    var writes = RandomTracks(seed: seed)
    var count = 0
    var commits = 0
    while count < 10_000 {
      let batch = writes.chance(1, of: 2) ? 1 : 20
      try store.write { tx in
        for _ in 0..<batch { try writes.run(in: tx) }
      }
      count += batch
      commits += 1
      store.waitForDelivery()
      let ids = try database.rows("SELECT TrackId \(sql)")
      let list = kept.list.withLock { $0 }
      guard list.map({ [$0.values[0]] }) == ids, live.count == ids.count else {
        Issue.record("seed \(seed): commit \(commits) is reported incorrectly")
        return
      }
      if commits % 50 == 0 || count >= 10_000 {
        #expect(list.map(\.values) == (try database.rows("SELECT * \(sql)")))
        #expect(live.keys(in: 0..<Int.max) == ids)
      }
    }
    #expect(kept.resets.events == [])
    subscription.cancel()
    store.close()
    #expect(try database.rows("PRAGMA integrity_check") == [[.text("ok")]])
  }

  @Test func aBoundFieldFollowsTheLibraryAndTheShell() throws {
    let store = try Store(at: path)
    try store.write { tx in try tx.execute("ALTER TABLE Album ADD COLUMN ArtistName NVARCHAR(120)")
    }
    try store.adopt()
    _ = try Store(
      at: path,
      bindings: [.copy(from: "Artist.Name", to: "Album.ArtistName", through: "Album.ArtistId")])
    let database = try PlainDatabase(path)
    let drift = """
      SELECT count(*) FROM Album JOIN Artist USING (ArtistId) WHERE ArtistName IS NOT Name
      """
    #expect(try database.rows(drift) == [[.integer(0)]])

    let album = try #require(store.schema.models.first { $0.name == "Album" })
    let bound = try #require(album.fieldIndex(named: "ArtistName"))
    let query = StoreQuery<DynamicRecord>(album, orderings: [QueryOrdering(fieldIndex: bound)])
    let live = try store.liveQuery(query)
    let kept = Kept(try store.fetch(query))
    let subscription = try live.observe { kept.follow($0) }
    let changes = try store.writeReturningChanges { tx in
      try tx.execute("UPDATE Artist SET Name = 'Zappa' WHERE ArtistId = 1")
    }.changes.changes
    #expect(
      changes.map(\.line) == [
        "update Artist 1 (Name: 'AC/DC' → 'Zappa' user)",
        "update Album 1 (ArtistName: 'AC/DC' → 'Zappa' binding:Album.ArtistName)",
        "update Album 4 (ArtistName: 'AC/DC' → 'Zappa' binding:Album.ArtistName)",
      ])
    store.waitForDelivery()
    #expect(kept.list.withLock { $0 } == (try store.fetch(query)))

    #expect(try Self.shell(path, "UPDATE Artist SET Name = 'Aardvark' WHERE ArtistId = 1") == 0)
    try store.refresh()
    store.waitForDelivery()
    #expect(kept.resets.events.count == 1)
    #expect(try database.rows(drift) == [[.integer(0)]])
    #expect(live.keys(in: 0..<Int.max) == (try store.fetch(query).map(\.key)))
    #expect(live.keys(in: 0..<2) == [[.integer(1)], [.integer(4)]])
    subscription.cancel()
  }

  @Test func aViolatingUpdateIsRefusedToTheLibraryAndTheShell() throws {
    let store = try Store(at: path)
    try store.adopt()
    let database = try PlainDatabase(path)
    let before = try database.rows("SELECT * FROM Track ORDER BY TrackId")
    let violating =
      "UPDATE Track SET Name = CASE WHEN TrackId < 9 THEN 'changed' END WHERE TrackId < 10"
    let error = failure {
      try store.write { tx in try tx.execute(SQLText(sql: violating)) }
    }
    #expect(error?.code == .rejected)
    #expect(error?.violations.map(\.kind) == [.required])
    #expect(error?.violations.map(\.fields) == [["Name"]])
    #expect(try Self.shell(path, violating) != 0)
    #expect(try database.rows("SELECT * FROM Track ORDER BY TrackId") == before)
    let dangling = failure {
      try store.write { tx in try tx.execute("DELETE FROM Artist WHERE ArtistId = 1") }
    }
    #expect(dangling?.violations.map(\.kind) == [.reference])
  }

  /// The exit status of `sqlite3 path statement`.
  private static func shell(_ path: String, _ statement: String) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["sqlite3", path, statement]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}

/// Random writes to the table Track: renamings, lengths on both sides of a filter, deletions of
/// what nothing refers to, insertions, evictions and changed keys.
private struct RandomTracks {
  private var generator: SeededGenerator
  private var nextID: Int64 = 10_000

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
  }

  mutating func chance(_ part: Int, of whole: Int) -> Bool {
    Int.random(in: 0..<whole, using: &generator) < part
  }

  mutating func run(in tx: borrowing WriteTransaction) throws {
    let old = Int64.random(in: 1...3503, using: &generator)
    let own = Int64.random(in: 10_000...max(10_000, nextID), using: &generator)
    let any = chance(1, of: 2) ? old : own
    let name = name()
    let length = Int64.random(in: 100_000...300_000, using: &generator)
    switch Int.random(in: 0..<10, using: &generator) {
    case 0...2: try tx.execute("UPDATE Track SET Name = \(name) WHERE TrackId = \(any)")
    case 3...4: try tx.execute("UPDATE Track SET Milliseconds = \(length) WHERE TrackId = \(any)")
    case 5: try tx.execute("UPDATE Track SET Composer = \(name) WHERE TrackId = \(any)")
    case 6...7:
      nextID += 1
      try tx.execute(
        """
        INSERT INTO Track (TrackId, Name, MediaTypeId, Milliseconds, UnitPrice)
        VALUES (\(nextID), \(name), 1, \(length), 1)
        """)
    case 8:
      try tx.execute(
        """
        REPLACE INTO Track (TrackId, Name, MediaTypeId, Milliseconds, UnitPrice)
        VALUES (\(own), \(name), 2, \(length), 0.99)
        """)
    default:
      if chance(1, of: 2) {
        try tx.execute("DELETE FROM Track WHERE TrackId = \(own)")
      } else {
        nextID += 1
        try tx.execute("UPDATE Track SET TrackId = \(nextID) WHERE TrackId = \(own)")
      }
    }
  }

  private mutating func name() -> String {
    let letters = "abcdefghijkl ABCDEFÉé'%_"
    return String(
      (0..<Int.random(in: 1...12, using: &generator)).compactMap { _ in
        letters.randomElement(using: &generator)
      })
  }
}
