import ModelStore
import Observation
import Testing

@Suite(.tags(.unit)) struct ChoosingExample {
  private static func library(at path: String) throws -> Store {
    let store = try Store(at: path, models: Author.self, Book.self, Shelf.self)
    try store.write { tx in
      try tx.insert(Author(id: 1, name: "Ursula"))
      try tx.insert(Book(id: 1, title: "Gifts", pages: 274))
      try tx.insert(Book(id: 2, title: "Voices", pages: 341))
      try tx.insert(Shelf(id: 1))
      try tx.list(\Shelf.books, of: 1).append(1)
    }
    return store
  }

  @Test func everyWayToObserveReportsTheSameCommit() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.library(at: directory.file("library.store"))
    let log = Recorder<String>()
    @Sendable func show(_ line: String) { log.add(line) }
    // snippet: choosing-field
    let field = try store.observe(\Book.pages, of: 1) { change in
      show("pages: \(change.new ?? 0)")
    }
    // end
    // snippet: choosing-record
    let record = try store.observe(Book.self, of: 1, fields: [\.title, \.pages]) { change in
      show("changed: \(change.fields.map(\.name))")
    }
    // end
    // snippet: choosing-model
    let model = try store.observe(Book.self) { event in
      if event.isReset { show("read all books again") }
      for change in event.changes { show("\(change.operation) \(change.new?.title ?? "")") }
    }
    // end
    // snippet: choosing-live-query
    let live = try store.liveQuery(Book.where { $0.pages > 300 }.order { $0.title })
    let list = try live.observe { changes in
      for deletion in changes.deletions { show("- \(deletion.index)") }
      for insertion in changes.insertions { show("+ \(insertion.index)") }
    }
    // end
    // snippet: choosing-window
    let page = try store.liveQuery(Book.all.order { $0.title }.limit(50, offset: 0))
    let rows = try page.observe { changes in
      for update in changes.updates { show("row \(update.newIndex) of the page changed") }
    }
    // end
    // snippet: choosing-list
    let shelf = try store.observe(list: \Shelf.books, of: 1) { changes in
      for insertion in changes.insertions { show("on the shelf at \(insertion.index)") }
    }
    // end
    // snippet: choosing-subject
    let name = try store.subject(\Author.name, of: 1)
    let shelfMark = try store.subject(\Book.shelfMark, of: 1)
    let link = try name.stream.map { Optional($0.uppercased()) }.bind(to: shelfMark)
    // end
    try store.write { tx in
      try tx.set(\Book.pages, to: 310, for: 1)
      try tx.list(\Shelf.books, of: 1).append(2)
    }
    store.waitForDelivery()
    #expect(
      log.events.sorted() == [
        "+ 0", "changed: [\"pages\"]", "on the shelf at 1", "pages: 310",
        "row 0 of the page changed", "update Gifts",
      ])
    try name.send("Le Guin")
    store.waitUntilQuiet()
    #expect(try store.find(Book.self, 1)?.shelfMark == "LE GUIN")
    for subscription in [field, record, model, list, rows, shelf, link] { subscription.cancel() }
  }

  @Test func aViewFollowsALiveRecord() async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.library(at: directory.file("library.store"))
    // snippet: choosing-live-record
    let gifts = try await store.liveRecord(Book.self, 1)
    let titles = Observations { gifts.title ?? "deleted" }
    // end
    var iterator = titles.makeAsyncIterator()
    #expect(await iterator.next() == "Gifts")
    try await store.write { tx in try tx.set(\Book.title, to: "Gifts, revised", for: 1) }
    #expect(await iterator.next() == "Gifts, revised")
  }

  @Test func aWorkerProcessesEveryChangeOnce() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.library(at: directory.file("library.store"))
    let sent = Recorder<String>()
    func send(_ line: String) { sent.add(line) }
    // snippet: choosing-consumer
    try store.changeJournal.enable(for: ["Book"])
    let consumer = try store.consumer("mirror")
    try store.write { tx in try tx.set(\Book.pages, to: 310, for: 1) }
    while let batch = try consumer.next() {
      if batch.reset != nil { send("send all books again") }
      for change in batch.changes { send("\(change.operation) \(change.model) \(change.key)") }
      try batch.acknowledge()
    }
    // end
    #expect(sent.events == ["update Book [1]"])
  }
}

private struct Shelf: Model {
  var id: Int64
  var books = OrderedList<Book>()

  static let definition = ModelDefinition<Shelf>(
    "Shelf", key: \.id, fields: [.init("id", \.id)], lists: [.init("books", \.books)])

  var key: Int64 { id }

  init(id: Int64) { self.id = id }

  init(row: borrowing RowView) throws { id = try row.decode(at: 0) }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
  }
}
