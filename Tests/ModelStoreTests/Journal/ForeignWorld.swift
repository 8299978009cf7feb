import CSQLite
import Testing

@testable import ModelStore

/// A store with a change journal of songs, mixes, artists and albums, and another program.
final class ForeignWorld {
  let directory: TemporaryDirectory
  let store: Store
  /// Another program, as SQLite is without any settings except that it keeps references.
  let other: PlainDatabase
  let errors = Recorder<StoreError>()

  init(detail: JournalDetail? = .full) throws {
    directory = try TemporaryDirectory()
    let path = directory.file("foreign.store")
    var configuration = StoreConfiguration()
    configuration.durability = .normal
    configuration.changeJournal = detail
    store = try Store(
      at: path, models: Artist.self, Album.self, Song.self, Mix.self,
      configuration: configuration, onError: { [errors] in errors.add($0) })
    other = try PlainDatabase(path)
    try other.execute("PRAGMA foreign_keys = ON")
    try store.write { tx in
      for id in 1...9 { try tx.insert(Song(id: Int64(id), title: "song \(id)")) }
      try tx.insert(Mix(id: 1))
      try tx.insert(Mix(id: 2))
      try tx.list(\Mix.songs, of: 1).append(contentsOf: [1, 2, 2, 3])
      try tx.insert(Artist(id: 1, name: "Miles"))
      try tx.insert(Album(id: 1, title: "one", artistID: 1))
      try tx.insert(Album(id: 2, title: "two", artistID: 1))
      try tx.insert(Album(id: 3, title: "three"))
    }
  }

  /// Runs `statements` as the other program, makes the store poll, and waits for the delivery.
  func foreign(_ statements: String) throws {
    try other.execute(statements)
    try store.refresh()
    store.waitForDelivery()
  }

  func replayed(_ model: String) throws -> [[SQLValue]: [SQLValue]] {
    try JournalWorld.replayed(model, in: store)
  }

  func stored(_ model: String) throws -> [[SQLValue]: [SQLValue]] {
    try JournalWorld.stored(model, in: store, by: other)
  }
}

extension PlainDatabase {
  /// Whether no transaction is open.
  var isInAutocommit: Bool { sqlite3_get_autocommit(handle) != 0 }
}
