import ModelStore
import ModelStoreTesting
import Testing

// snippet: testing-suite
struct LibraryTests {
  let store: Store

  init() throws {
    store = try Store.inMemory(models: Author.self, Book.self)
  }

  @Test func aBookIsKept() throws {
    let book = Book(id: 1, title: "Gifts", pages: 274)
    try store.write { tx in try tx.insert(book) }
    #expect(try store.fetch(Book.all) == [book])
  }
}
// end

@Suite(.tags(.unit)) struct TestingExample {
  private static func library() throws -> Store {
    try Store.inMemory(models: Author.self, Book.self)
  }

  @Test func aSuiteOpensAStoreForEachTest() throws {
    let (one, other) = (try LibraryTests(), try LibraryTests())
    try one.aBookIsKept()
    try other.aBookIsKept()
  }

  @Test func eventsAreComparedAsValues() throws {
    let store = try Self.library()
    // snippet: testing-events
    let book = Book(id: 1, title: "Gifts", pages: 274)
    let titles = try store.recorder(of: \Book.title, of: 1)
    let books = try store.recorder(of: Book.self)
    let sorted = try store.recorder(of: Book.all.order { $0.title })

    try store.write { tx in try tx.insert(book) }
    try store.write { tx in try tx.set(\Book.title, to: "Voices", for: 1) }

    var renamed = book
    renamed.title = "Voices"
    #expect(
      titles.takeAll() == [
        RecordedChange(new: "Gifts"), RecordedChange(old: "Gifts", new: "Voices"),
      ])
    #expect(
      books.takeAll() == [
        [RecordedChange(new: book)], [RecordedChange(old: book, new: renamed)],
      ])
    #expect(sorted.takeAll() == [[.inserted(book, at: 0)], [.updated(renamed, at: 0)]])
    // end
  }

  @Test func nothingElseIsReported() throws {
    let store = try Self.library()
    try store.write { tx in try tx.insert(Book(id: 1, title: "Gifts", pages: 274)) }
    // snippet: testing-nothing
    let titles = try store.recorder(of: \Book.title, of: 1)
    try store.write { tx in try tx.set(\Book.pages, to: 286, for: 1) }
    #expect(titles.takeAll() == [])
    // end
  }

  @Test(.timeLimit(.minutes(30))) func aTestWaitsForAnotherTask() async throws {
    let store = try Self.library()
    try await store.write { tx in
      _ = try tx.insert(Book(id: 1, title: "Gifts", pages: 274, authorID: nil))
    }
    // snippet: testing-waiting
    let pages = try store.recorder(of: \Book.pages, of: 1)
    let import286 = Task {
      try await store.write { tx in try tx.set(\Book.pages, to: 286, for: 1) }
    }
    #expect(try await pages.next() == RecordedChange(old: 274, new: 286))
    // end
    try await import286.value
  }

  @Test func anyObservationIsRecorded() throws {
    let store = try Self.library()
    try store.write { tx in try tx.insert(Author(id: 1, name: "Ursula K. Le Guin")) }
    // snippet: testing-any
    let lengths = EventRecorder<Int>(store)
    let name = try store.subject(\Author.name, of: 1)
    let subscription = try name.stream.map(\.count).subscribe { lengths.record($0) }
    try name.send("Ursula")
    #expect(lengths.takeAll() == [6])
    subscription.cancel()
    // end
  }

  @Test func aBindingShowsAsTheOrigin() throws {
    // snippet: testing-bindings
    let store = try Store.inMemory(
      models: Author.self, Book.self,
      bindings: [.copy(\Author.name, to: \Book.authorName, through: \Book.authorID)])
    try store.write { tx in
      try tx.insert(Author(id: 1, name: "Ursula"))
      try tx.insert(Book(id: 1, title: "Gifts", pages: 274, authorID: 1))
    }
    let names = try store.recorder(of: \Book.authorName, of: 1)
    try store.write { tx in try tx.set(\Author.name, to: "Ursula K. Le Guin", for: 1) }
    #expect(
      names.takeAll() == [
        RecordedChange(
          old: "Ursula", new: "Ursula K. Le Guin", origin: .binding("Book.authorName"))
      ])
    // end
  }

  @Test func aRefusalIsExpected() throws {
    let store = try Self.library()
    // snippet: testing-refusals
    let error = #expect(throws: StoreError.self) {
      try store.write { tx in try tx.insert(Book(id: 1, title: " ", pages: 0)) }
    }
    #expect(error?.violations.map(\.rule) == ["Book.title.notBlank", "Book.pages.range"])
    // end
  }
}
