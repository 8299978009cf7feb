import ModelStore

/// Takes back a transaction, as a transaction of its own.
func undo(in store: Store) throws {
  try store.write { tx in try tx.set(\Book.title, to: "Geschenke", for: 1) }
  try store.undo()
  print(try store.find(Book.self, 1)?.title ?? "")
}
