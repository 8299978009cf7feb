import ModelStore

/// Creates, reads, updates and deletes. The file keeps all of a write, or nothing.
func changeRecords(of store: Store) throws {
  try store.write { tx in
    try tx.insert(Author(id: 1, name: "Ursula K. Le Guin"))
    try tx.insert(Book(id: 1, title: "Gifts", pages: 274, authorID: 1))
    try tx.insert(Book(id: 2, title: "Voices", pages: 341, authorID: 1))
    try tx.insert(Book(id: 3, title: "Powers", pages: 502, authorID: 1))
  }
  try store.write { tx in
    try tx.set(\Book.pages, to: 286, for: 1)
    try tx.delete(Book.self, 2)
  }
  guard var book = try store.find(Book.self, 1) else { return }
  book.title = "Gifts, revised"
  try store.write { tx in try tx.update(book) }
  print(book)
}
