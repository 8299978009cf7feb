import ModelStore

/// Prints the old and the new value of one field. The observation ends with its token.
func observeField(in store: Store) throws {
  let token = try store.observe(\Book.pages, of: 1) { change in
    print("pages: \(change.old ?? 0) → \(change.new ?? 0)")
  }
  try store.write { tx in try tx.set(\Book.pages, to: 288, for: 1) }
  store.waitForDelivery()
  token.cancel()
}
