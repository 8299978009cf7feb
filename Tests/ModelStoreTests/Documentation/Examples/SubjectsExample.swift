import ModelStore
import Observation
import Synchronization
import Testing

// snippet: subjects-form
@MainActor @Observable final class TitleForm {
  var title = ""
}
// end

@Suite(.tags(.unit)) struct SubjectsExample {
  @MainActor private final class Label {
    var text = ""
  }

  @MainActor @Test func aLabelAndAFormFollowAField() async throws {
    let directory = try TemporaryDirectory()
    let store = try await Store(
      at: directory.file("library.store"), models: Author.self, Book.self)
    try await store.write { tx in _ = try tx.insert(Book(id: 1, title: "Gifts", pages: 274)) }
    let label = Label()
    // snippet: subjects-main-actor
    let title = try store.subject(\Book.title, of: 1)
    let shown = try title.stream.bind(to: label, \.text)

    let form = TitleForm()
    let edited = try await title.bindBothWays(to: form, \.title)
    // end
    while form.title != "Gifts" { await Task.yield() }
    form.title = "Voices"
    while label.text != "Voices" { await Task.yield() }
    #expect(try await store.find(Book.self, 1)?.title == "Voices")
    withExtendedLifetime((shown, edited)) {}
  }

  @Test func fieldsFeedEachOther() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: subjects
    let store = try Store(at: path, models: Author.self, Book.self)
    try store.write { tx in
      try tx.insert(Author(id: 1, name: "Ursula"))
      try tx.insert(Book(id: 1, title: "Gifts", pages: 274))
    }

    let name = try store.subject(\Author.name, of: 1)
    let shelfMark = try store.subject(\Book.shelfMark, of: 1)
    let lengths = Mutex<[Int]>([])

    let bag = ObservationBag()
    bag.hold(try name.stream.map { Optional($0.prefix(2).uppercased()) }.bind(to: shelfMark))
    bag.hold(
      try name.stream
        .filter { $0.hasPrefix("L") }
        .map(\.count)
        .removeDuplicates()
        .subscribe { count in lengths.withLock { $0.append(count) } })

    for text in ["Ursula K.", "Leiber", "Lieber", "Le Guin"] { try name.send(text) }
    store.waitForDelivery()
    let stored = try store.find(Book.self, 1)?.shelfMark
    // stored: "LE"
    // lengths: [6, 7]
    bag.removeAll()
    // end
    #expect(stored == "LE")
    #expect(lengths.withLock { $0 } == [6, 7])
  }

  @Test func aLiveRecordIsObservable() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: live-records
    let store = try await Store(at: path, models: Author.self, Book.self)
    try await store.write { tx in
      _ = try tx.insert(Book(id: 1, title: "Gifts", pages: 274))
    }

    let book = try await store.liveRecord(Book.self, 1)
    let lines = Observations { "\(book.title ?? "none"), \(book.pages ?? 0) pages" }
    var iterator = lines.makeAsyncIterator()
    let first = await iterator.next()
    // first: "Gifts, 274 pages"
    try await store.write { tx in try tx.set(\Book.rating, to: 4, for: 1) }
    try await store.write { tx in try tx.set(\Book.pages, to: 286, for: 1) }
    let second = await iterator.next()
    // second: "Gifts, 286 pages"
    // end
    #expect(first == "Gifts, 274 pages")
    #expect(second == "Gifts, 286 pages")
  }

  @Test func aListOfRecordsIsObservable() async throws {
    let directory = try TemporaryDirectory()
    let store = try await Store(
      at: directory.file("library.store"), models: Author.self, Book.self)
    try await store.write { tx in
      _ = try tx.insert(Book(id: 1, title: "Gifts", pages: 274))
    }
    // snippet: live-record-lists
    let short = try await store.liveRecords(Book.where { $0.pages < 300 }.order { $0.title })
    let titles = Observations { short.records.map(\.title) }
    var iterator = titles.makeAsyncIterator()
    let first = await iterator.next()
    // first: ["Gifts"]
    try await store.write { tx in _ = try tx.insert(Book(id: 2, title: "Animals", pages: 96)) }
    let second = await iterator.next()
    // second: ["Animals", "Gifts"]
    // end
    #expect(first == ["Gifts"])
    #expect(second == ["Animals", "Gifts"])
  }
}
