import Foundation
import ModelStore

// Thirteen things that a service does with a store, each in a file of its own. The thirteenth, a
// test in memory, is in Tests.

let folder = URL.temporaryDirectory.appending(path: "recipes-\(UUID())")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

var configuration = StoreConfiguration()
configuration.changeJournal = .full
let store = try Store(
  at: folder.appending(path: "books.store").path, models: Author.self, Book.self, Product.self,
  bindings: [bookCount, price], validators: [noTwins], configuration: configuration)

/// A client that prints what it receives, and goes away after the second message.
actor PrintingSocket: Socket {
  private var count = 0

  func send(_ message: Data) async throws {
    print(String(decoding: message, as: UTF8.self))
    count += 1
    guard count == 1 else { throw CancellationError() }
    try await store.write { tx in try tx.delete(Book.self, 3) }
  }
}

print("# Records")
try changeRecords(of: store)
print("# Queries")
try query(store)
print("# Observing")
try observeField(in: store)
print("# Validation")
try refuse(in: store)
print("# Bindings")
try showBindings(of: store)
print("# Migrations")
try migrate(folder.appending(path: "members.store").path)
print("# Undo")
try undo(in: store)
print("# Request handler")
print(try await rename(1, to: "Voices", in: store))
print(try await rename(1, to: "Powers", in: store))
print(try await rename(7, to: "Rising", in: store))
print("# Worker")
try await announceBooks(of: store)
print("# Sockets")
do {
  try await sendBooks(of: store, to: PrintingSocket())
} catch is CancellationError {
  print("the client is gone")
}
