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
