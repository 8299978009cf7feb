import Foundation
import ModelStoreTesting
import Testing

@testable import ModelStore

/// A store in memory does what a store on a file does.
@Suite(.tags(.unit)) struct StoreInMemoryTests {
  private static let copiedName = FieldBinding.copy(
    \Artist.name, to: \Album.artistName, through: \Album.artistID)

  private static func music(
    validators: [Validator] = [], _ configure: (inout StoreConfiguration) -> Void = { _ in }
  ) throws -> Store {
    var configuration = StoreConfiguration()
    configure(&configuration)
    return try Store.inMemory(
      models: Artist.self, Album.self, bindings: [copiedName], validators: validators,
      configuration: configuration)
  }

  // Transactions

  @Test func aReaderSeesOneStateWhileTheWriterCommits() throws {
    let store = try Self.music()
    try store.write { tx in try tx.insert(Artist(id: 1, name: "Nina")) }
    try store.read { reads in
      #expect(try reads.count(Artist.all) == 1)
      try store.write { tx in
        try tx.insert(Artist(id: 2, name: "Miles"))
        #expect(try store.read { try $0.count(Artist.all) } == 1)
      }
      #expect(try reads.count(Artist.all) == 1)
    }
    #expect(try store.fetch(Artist.all).map(\.name) == ["Nina", "Miles"])
    #expect(store.usesWriteAheadLog)
  }

  @Test func everySnapshotIsWholeWhileThreadsReadAndLogsBeginAgain() async throws {
    let store = try Self.music { $0.checkpointFrameCount = 8 }
    try await store.write { tx in
      for id in 1...20 { try tx.insert(Artist(id: Int64(id), name: "0")) }
    }
    try await withThrowingTaskGroup { group in
      for _ in 1...3 {
        group.addTask {
          for _ in 1...200 {
            let names = try await store.read { reads in
              Set(try reads.fetch(Artist.all).map(\.name))
            }
            #expect(names.count == 1)
          }
        }
      }
      for round in 1...200 {
        try await store.write { tx in
          for id in 1...20 { try tx.set(\Artist.name, to: "\(round)", for: Int64(id)) }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await store.checkIntegrity() == [])
    #expect(Set(try await store.fetch(Artist.all).map(\.name)) == ["200"])
  }

  @Test func aWriteThatThrowsChangesNothing() throws {
    let store = try Self.music()
    struct Refusal: Error {}
    #expect(throws: Refusal.self) {
      try store.write { tx in
        try tx.insert(Artist(id: 1, name: "Nina"))
        throw Refusal()
      }
    }
    let preview = try store.preview { tx in try tx.insert(Artist(id: 1, name: "Miles")) }
    #expect(preview.changes.changes.map(\.operation) == [.insert])
    #expect(try store.fetch(Artist.all) == [])
  }

  @Test func transactionsAndStatementsLargerThanTheCacheAreWhole() throws {
    let store = try Self.music { $0.cacheSize = 64 * 1024 }
    let name = String(repeating: "x", count: 100)
    let ids = Int64(1)...2000
    try store.write { tx in
      for id in ids { try tx.insert(Artist(id: id, name: name)) }
    }
    struct Refusal: Error {}
    #expect(throws: Refusal.self) {
      try store.write { tx in
        for id in ids { try tx.set(\Artist.name, to: "y", for: id) }
        throw Refusal()
      }
    }
    // The last row breaks the length rule, so SQLite takes the rows before it back.
    try store.write { tx in
      var refused: StoreError?
      do {
        try tx.execute("UPDATE Artist SET name = CASE id WHEN 2000 THEN '' ELSE name || 'y' END")
      } catch let error as StoreError {
        refused = error
      }
      #expect(refused?.code == .rejected)
    }
    #expect(try store.fetch(Artist.all) == ids.map { Artist(id: $0, name: name) })
    #expect(try store.checkIntegrity() == [])
  }

  // Rules

  @Test func rulesBindingsAndValidatorsHold() throws {
    let noBlue = Validator("Album.noBlue", Album.self) { change, _ in
      change.new?.title == "Blue" ? .reject("is taken", \.title) : .accept
    }
    let store = try Self.music(validators: [noBlue])
    try store.write { tx in
      try tx.insert(Artist(id: 1, name: "Miles"))
      try tx.insert(Album(id: 1, title: "Aura", artistID: 1))
    }
    try store.write { tx in try tx.set(\Artist.name, to: "Miles Davis", for: 1) }
    #expect(try store.find(Album.self, 1)?.artistName == "Miles Davis")
    let refused = failure { try store.write { tx in try tx.set(\Album.title, to: "", for: 1) } }
    #expect(refused?.violations.map(\.rule) == ["Album.title.length"])
    let rejected = failure {
      try store.write { tx in try tx.set(\Album.title, to: "Blue", for: 1) }
    }
    #expect(rejected?.violations.map(\.rule) == ["Album.noBlue"])
    try store.add(
      .condition("Artist.name.short", of: Artist.self, "length(name) < 20", "is long"))
    let long = failure {
      try store.write { tx in
        try tx.set(\Artist.name, to: String(repeating: "x", count: 30), for: 1)
      }
    }
    #expect(long?.violations.map(\.rule) == ["Artist.name.short"])
    #expect(try store.schemaDrift() == [])
  }

  @Test func draftsAndGatesFollowTheStore() throws {
    let store = try Self.music()
    try store.write { tx in try tx.insert(Artist(id: 1, name: "Nina")) }
    let draft = LiveDraft(Album(id: 1, title: ""))
    let gate = try Gate(
      GateCheck("title", of: draft, \.title, "must not be empty") { !$0.isEmpty },
      try store.check("name", \Artist.name, of: 1, "is wrong") { $0 == "Nina" })
    #expect(try gate.validate().isValid == false)
    draft.value.title = "Aura"
    #expect(try gate.validate().isValid)
    try store.write { tx in try tx.set(\Artist.name, to: "Miles", for: 1) }
    store.waitForDelivery()
    #expect(gate.latest?.isValid == false)
  }

  // Observation

  @Test func fieldsRecordsModelsAndQueriesAreObserved() throws {
    let store = try Self.music()
    try store.write { tx in try tx.insert(Artist(id: 1, name: "Miles")) }
    let name = try store.recorder(of: \Album.artistName, of: 1)
    let artist = try store.recorder(of: Artist.self, key: 1)
    let albums = try store.recorder(of: Album.self)
    let titles = try store.recorder(of: Album.all.order { $0.title })
    let blue = Album(id: 1, title: "Blue", artistID: 1, artistName: "Miles")
    let aura = Album(id: 2, title: "Aura")
    try store.write { tx in try tx.insert(blue) }
    try store.write { tx in
      try tx.set(\Artist.name, to: "Davis", for: 1)
      try tx.insert(aura)
    }
    var renamed = blue
    renamed.artistName = "Davis"
    let origin = Origin.binding("Album.artistName")
    #expect(
      name.takeAll() == [
        RecordedChange(new: "Miles", origin: .user),
        RecordedChange(old: "Miles", new: "Davis", origin: origin),
      ])
    #expect(
      artist.takeAll() == [
        RecordedChange(old: Artist(id: 1, name: "Miles"), new: Artist(id: 1, name: "Davis"))
      ])
    #expect(
      albums.takeAll() == [
        [RecordedChange(new: blue)],
        [RecordedChange(old: blue, new: renamed, origin: origin), RecordedChange(new: aura)],
      ])
    #expect(
      titles.takeAll() == [
        [.inserted(blue, at: 0)], [.inserted(aura, at: 0), .updated(renamed, at: 1)],
      ])
  }

  @Test func subjectsAndLiveRecordsFollow() throws {
    let store = try Self.music()
    try store.write { tx in try tx.insert(Artist(id: 1, name: "Miles")) }
    let record = try store.liveRecord(Artist.self, 1)
    let subject = try store.subject(\Artist.name, of: 1)
    let names = EventRecorder<String>(store)
    let subscription = try subject.stream.subscribe { names.record($0) }
    #expect(names.takeAll() == [])
    try subject.send("Davis")
    #expect(names.takeAll() == ["Davis"])
    #expect(record.name == "Davis")
    subscription.cancel()
  }

  @Test func orderedListsKeepTheirOrder() throws {
    let store = try Store.inMemory(models: Artist.self, Band.self)
    let kinds = EventRecorder<[String]>(store)
    let subscription = try store.observe(list: \Band.members, of: 1) { changes in
      kinds.record((changes.operations ?? []).map { "\($0.kind)" })
    }
    try store.write { tx in
      for id in 1...3 { try tx.insert(Artist(id: Int64(id), name: "\(id)")) }
      try tx.insert(Band(id: 1))
      try tx.list(\Band.members, of: 1).append(contentsOf: [1, 2, 3])
    }
    try store.write { tx in try tx.list(\Band.members, of: 1).move(from: 2, to: 0) }
    #expect(kinds.takeAll().last == ["move"])
    #expect(try store.read { try $0.keys(of: \Band.members, of: 1) } == [3, 1, 2])
    subscription.cancel()
  }

  // The change journal

  @Test func theJournalHasHistoryUndoAndConsumers() throws {
    let store = try Self.music { $0.changeJournal = .full }
    let consumer = try store.consumer("index", startingAt: .start)
    let start = try store.changeJournal.position()
    try store.write { tx in
      tx.sign(author: "ann")
      try tx.insert(Artist(id: 1, name: "Nina"))
    }
    let before = try store.changeJournal.position()
    try store.write { tx in try tx.set(\Artist.name, to: "Miles", for: 1) }
    #expect(try store.find(Artist.self, 1, at: before)?.name == "Nina")
    let authors = try store.changeJournal.transactions(after: start).map(\.author)
    #expect(authors == ["ann", nil])
    try store.undo()
    #expect(try store.find(Artist.self, 1)?.name == "Nina")
    try store.redo()
    #expect(try store.find(Artist.self, 1)?.name == "Miles")
    let batch = try #require(try consumer.next())
    #expect(batch.changes.map(\.operation) == [.insert, .update, .update, .update])
    try batch.acknowledge()
    #expect(try consumer.lag == 0)
  }

  @Test(.timeLimit(.minutes(30))) func aWaitingConsumerIsWokenByACommit() async throws {
    let store = try Self.music { $0.changeJournal = .full }
    let consumer = try await store.consumer("index")
    let operations = EventRecorder<[RecordChange.Operation]>(store)
    let reading = Task {
      for try await batch in consumer.batches() {
        operations.record(batch.changes.map(\.operation))
        try await batch.acknowledge()
      }
    }
    try await store.write { tx in try tx.insert(Artist(id: 1, name: "Nina")) }
    #expect(try await operations.next() == [.insert])
    try await store.write { tx in try tx.delete(Artist.self, 1) }
    #expect(try await operations.next() == [.delete])
    await store.close()
    _ = await reading.result
  }

  // Upkeep

  @Test func checkpointsAndHashesAreThoseOfAStoreOnAFile() throws {
    let directory = try TemporaryDirectory()
    let memory = try Store.inMemory(models: Artist.self)
    let file = try Store(at: directory.file("music.store"), models: Artist.self)
    for store in [memory, file] {
      try store.write { tx in try tx.insert(Artist(id: 1, name: "Nina")) }
      try store.checkpoint()
    }
    let hash = try file.read { try $0.contentHash() }
    #expect(try memory.read { try $0.contentHash() } == hash)
    try memory.write { tx in try tx.delete(Artist.self, 1) }
    #expect(try memory.read { try $0.contentHash() } != hash)
  }

  // Opening

  @Test func storesOfTheSameModelsAreIndependent() async throws {
    let counts = try await withThrowingTaskGroup { group in
      for number in 1...8 {
        group.addTask {
          let store = try Self.music()
          try await store.write { tx in
            for id in 1...number { try tx.insert(Artist(id: Int64(id), name: "\(number)")) }
          }
          return try await store.fetch(Artist.all).map(\.name)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(
      counts.sorted { $0.count < $1.count }
        == (1...8).map { Array(repeating: "\($0)", count: $0) })
  }

  @Test func modelsMayBeAnArray() throws {
    let models: [any Model.Type] = [Artist.self, Album.self]
    let store = try Store.inMemory(models: models, bindings: [Self.copiedName])
    #expect(store.schema.models.map(\.name).sorted() == ["Album", "Artist"])
  }

  @Test func migrationsAreApplied() throws {
    let table = Migration(version: 1, name: "tally", sql: "CREATE TABLE tally (count INTEGER)")
    let store = try Store.inMemory(models: Artist.self, migrations: [table])
    #expect(try store.read { try $0.rows("SELECT count(*) FROM tally") }.count == 1)
  }

  @Test func closingFreesTheMemory() throws {
    let store = try Self.music()
    try store.write { tx in try tx.insert(Artist(id: 1, name: "Nina")) }
    let path = store.path
    #expect(path.hasPrefix(":memory:"))
    weak let database = MemoryDatabase.find(path)?.database
    #expect(database != nil)
    store.close()
    #expect(database == nil)
    #expect(MemoryDatabase.find(path) == nil)
    #expect(failure { try store.fetch(Artist.all) }?.code == .misuse)
  }

  @Test func droppingTheStoreFreesTheMemory() throws {
    var store: Store? = try Self.music()
    let path = try #require(store?.path)
    #expect(MemoryDatabase.find(path) != nil)
    store = nil
    #expect(MemoryDatabase.find(path) == nil)
  }

  @Test func nothingIsWatchedAndNoFileIsCreated() throws {
    let store = try Self.music { $0.changeJournal = .full }
    let artists = try store.recorder(of: Artist.self)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "Nina")) }
    #expect(artists.takeAll() == [[RecordedChange(new: Artist(id: 1, name: "Nina"))]])
    #expect(!store.engine.foreignSync.signal.isListening)
    let files = ["", "-wal", "-shm", "-journal", "-reserve"].map { store.path + $0 }
    #expect(files.filter { FileManager.default.fileExists(atPath: $0) } == [])
  }

  @Test(arguments: [
    ":memory:", ":memory:7", "file::memory:", "file::memory:?cache=shared",
    "file:music?mode=memory&cache=shared", "file:/music?vfs=memdb",
  ])
  func aPathThatNamesMemoryIsRefusedWithTheWayToOpenOne(path: String) {
    let refused = failure { try Store(at: path, models: Artist.self) }
    #expect(refused?.code == .unsafeLocation)
    #expect(refused?.message.contains("Store.inMemory") == true)
  }

  @Test func aStoreThatMayOnlyReadIsRefused() {
    let refused = failure { try Self.music { $0.access = .readOnly } }
    #expect(refused?.code == .configurationConflict)
  }
}

private struct Band: Model {
  var id: Int64
  var members = OrderedList<Artist>()

  static let definition = ModelDefinition<Band>(
    "Band", key: \.id, fields: [.init("id", \.id)], lists: [.init("members", \.members)])

  var key: Int64 { id }

  init(id: Int64) { self.id = id }
  init(row: borrowing RowView) throws { id = try row.decode(at: 0) }
  func encode(to arguments: inout ArgumentWriter) throws { try id.encode(to: &arguments, at: 0) }
}
