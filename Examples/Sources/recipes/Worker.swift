import ModelStore

/// Does something for each new book. After a crash it continues with the first batch that it has
/// not acknowledged. `storecli consumers` shows how far it is.
func announceBooks(of store: Store) async throws {
  let consumer = try await store.consumer("announcements", startingAt: .start)
  for try await batch in consumer.batches(of: 100) {
    for change in batch.changes where change.model == "Book" && change.operation == .insert {
      print("new book:", change["title"]?.new ?? .null)
    }
    try await batch.acknowledge()
    return  // A worker would go on.
  }
}
