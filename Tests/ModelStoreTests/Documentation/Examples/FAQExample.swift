import ModelStore
import Testing

@Suite(.tags(.unit)) struct FAQExample {
  @Test func sqliteChoosesAKey() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: faq-generated-key
    struct Note: CodableModel {
      var id: Int64 = 0
      var title: String

      var key: Int64 { id }

      static let definition = ModelDefinition<Note>(
        "Note", key: \.id, fields: [.init("id", \.id), .init("title", \.title)])
    }

    let store = try Store(at: path, models: Note.self)
    let note = try store.write { tx in try tx.insert(generatingKey: Note(title: "Buy bread")) }
    // note.id: 1
    // end
    #expect(try store.fetch(Note.all).map(\.title) == [note.title])
    #expect(note.id == 1)
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
