import Testing

@testable import ModelStore

/// What a transaction costs in statements compiled: a figure that no machine changes.
@Suite(.tags(.unit)) struct StatementCountTests {
  @Test func aRepeatedWritePreparesNoStatement() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("count.store"), models: Artist.self)
    func write(_ id: Int64) throws -> Int {
      try store.write { tx in
        try tx.insert(Artist(id: id, name: "new"))
        try tx.update(Artist(id: id, name: "old"))
      }
      return try store.engine.connections.writer.sync { $0.connection.preparedCount }
    }
    let first = try write(1)
    #expect(try (2...20).map { try write($0) } == Array(repeating: first, count: 19))
  }

  /// The number of statements that a write runs on the store's connection.
  private func cost(of store: Store, _ write: () throws -> Void) throws -> Int {
    let count = { try store.engine.connections.writer.sync { $0.connection.statementCount } }
    let before = try count()
    try write()
    return try count() - before
  }

  @Test func aWriteAsksForOthersCommitsOnlyIfTheFileHasChanged() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("count.store")
    let store = try Store(at: path, models: Artist.self)
    try store.write { try $0.insert(Artist(id: 1, name: "a")) }
    let other = try PlainDatabase(path)
    func update() throws -> Int {
      try cost(of: store) { try store.write { try $0.update(Artist(id: 1, name: "b")) } }
    }
    // BEGIN, UPDATE and COMMIT; after another's commit also the versions of schema and data.
    #expect(try (1...3).map { _ in try update() } == [3, 3, 3])
    try other.execute("UPDATE Artist SET name = 'theirs'")
    #expect(try update() > 3)
    #expect(try update() == 3)
    // A transaction that is rolled back, and one of the store's upkeep, hide nothing.
    _ = try store.preview { try $0.update(Artist(id: 1, name: "c")) }
    try other.execute("CREATE TABLE theirs (a)")
    #expect(try update() > 5)
    #expect(
      try store.engine.connections.writer.sync { try $0.knowsSchema() })
    #expect(try update() == 3)
  }

  /// In memory, so that no poll for other processes is counted.
  @Test func aCommitThatConcernsNoObserverReadsNothing() throws {
    let store = try Store.inMemory(models: Artist.self)
    let heard = Recorder<String?>()
    try store.write { tx in
      try tx.insert(Artist(id: 1, name: "a"))
      try tx.insert(Artist(id: 2, name: "b"))
    }
    let subscription = try store.observe(\Artist.name, of: 1) { heard.add($0.new) }
    func update(_ id: Int64, _ name: String) throws -> Int {
      try cost(of: store) { try store.write { try $0.update(Artist(id: id, name: name)) } }
    }
    _ = try update(2, "c")
    #expect(try update(2, "d") == 3)
    // The record as it is in the end.
    _ = try update(1, "e")
    #expect(try update(1, "f") == 3)
    // The same value again is no change.
    #expect(try update(1, "f") == 3)
    store.waitForDelivery()
    #expect(heard.events == ["e", "f"])
    withExtendedLifetime(subscription) {}
  }

  /// A window reads the rows that enter it, in the state of the commit that it is notified of.
  @Test func onlyAnObserverThatReadsTheFileKeepsTheStateOfACommit() throws {
    let store = try Store.inMemory(models: Artist.self)
    let heard = Recorder<String>()
    try store.write { tx in
      for id in 1...3 { try tx.insert(Artist(id: Int64(id), name: "\(id)")) }
    }
    func update(_ name: String) throws -> Int {
      try cost(of: store) { try store.write { try $0.update(Artist(id: 1, name: name)) } }
    }
    let live = try store.liveQuery(Artist.all.order { $0.name }).observe { event in
      heard.add("live \(event.isReset)")
    }
    _ = try update("a")
    #expect(try update("b") == 3)
    let window = try store.liveQuery(Artist.all.order { $0.name }.limit(1)).observe { event in
      heard.add("window \(event.isReset) \(event.insertions.count)")
    }
    _ = try update("0")
    // The row that enters the window, and the state.
    #expect(try update("c") >= 5)
    store.waitForDelivery()
    #expect(heard.taken().suffix(2).sorted() == ["live false", "window false 1"])
    window.cancel()
    _ = try update("d")
    #expect(try update("e") == 3)
    live.cancel()
  }

  @Test func aRepeatedReadPreparesNoStatement() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("count.store"), models: Artist.self)
    func read() throws -> Int {
      _ = try store.find(Artist.self, 1)
      _ = try store.fetch(Artist.all)
      try store.read { _ = try $0.find(Artist.self, 1) }
      return try store.engine.connections.readers.sync { $0.preparedCount }
    }
    let first = try read()
    #expect(try (2...20).map { _ in try read() } == Array(repeating: first, count: 19))
  }
}
