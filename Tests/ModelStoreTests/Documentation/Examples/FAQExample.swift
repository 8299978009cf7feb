import ModelStore
import Testing

@Suite(.tags(.unit)) struct FAQExample {
  @Test func sqliteChoosesAKey() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("library.store"), models: Author.self)
    // snippet: faq-draft
    struct NewAuthor: Insertable {
      var name: String

      func encode(to arguments: inout ArgumentWriter) throws {
        try (nil as Int64?).encode(to: &arguments, at: 0)
        try name.encode(to: &arguments, at: 1)
      }

      func record(rowID: Int64) throws -> Author { Author(id: rowID, name: name) }
    }

    let author = try store.write { tx in try tx.insert(NewAuthor(name: "Octavia E. Butler")) }
    // author.id: 1
    // end
    #expect(author == Author(id: 1, name: "Octavia E. Butler"))
  }

  @Test func anOldValueComesWithAChange() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("library.store"), models: Author.self, Book.self)
    // snippet: faq-test
    try store.write { tx in try tx.insert(Book(id: 1, title: "Gifts", pages: 274)) }
    let changes = try store.writeReturningChanges { tx in
      try tx.set(\Book.pages, to: 286, for: 1)
    }.changes.changes
    let seen = changes.map { "\($0.operation) \($0.model) \($0.key)" }
    // seen: ["update Book [1]"]
    // end
    #expect(seen == ["update Book [1]"])
  }
}
