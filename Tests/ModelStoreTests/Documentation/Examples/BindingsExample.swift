import ModelStore
import Testing

@Suite(.tags(.unit)) struct BindingsExample {
  @Test func boundFieldsFollowTheirSource() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: bindings
    let store = try Store(
      at: path, models: Author.self, Book.self,
      bindings: [
        .copy(\Author.name, to: \Book.authorName, through: \Book.authorID),
        .derive(\Book.shelfMark, from: "upper(substr(title, 1, 3))"),
      ])

    let gifts = try store.write { tx in
      try tx.insert(Author(id: 1, name: "Le Guin"))
      return try tx.insert(Book(id: 1, title: "Gifts", pages: 274, authorID: 1))
    }
    // gifts.authorName is "Le Guin" and gifts.shelfMark is "GIF"

    let changes = try store.writeReturningChanges { tx in
      try tx.set(\Author.name, to: "Ursula K. Le Guin", for: 1)
    }.changes.changes
    let origins = changes.map { "\($0.model) \($0.origin)" }
    // origins: ["Author user", "Book binding:Book.authorName"]
    // end
    #expect(gifts.authorName == "Le Guin")
    #expect(gifts.shelfMark == "GIF")
    #expect(origins == ["Author user", "Book binding:Book.authorName"])
    #expect(try store.find(Book.self, 1)?.authorName == "Ursula K. Le Guin")
  }
}
