import ModelStore

struct Response: Equatable {
  var status: Int
  var body = ""
}

/// `PATCH /books/{id}`. No thread waits while the store writes.
func rename(_ id: Int64, to title: String, in store: Store) async throws -> Response {
  do {
    let isThere = try await store.write { tx in
      guard try tx.find(Book.self, id) != nil else { return false }
      try tx.set(\Book.title, to: title, for: id)
      return true
    }
    return Response(status: isThere ? 204 : 404)
  } catch let error as StoreError where error.code == .rejected {
    return Response(status: 422, body: error.violations.map(\.message).joined(separator: "\n"))
  } catch let error as StoreError where error.isRetryable {
    return Response(status: 503, body: "Try again.")
  }
}
