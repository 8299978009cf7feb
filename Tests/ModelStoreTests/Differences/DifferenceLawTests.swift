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

  /// Changes some records of a store.
  private static func disturb(_ store: Store, from generator: inout SeededGenerator) throws {
    try store.write { tx in
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        let id = Int64.random(in: 1...12, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: try tx.execute("DELETE FROM Album WHERE id = \(id)")
        case 1: try tx.execute("UPDATE Artist SET name = 'other ' || id WHERE id = \(id)")
        case 2: try tx.execute("INSERT OR IGNORE INTO Artist (id, name) VALUES (\(id), 'new')")
        default: try tx.execute("UPDATE Album SET title = 'other' WHERE id = \(id)")
        }
      }
    }
  }

  /// The keys of a difference's records that are not as it says, without bound fields.
  private static func conflicts(
    of difference: [RecordDifference], in store: Store
  ) throws -> Set<[SQLValue]> {
    var keys: Set<[SQLValue]> = []
    for record in difference {
      let schema = try store.schema.model(named: record.model)
      let present = try store.read { tx in try tx.find(schema, key: record.key) }
      var old = record.old
      old?["artistName"] = nil
      // An update of bound fields alone writes nothing, whatever became of the record.
      guard record.operation != .update || old?.isEmpty == false else { continue }
      let isAsSaid =
        if let old, let present {
          old.allSatisfy { name, value in
            schema.fieldIndex(named: name).map { present.values[$0] } == value
          }
        } else {
          old == nil && present == nil
        }
      if !isAsSaid { keys.insert([.text(record.model)] + record.key) }
    }
    return keys
  }

  @Test func recordsThatChangedMeanwhileAreConflictsAndNothingElseIs() throws {
    let directory = try TemporaryDirectory()
    func open(_ name: String) throws -> Store {
      try Store(
        at: directory.file(name), models: Artist.self, Album.self,
        bindings: [.copy(\Artist.name, to: \Album.artistName, through: \Album.artistID)],
        rules: [
          Rule(
            "Album.fewPerTitle", of: "Album", fields: ["title"],
            .countAtMost(count: 9, per: ["title"]))
        ], configuration: StoreConfiguration(durability: .normal))
    }
    let (left, right) = (try open("left"), try open("right"))
    var outcomes: [String: Int] = [:]
    for seed in 0..<Self.pairCount {
      var generator = SeededGenerator(seed: UInt64(seed))
      try Self.fill(left, from: &generator, seed)
      try Self.fill(right, from: &generator, seed)
      let difference = try left.difference(to: right)
      try Self.disturb(left, from: &generator)
      let hash = try left.contentHash()
      let expected = try Self.conflicts(of: difference, in: left)
      do {
        try left.apply(difference)
        #expect(expected == [], "seed \(seed)")
        outcomes["applied", default: 0] += 1
      } catch let error as StoreError where error.code == .conflict && !expected.isEmpty {
        let found = Set(error.violations.map { [SQLValue.text($0.model)] + ($0.key ?? []) })
        #expect(found == expected, "seed \(seed)")
        #expect(try left.contentHash() == hash, "seed \(seed)")
        outcomes["conflict", default: 0] += 1
      } catch let error as StoreError where [.rejected, .conflict].contains(error.code) {
        // A record that is not part of the difference stands in the way, such as a new album of an
        // artist to delete.
        #expect(try left.contentHash() == hash, "seed \(seed)")
        outcomes["refused", default: 0] += 1
      }
    }
    print("differences of changed stores: \(outcomes)")
    #expect((outcomes["applied"] ?? 0) > Self.pairCount / 10, "\(outcomes)")
    #expect((outcomes["conflict"] ?? 0) > Self.pairCount / 10, "\(outcomes)")
  }

  /// The control: a difference without one of its records does not give the other content.
  @Test func anIncompleteDifferenceIsFound() throws {
    let directory = try TemporaryDirectory()
    func open(_ name: String) throws -> Store {
      try Store(
        at: directory.file(name), models: Artist.self, Album.self,
        configuration: StoreConfiguration(durability: .normal))
    }
    let (left, right) = (try open("left"), try open("right"))
    var found = 0
    for seed in 0..<20 {
      var generator = SeededGenerator(seed: UInt64(seed))
      try Self.fill(left, from: &generator, seed)
      try Self.fill(right, from: &generator, seed)
      var difference = try left.difference(to: right)
      guard let place = difference.indices.randomElement(using: &generator) else { continue }
      difference.remove(at: place)
      do {
        try left.apply(difference)
        #expect(try left.contentHash() != right.contentHash(), "seed \(seed)")
        #expect(try left.difference(to: right).count >= 1, "seed \(seed)")
        found += 1
      } catch let error as StoreError where [.rejected, .conflict].contains(error.code) {
        continue
      }
    }
    #expect(found > 5)
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
