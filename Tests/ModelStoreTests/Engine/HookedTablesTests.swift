import Testing

@testable import ModelStore

/// Which rows of the preupdate hook are the file's own.
@Suite(.tags(.unit)) struct HookedTablesTests {
  @Test func aTemporaryTableIsNotConfusedWithATableOfTheFile() throws {
    let scratch = try ScratchDatabase(
      "CREATE TABLE main.Song (id); CREATE TEMP TABLE song (id); CREATE TABLE other (id)")
    let numbers = Recorder<Int?>()
    var tables = HookedTables(names: ["unused", "SONG"])
    scratch.connection.hooks.onRowChange { row in numbers.add(tables.number(of: row)) }
    for table in ["main.Song", "temp.Song", "other", "main.song"] {
      try scratch.connection.execute("INSERT INTO \(table) VALUES (1)")
    }
    scratch.connection.hooks.onRowChange(nil)
    #expect(numbers.events == [1, nil, nil, 1])
  }
}
