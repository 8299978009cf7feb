import ModelStore

/// Fetches records by conditions, sorted, and counts them.
func query(_ store: Store) throws {
  let thick = Book.where { $0.pages > 280 && $0.title.contains("o") }
  print(try store.fetch(thick.order { $0.title }.limit(10)).map(\.title))
  print(try store.count(Book.all))
}
