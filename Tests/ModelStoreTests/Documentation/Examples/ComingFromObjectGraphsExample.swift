import Foundation
import ModelStore
import Observation
import Testing

@Suite(.tags(.unit)) struct ComingFromObjectGraphsExample {
  @Test func theTenTasksOfACoreDataProgram() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: from-core-data-open
    let store = try await Store(at: path, models: Author.self, Book.self)
    // end
    // snippet: from-core-data-insert
    try await store.write { tx in
      try tx.insert(Author(id: 1, name: "Ursula K. Le Guin"))
      _ = try tx.insert(Book(id: 1, title: "Gifts", pages: 274, authorID: 1))
    }
    // end
    // snippet: from-core-data-fetch
    let parser = PredicateParser(schema: Book.schema, now: Date())
    let condition = try parser.condition(parsing: "pages > 200 and title like 'G%'")
    let books = try await store.fetch(Book.all.filter(condition).order { $0.title })
    // end
    #expect(books.map(\.title) == ["Gifts"])
    // snippet: from-core-data-relationship
    let (author, others) = try await store.read { tx in
      guard let book = try tx.find(Book.self, 1), let id = book.authorID else {
        return (nil as Author?, [] as [Book])
      }
      return (try tx.find(Author.self, id), try tx.fetch(Book.where { $0.authorID == id }))
    }
    // end
    #expect(author?.name == "Ursula K. Le Guin")
    #expect(others.map(\.id) == [1])
    // snippet: from-core-data-update
    try await store.write { tx in try tx.set(\Book.pages, to: 286, for: 1) }
    // end
    let log = Recorder<String>()
    @Sendable func show(_ line: String) { log.add(line) }
    // snippet: from-core-data-results
    let results = try await store.liveQuery(Book.all.order { $0.title })
    let subscription = try await results.observe { changes in
      let batch = changes.batch()
      show("delete \(batch.deletions), insert \(batch.insertions), reload \(batch.reloads)")
    }
    // end
    // snippet: from-core-data-object
    let book = try await store.liveRecord(Book.self, 1)
    let titles = Observations { book.title ?? "deleted" }
    // end
    var iterator = titles.makeAsyncIterator()
    #expect(await iterator.next() == "Gifts")
    // snippet: from-core-data-undo
    try await store.changeJournal.enable()
    try await store.write { tx in try tx.set(\Book.title, to: "Presents", for: 1) }
    try await store.undo()
    // end
    await store.waitForDelivery()
    #expect(try await store.find(Book.self, 1)?.title == "Gifts")
    subscription.cancel()
    // snippet: from-core-data-history
    let consumer = try await store.consumer("index", startingAt: .start)
    while let batch = try await consumer.next() {
      for change in batch.changes { show("\(change.operation) \(change.model) \(change.key)") }
      try await batch.acknowledge()
    }
    // end
    #expect(log.events.suffix(2) == ["update Book [1]", "update Book [1]"])
    // snippet: from-core-data-delete
    try await store.write { tx in
      try tx.delete(Author.self, 1)
      try tx.delete(Book.where { $0.pages < 300 })
    }
    // end
    #expect(try await store.fetch(Book.all).isEmpty)
  }
}
