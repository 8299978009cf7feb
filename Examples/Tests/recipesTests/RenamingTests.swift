import ModelStore
import ModelStoreTesting
import Testing

@testable import recipes

@Suite struct RenamingTests {
  /// A store of its own in memory, so tests can run in parallel.
  private let store: Store

  init() throws {
    store = try Store.inMemory(models: Author.self, Book.self)
    try store.write { tx in
      try tx.insert(Author(id: 1, name: "Ursula K. Le Guin"))
      try tx.insert(Book(id: 1, title: "Gifts", pages: 274, authorID: 1))
    }
  }

  @Test func renamingIsObserved() async throws {
    let titles = try store.recorder(of: \Book.title, of: 1)
    #expect(try await rename(1, to: "Voices", in: store) == Response(status: 204))
    #expect(await titles.takeAll() == [RecordedChange(old: "Gifts", new: "Voices")])
  }
}
