import Foundation
import Testing

@testable import ModelStore

/// Applying the difference between two stores makes their content equal.
@Suite(.tags(.law)) struct DifferenceLawTests {
  /// How many pairs: `MODELSTORE_DIFFERENCES`, or enough for every day.
  private static var pairCount: Int {
    ProcessInfo.processInfo.environment["MODELSTORE_DIFFERENCES"].flatMap { Int($0) } ?? 200
  }

  private static func fill(
    _ store: Store, from generator: inout SeededGenerator, _ seed: Int
  ) throws {
    try store.write { tx in
      try tx.execute("DELETE FROM Album")
      try tx.execute("DELETE FROM Artist")
      let artists = (1...8).filter { _ in Bool.random(using: &generator) }
      for id in artists {
        let name = ["Anna", "Ben", "Zoë", "x\u{0}y"].randomElement(using: &generator) ?? ""
        try tx.insert(Artist(id: Int64(id), name: name))
      }
      for id in 1...12 where Bool.random(using: &generator) {
        let artist = Bool.random(using: &generator) ? artists.randomElement(using: &generator) : nil
        try tx.insert(
          Album(
            id: Int64(id), title: "t\(Int.random(in: 1...3, using: &generator))",
            artistID: artist.map(Int64.init)))
      }
    }
  }

  @Test func applyingTheDifferenceGivesTheContentHashOfTheOther() throws {
    let directory = try TemporaryDirectory()
    func open(_ name: String) throws -> Store {
      try Store(
        at: directory.file(name), models: Artist.self, Album.self,
        bindings: [.copy(\Artist.name, to: \Album.artistName, through: \Album.artistID)],
        configuration: StoreConfiguration(durability: .normal))
    }
    let (left, right) = (try open("left"), try open("right"))
    var counts: [RecordChange.Operation: Int] = [:]
    for seed in 0..<Self.pairCount {
      var generator = SeededGenerator(seed: UInt64(seed))
      try Self.fill(left, from: &generator, seed)
      try Self.fill(right, from: &generator, seed)
      let difference = try left.difference(to: right)
      for record in difference { counts[record.operation, default: 0] += 1 }
      try left.apply(difference)
      #expect(try left.contentHash() == right.contentHash(), "seed \(seed)")
      #expect(try left.difference(to: right).isEmpty, "seed \(seed)")
    }
    #expect(Set(counts.keys) == [.insert, .update, .delete], "\(counts)")
  }

  /// Tables of another program: keys of several columns and of any storage class, unique values
  /// that records exchange, and references among records of one table.
  private static let tables = """
    CREATE TABLE Node(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES Node(id), v);
    CREATE TABLE Tag(id INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE, rank INTEGER UNIQUE);
    CREATE TABLE Pair(
      a TEXT NOT NULL, b INTEGER NOT NULL, v, PRIMARY KEY (b, a)) WITHOUT ROWID;
    CREATE TABLE Mixed(k NOT NULL PRIMARY KEY, v REAL);
    """

  /// Returns statements that fill empty tables.
  private static func rows(from generator: inout SeededGenerator) -> [String] {
    var rows: [String] = []
    func some<Element>(_ elements: [Element]) -> [Element] {
      elements.filter { _ in Bool.random(using: &generator) }
    }
    let values = ["NULL", "1", "1.0", "-0.0", "0.0", "'a'", "'A'", "x'61'", "''", "x''", "2e300"]
    func value() -> String { values.randomElement(using: &generator) ?? "NULL" }
    var parents = ["NULL"]
    for id in some(Array(1...8)).shuffled(using: &generator) {
      let parent = parents.randomElement(using: &generator) ?? "NULL"
      rows.append("INSERT INTO Node VALUES (\(id), \(parent), \(value()))")
      parents.append("\(id)")
    }
    let labels = (1...6).shuffled(using: &generator)
    let ranks = (1...6).shuffled(using: &generator)
    for id in some(Array(0..<6)) {
      rows.append("INSERT INTO Tag VALUES (\(id), 'label \(labels[id])', \(ranks[id]))")
    }
    for a in some(["a", "A", "b", "\u{e9}"]) {
      for b in some([-1, 0, 7]) {
        rows.append("INSERT INTO Pair VALUES ('\(a)', \(b), \(value()))")
      }
    }
    for key in some(["1", "2", "'1'", "x'31'", "'b'"]) {
      let isReal = key == "1" && Bool.random(using: &generator)
      rows.append("INSERT INTO Mixed VALUES (\(isReal ? "1.0" : key), \(value()))")
    }
    return rows
  }

  @Test func adoptedTablesGetTheContentHashOfTheOther() throws {
    let directory = try TemporaryDirectory()
    func open(_ name: String) throws -> Store {
      try PlainDatabase(directory.file(name)).execute(
        "PRAGMA journal_mode = WAL; \(Self.tables)")
      let store = try Store(
        at: directory.file(name), configuration: StoreConfiguration(durability: .normal))
      try store.adopt()
      return store
    }
    let (left, right) = (try open("left"), try open("right"))
    #expect(left.schema.models.map(\.name).sorted() == ["Mixed", "Node", "Pair", "Tag"])
    for seed in 0..<Self.pairCount {
      var generator = SeededGenerator(seed: UInt64(seed))
      for store in [left, right] {
        let rows = Self.rows(from: &generator)
        try store.write { tx in
          try tx.execute("PRAGMA defer_foreign_keys = ON")
          for name in ["Mixed", "Node", "Pair", "Tag"] {
            try tx.execute(SQLText(sql: "DELETE FROM \(name)"))
          }
          for row in rows { try tx.execute(SQLText(sql: row)) }
        }
      }
      try left.apply(try left.difference(to: right))
      #expect(try left.contentHash() == right.contentHash(), "seed \(seed)")
      #expect(try left.difference(to: right).isEmpty, "seed \(seed)")
    }
  }
}
