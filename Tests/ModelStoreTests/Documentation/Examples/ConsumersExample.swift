import ModelStore
import Synchronization
import Testing

@Suite(.tags(.unit)) struct ConsumersExample {
  @Test(.timeLimit(.minutes(30))) func aConsumerKeepsAnIndex() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: consumers-loop
    var configuration = StoreConfiguration()
    configuration.changeJournal = .full
    let store = try await Store(
      at: path, models: Author.self, Book.self, configuration: configuration)
    let index = Mutex<[SQLValue: SQLValue]>([:])

    let consumer = try await store.consumer("search-index", startingAt: .start)
    let indexing = Task {
      for try await batch in consumer.batches(of: 500) {
        if batch.reset != nil {
          let books = try await store.fetch(Book.all)
          index.withLock { index in
            index = [:]
            for book in books { index[.integer(book.id)] = .text(book.title) }
          }
        }
        for change in batch.changes where change.model == "Book" {
          index.withLock { index in
            switch change.operation {
            case .insert, .update:
              if let title = change["title"]?.new { index[change.key[0]] = title }
            case .delete:
              index[change.key[0]] = nil
            }
          }
        }
        try await batch.acknowledge()
      }
    }
    try await store.write { tx in
      try tx.insert(Book(id: 1, title: "The Dispossessed", pages: 341))
    }
    // end
    while try consumer.lag > 0 { await Task.yield() }
    #expect(index.withLock { $0 } == [.integer(1): .text("The Dispossessed")])
    indexing.cancel()
    try await indexing.value
  }

  @Test(.timeLimit(.minutes(30))) func aConsumerContinuesAfterAnError() async throws {
    struct Unreachable: Error {}
    let directory = try TemporaryDirectory()
    let configuration = StoreConfiguration(changeJournal: .full)
    let store = try await Store(
      at: directory.file("library.store"), models: Author.self, Book.self,
      configuration: configuration)
    let sent = Mutex<[[SQLValue]]>([])
    let failures = Mutex(0)
    @Sendable func sendMail(about key: [SQLValue]) async throws {
      guard failures.withLock({ $0 }) > 0 else { throw Unreachable() }
      sent.withLock { $0.append(key) }
    }
    @Sendable func report(_ error: any Error) { failures.withLock { $0 += 1 } }
    @Sendable func pause() async throws { try Task.checkCancellation() }
    // snippet: consumers-restart
    let consumer = try await store.consumer("mail")
    let mailing = Task {
      while true {
        do {
          for try await batch in consumer.batches() {
            for change in batch.changes where change.operation == .insert {
              try await sendMail(about: change.key)
            }
            try await batch.acknowledge()
          }
          return  // The task was cancelled, or the store was closed.
        } catch is CancellationError {
          return
        } catch {
          report(error)
          try await pause()
        }
      }
    }
    // end
    try await store.write { tx in
      _ = try tx.insert(Book(id: 1, title: "The Dispossessed", pages: 341))
    }
    while try consumer.lag > 0 { await Task.yield() }
    // snippet: consumers-shutdown
    mailing.cancel()
    _ = await mailing.result
    await store.close()
    // end
    #expect(sent.withLock { $0 } == [[.integer(1)]])
    #expect(failures.withLock { $0 } == 1)
  }

  @Test func aConsumerCountsExactlyOnce() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: consumers-exactly-once
    let total = Migration(
      version: 1, name: "page total",
      sql: """
        CREATE TABLE page_total (pages INTEGER NOT NULL);
        INSERT INTO page_total VALUES (0);
        """)
    let store = try Store(at: path, models: Author.self, Book.self, migrations: [total])
    try store.changeJournal.enable(for: ["Book"])
    let consumer = try store.consumer("page-total")
    try store.write { tx in
      try tx.insert(Book(id: 1, title: "The Dispossessed", pages: 341))
      try tx.insert(Book(id: 2, title: "Malafrena", pages: 369))
    }

    while let batch = try consumer.next(limit: 500) {
      try store.write { tx in
        for pages in batch.changes.compactMap({ $0["pages"] }) {
          try tx.execute(
            """
            UPDATE page_total
            SET pages = pages + ifnull(\(pages.new ?? .null), 0) - ifnull(\(pages.old ?? .null), 0)
            """)
        }
        try tx.acknowledge(batch)
      }
    }
    let rows = try store.read { tx in try tx.rows("SELECT pages FROM page_total") }
    // 710
    // end
    #expect(rows.map(\.values) == [[.integer(710)]])

    // snippet: consumers-list
    let lags = try store.consumers().map { "\($0.name): \($0.lag) behind" }
    try store.resetConsumer("page-total", to: .start)
    try store.dropConsumer("page-total")
    // end
    #expect(lags == ["page-total: 0 behind"])
    #expect(try store.consumers().isEmpty)
  }
}
