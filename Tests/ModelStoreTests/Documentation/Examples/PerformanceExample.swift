import ModelStore
import Testing

@Suite(.tags(.unit)) struct PerformanceExample {
  @Test func oneTransactionAndOneIndexAreMostOfIt() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: performance-settings
    var configuration = StoreConfiguration()
    configuration.durability = .normal
    configuration.maxReaderCount = 8
    configuration.cacheSize = 64 * 1024 * 1024
    // end
    let store = try Store(
      at: path, models: Author.self, Book.self, configuration: configuration)
    // snippet: performance-index
    try store.write { tx in
      try tx.execute("CREATE INDEX IF NOT EXISTS Book_pages ON Book (pages)")
    }
    // end
    // snippet: performance-batch
    // One transaction, one wait for the disk:
    try store.write { tx in
      let ids: ClosedRange<Int64> = 1...1000
      try tx.insert(contentsOf: ids.map { Book(id: $0, title: "Volume \($0)", pages: Int($0)) })
    }
    // end
    // snippet: performance-plan
    let long = Book.where { $0.pages > 900 }.order { $0.pages }
    let steps = try store.read { tx in
      try tx.rows("EXPLAIN QUERY PLAN SELECT * FROM Book WHERE pages > 900 ORDER BY pages")
    }
    let detail = steps.map { $0["detail"] ?? .null }
    // detail: ["'SEARCH Book USING INDEX Book_pages (pages>?)'"]
    let live = try store.liveQuery(long.limit(50))
    let plan = live.plan
    // plan: .incremental
    // end
    #expect(detail.map(\.description) == ["'SEARCH Book USING INDEX Book_pages (pages>?)'"])
    #expect(plan == .incremental)
    #expect(live.count == 50)
    store.close()
    let reopened = try Store(
      at: path, models: Author.self, Book.self, configuration: configuration)
    #expect(try reopened.fetch(long).count == 100)
  }
}
