import CSQLite
import Foundation
import ModelStore
import Synchronization

struct Note: CodableModel, Hashable {
  var id: Int64
  var text: String
  var key: Int64 { id }

  static let definition = ModelDefinition<Note>(
    "Note", key: \.id,
    fields: [.init("id", \.id), .init("text", \.text, rules: [.length(1...20)])])
}

/// A store in a directory of its own.
final class ServiceWorld: Sendable {
  let directory: URL
  let store: Store

  init(journal: Bool = false) throws {
    directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("modelstore-service-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    store = try Store(
      at: directory.appendingPathComponent("notes.store").path, models: Note.self,
      configuration: StoreConfiguration(changeJournal: journal ? .full : nil))
  }

  deinit {
    store.close()
    do {
      try FileManager.default.removeItem(at: directory)
    } catch {
      print("\(directory.path) could not be removed: \(error)")
    }
  }

  /// Changes the file as another program does, without the store.
  func execute(_ script: String) throws {
    var database: OpaquePointer?
    defer { sqlite3_close_v2(database) }
    guard sqlite3_open(store.path, &database) == SQLITE_OK, let database,
      sqlite3_busy_timeout(database, 60_000) == SQLITE_OK,
      sqlite3_exec(database, script, nil, nil, nil) == SQLITE_OK
    else { throw Failure(script: script) }
  }

  struct Failure: Error {
    let script: String
  }

  func insert(_ id: Int64, _ text: String = "a") throws {
    try store.write { tx in try tx.insert(Note(id: id, text: text)) }
  }
}
