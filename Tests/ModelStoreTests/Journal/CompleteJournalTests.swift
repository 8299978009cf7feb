import Testing

@testable import ModelStore

/// A journal that has every change since its models were declared has no gap at its beginning. A
/// journal that may lack changes has one.
@Suite(.tags(.unit)) struct CompleteJournalTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("music.store")
  }

  private func open(
    _ models: [any Model.Type] = [Artist.self], migrations: [Migration] = [],
    journal: JournalDetail? = .full
  ) throws -> Store {
    try Store(
      at: path, models: models, migrations: migrations,
      configuration: StoreConfiguration(changeJournal: journal))
  }

  private func insert(_ id: Int64, in store: Store) throws {
    try store.write { tx in try tx.insert(Artist(id: id, name: "a")) }
  }

  /// What a new consumer receives from the start, as text.
  private func start(_ store: Store) throws -> [String] {
    let batch = try store.consumer("index", startingAt: .start).next()
    let changes = batch?.changes.map { "\($0.operation) \($0.model) \($0.key[0])" } ?? []
    return (batch?.reset.map { ["\($0)"] } ?? []) + changes
  }

  @Test func aFreshFileHasNoGap() throws {
    let store = try open()
    try insert(1, in: store)
    #expect(try store.changeJournal.transactions().flatMap(\.gaps) == [])
    #expect(try start(store) == ["insert Artist 1"])
  }

  @Test func aConsumerOfAFreshFileHasNothingToDo() throws {
    let store = try open()
    let consumer = try store.consumer("index", startingAt: .start)
    #expect(try consumer.next()?.reset == nil)
    #expect(try consumer.lag == 0)
    try insert(1, in: store)
    let batch = try #require(try consumer.next())
    #expect(try consumer.lag == batch.end.rawValue)
    try batch.acknowledge()
    #expect(try consumer.lag == 0)
    #expect(try consumer.next()?.reset == nil)
  }

  @Test func aFreshFileWithMigrationsHasNoGap() throws {
    let index = Migration(version: 1, name: "names", sql: "CREATE INDEX names ON Artist (name)")
    let store = try open(migrations: [index])
    try insert(1, in: store)
    #expect(try start(store) == ["insert Artist 1"])
  }

  @Test func aFreshStoreInMemoryHasNoGap() throws {
    let store = try Store.inMemory(
      models: Artist.self, configuration: StoreConfiguration(changeJournal: .keys))
    try insert(1, in: store)
    #expect(try start(store) == ["insert Artist 1"])
  }

  @Test func aModelThatIsAddedBeforeTheFirstChangeHasNoGap() throws {
    try open().close()
    let store = try open([Artist.self, Album.self])
    try store.write { tx in
      try tx.insert(Artist(id: 1, name: "a"))
      try tx.insert(Album(id: 2, title: "b"))
    }
    #expect(try start(store) == ["insert Artist 1", "insert Album 2"])
  }

  @Test func recordsBeforeTheJournalAreAGap() throws {
    let first = try open(journal: nil)
    try insert(1, in: first)
    first.close()
    let store = try open()
    try insert(2, in: store)
    #expect(try start(store) == ["gap(models: [\"Artist\"])", "insert Artist 2"])
  }

  @Test func recordsThatWereDeletedBeforeTheJournalAreAGap() throws {
    let first = try open(journal: nil)
    try insert(1, in: first)
    try first.write { tx in try tx.delete(Artist.self, 1) }
    first.close()
    let store = try open()
    try insert(2, in: store)
    #expect(try start(store) == ["gap(models: [\"Artist\"])", "insert Artist 2"])
  }

  @Test func recordsOfAMigrationAreAGap() throws {
    let seeds = Migration(
      version: 1, name: "seeds", sql: "INSERT INTO Artist VALUES (1, 'a')", onFreshFiles: .run)
    let store = try open(migrations: [seeds])
    try insert(2, in: store)
    #expect(try start(store) == ["gap(models: [\"Artist\"])", "insert Artist 2"])
  }

  @Test func aModelThatIsAddedAfterChangesHasAGap() throws {
    let first = try open()
    try insert(1, in: first)
    first.close()
    let store = try open([Artist.self, Album.self])
    try store.write { tx in try tx.insert(Album(id: 2, title: "b")) }
    #expect(
      try start(store) == ["gap(models: [\"Album\"])", "insert Artist 1", "insert Album 2"])
  }

  @Test func aModelThatIsAddedBesideAConsumerHasAGap() throws {
    let first = try open()
    let name = try first.consumer("old").name
    first.close()
    let store = try open([Artist.self, Album.self])
    try store.write { tx in try tx.insert(Album(id: 2, title: "b")) }
    #expect(try store.consumer(name).next()?.reset == .gap(models: ["Album"]))
  }

  @Test func theStateBeforeTheJournalIsUnknownAlsoWithoutAGap() throws {
    let store = try open()
    try insert(1, in: store)
    #expect(failure { try store.fetch(Artist.all, at: .start) }?.code == .journalGap)
  }

  @Test func aJournalThatWasOffHasAGap() throws {
    let store = try open()
    try store.changeJournal.disable()
    try store.changeJournal.enable()
    try insert(1, in: store)
    #expect(try start(store) == ["gap(models: [\"Artist\"])", "insert Artist 1"])
  }
}
