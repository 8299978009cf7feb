import Foundation
import ModelStore
import Testing

@Suite(.tags(.unit)) struct AdoptingExample {
  @Test func tablesOfAnotherProgramBecomeModels() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("music.sqlite")
    try Store(at: path).write { tx in
      try tx.execute(
        "CREATE TABLE Track (TrackId INTEGER PRIMARY KEY, Name NVARCHAR(200), Milliseconds INT)")
      try tx.execute("CREATE TABLE Log (Line TEXT)")
      try tx.execute("INSERT INTO Track VALUES (1, 'So What', 545000), (2, 'Blue', 210000)")
    }
    // snippet: adopting-an-existing-database
    let store = try Store(at: path)
    let refused = try store.adoptableTables().compactMap(\.reason)
    // Log has no primary key, and no UNIQUE constraint over columns that are NOT NULL. …
    let models = try store.adopt().map(\.name)
    // models: ["Track"]

    let track = try store.schema.model(named: "Track")
    let parser = PredicateParser(schema: track, now: Date())
    let long = StoreQuery<DynamicRecord>(track)
      .filter(matching: try parser.predicate(parsing: "Milliseconds > 300000"))
      .order(by: try parser.order(parsing: "Name"))
    let names = try store.fetch(long).map { $0["Name"] }
    // names: [.text("So What")]

    let live = try store.liveQuery(long)
    try store.write { tx in
      try tx.update(track, key: [.integer(2)], set: ["Milliseconds": .integer(400_000)])
    }
    let keys = live.keys(in: 0..<live.count)
    // keys: [[.integer(2)], [.integer(1)]]
    // end
    #expect(refused.count == 1)
    #expect(
      refused.first?.hasPrefix(
        "Log has no primary key, and no UNIQUE constraint over columns that are NOT NULL.") == true)
    #expect(models == ["Track"])
    #expect(names == [.text("So What")])
    #expect(keys == [[.integer(2)], [.integer(1)]])
  }
}
