import ModelStore
import Synchronization
import Testing

@Suite(.tags(.unit)) struct ObservingChangesExample {
  @Test func eachCommitReachesTheObserversItConcerns() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: observing-changes
    let store = try Store(at: path, models: Author.self, Book.self)
    try store.write { tx in
      try tx.insert(Book(id: 1, title: "The Lathe", pages: 184))
    }

    let lines = Mutex<[String]>([])
    let title = try store.observe(\Book.title, of: 1) { change in
      lines.withLock { $0.append("title: \(change.old ?? "none") → \(change.new ?? "none")") }
    }
    let facts = try store.observe(Book.self, of: 1, fields: [\.pages, \.rating]) { change in
      lines.withLock { $0.append("facts: \(change.fields.map(\.name))") }
    }
    let books = try store.observe(Book.self) { event in
      lines.withLock { $0.append("books: \(event.changes.map(\.operation.rawValue))") }
    }

    try store.write { tx in
      try tx.set(\Book.title, to: "The Lathe of Heaven", for: 1)
      try tx.insert(Book(id: 2, title: "Malafrena", pages: 369))
    }
    try store.write { tx in try tx.set(\Book.rating, to: 4, for: 1) }
    store.waitForDelivery()
    // title: The Lathe → The Lathe of Heaven
    // books: ["update", "insert"]
    // facts: ["rating"]
    // books: ["update"]

    for subscription in [title, facts, books] { subscription.cancel() }
    // end
    #expect(
      lines.withLock { $0 } == [
        "title: The Lathe → The Lathe of Heaven", "books: [\"update\", \"insert\"]",
        "facts: [\"rating\"]", "books: [\"update\"]",
      ])
  }

  @Test func aSequenceGivesTheSameChanges() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: observing-changes-in-a-loop
    let store = try await Store(at: path, models: Author.self, Book.self)
    let changes = try store.changes(of: \Book.pages, of: 1)
    try await store.write { tx in try tx.insert(Book(id: 1, title: "Malafrena", pages: 360)) }
    try await store.write { tx in try tx.set(\Book.pages, to: 369, for: 1) }

    var seen: [Int?] = []
    for try await change in changes {
      seen.append(change.new)
      if seen.count == 2 { break }
    }
    // seen: [360, 369]
    // end
    #expect(seen == [360, 369])
  }
}
