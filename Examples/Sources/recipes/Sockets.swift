import Foundation
import ModelStore

/// What a WebSocket of a server library offers.
protocol Socket {
  func send(_ message: Data) async throws
}

/// Keeps a client's list of books up to date: first the whole list, then what each commit changes.
/// A reset carries the records that the client lacks, so nothing else is needed.
func sendBooks(of store: Store, to socket: some Socket) async throws {
  let encoder = JSONEncoder()
  encoder.outputFormatting = .sortedKeys
  let books = try await store.liveQuery(Book.all.order { $0.title })
  for try await changes in try await books.changes(options: .initial) {
    try await socket.send(encoder.encode(changes))
  }
}
