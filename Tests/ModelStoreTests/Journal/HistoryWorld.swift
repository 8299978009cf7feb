import Testing

@testable import ModelStore

/// A store with a reference, a binding, an ordered list and a composite key, whose journal is on,
/// and random transactions.
final class HistoryWorld {
  let directory: TemporaryDirectory
  let path: String
  let store: Store
  var random: SeededGenerator

  /// - Parameter seed: Of the random transactions.
  init(seed: UInt64 = 1) throws {
    directory = try TemporaryDirectory()
    path = directory.file("history.store")
    random = SeededGenerator(seed: seed)
    let other = try PlainDatabase(path)
    try other.execute(
      """
      CREATE TABLE Seat (
        row TEXT COLLATE NOCASE, number INTEGER, name TEXT UNIQUE, note,
        PRIMARY KEY (row, number)
      ) WITHOUT ROWID
      """)
    store = try Store(
      at: path, models: Artist.self, Album.self, Song.self, Mix.self,
      bindings: [.copy(\Artist.name, to: \Album.artistName, through: \Album.artistID)])
    try store.adopt(["Seat"])
    try store.write { tx in
      for id in 1...4 { try tx.insert(Artist(id: Int64(id), name: "artist \(id)")) }
      for id in 1...6 {
        try tx.insert(Album(id: Int64(id), title: "t", artistID: Int64(id) % 4 + 1))
      }
      for id in 1...5 { try tx.insert(Song(id: Int64(id), title: "song \(id)")) }
      for id in 1...2 { try tx.insert(Mix(id: Int64(id))) }
      try tx.list(\Mix.songs, of: 1).append(contentsOf: [1, 2, 3, 2])
      try tx.execute("INSERT INTO Seat VALUES ('a', 1, 'x', NULL), ('B', 2, NULL, 1.5)")
    }
    try store.changeJournal.enable()
  }

  /// Every table as it is, by model, in key order.
  func content() throws -> [String: [[SQLValue]]] {
    try store.read { tx in
      var content: [String: [[SQLValue]]] = [:]
      for model in self.store.schema.models {
        content[model.name] = try tx.fetch(StoreQuery<DynamicRecord>(model)).map(\.values)
      }
      return content
    }
  }

  /// One transaction of a few random changes, of which some are refused.
  ///
  /// - Returns: How many were kept.
  @discardableResult
  func step() throws -> Int {
    try store.write { tx in
      var count = 0
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        do {
          try tx.savepoint { tx in try self.change(tx) }
          count += 1
        } catch let error as StoreError where Self.refusals.contains(error.code) {
          continue
        }
      }
      return count
    }
  }

  private static let refusals: Set<StoreError.Code> = [.rejected, .recordNotFound, .invalidValue]

  private func change(_ tx: borrowing WriteTransaction) throws {
    let id = Int64.random(in: 1...8, using: &random)
    let other = Int64.random(in: 1...8, using: &random)
    let row = ["a", "A", "b", "B", "c"].randomElement(using: &random) ?? "a"
    let name: SQLValue =
      [.null, .text("x"), .text("y"), .text("z")].randomElement(using: &random) ?? .null
    switch Int.random(in: 0..<22, using: &random) {
    case 0: try tx.insert(Artist(id: id, name: "new \(other)"))
    case 1: try tx.delete(Artist.self, id)
    case 2, 3: try tx.set(\Artist.name, to: "name \(other)", for: id)
    case 4, 5: try tx.upsert(Album(id: id, title: "album \(other)", artistID: other))
    case 6: try tx.set(\Album.artistID, to: other > 5 ? nil : other, for: id)
    case 7: try tx.set(\Album.title, to: "title \(other)", for: id)
    case 8: try tx.delete(Album.self, id)
    case 9: try tx.execute("UPDATE Album SET id = \(other) WHERE id = \(id)")
    case 10: try tx.insert(Song(id: id, title: "song \(other)"))
    case 11: try tx.delete(Song.self, id)
    case 12: try tx.execute("UPDATE Song SET id = \(other), plays = plays + 1 WHERE id = \(id)")
    case 13: try tx.list(\Mix.songs, of: id % 2 + 1).append(other)
    case 14: try tx.list(\Mix.songs, of: id % 2 + 1).insert(other, at: Int(id) % 3)
    case 15: try tx.list(\Mix.songs, of: id % 2 + 1).remove(at: Int(other) % 4)
    case 16: try tx.list(\Mix.songs, of: id % 2 + 1).move(from: Int(id) % 3, to: Int(other) % 3)
    case 17:
      try tx.execute("INSERT OR REPLACE INTO Seat VALUES (\(row), \(id), \(name), \(other))")
    case 18:
      try tx.execute(
        "UPDATE OR REPLACE Seat SET name = \(name), note = x'00' WHERE number = \(id)")
    case 19: try tx.execute("UPDATE Seat SET number = \(other), row = \(row) WHERE number = \(id)")
    case 20: try tx.execute("DELETE FROM Seat WHERE number >= \(id)")
    default:
      try tx.execute(
        """
        INSERT INTO Seat VALUES (\(row), \(id), \(name), NULL)
        ON CONFLICT DO UPDATE SET note = \(Double(other) / 2)
        """)
    }
  }
}
