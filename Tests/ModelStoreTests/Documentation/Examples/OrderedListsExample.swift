import ModelStore
import Testing

@Suite struct OrderedListsExample {
  @Test func aShelfKeepsItsBooksInOrder() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: ordered-lists
    struct Shelf: Model {
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

    let store = try Store(at: path, models: Author.self, Book.self, Shelf.self)
    try store.write { tx in
      for (id, title) in [(1, "Gifts"), (2, "Voices"), (3, "Powers")] {
        try tx.insert(Book(id: Int64(id), title: title, pages: 300))
      }
      try tx.insert(Shelf(id: 1))
      let books = try tx.list(\Shelf.books, of: 1)
      try books.append(1)
      try books.append(2)
      try books.append(1)
      try books.insert(3, at: 1)
      try books.move(from: 3, to: 0)
    }
    let keys = try store.read { tx in try tx.keys(of: \Shelf.books, of: 1) }
    // keys: [1, 1, 3, 2]

    try store.write { tx in try tx.delete(Book.self, 1) }
    let rest = try store.read { tx in try tx.keys(of: \Shelf.books, of: 1) }
    // rest: [3, 2]
    // end
    #expect(keys == [1, 1, 3, 2])
    #expect(rest == [3, 2])
  }
}
