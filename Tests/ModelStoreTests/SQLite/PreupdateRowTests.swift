import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct PreupdateRowTests {
  /// Which of the row number and the columns each update changes.
  @Test func aRowNumberWithoutAColumnIsComparedToo() throws {
    let database = try ScratchDatabase(
      "CREATE TABLE t (a, b); INSERT INTO t (rowid, a, b) VALUES (1, 1, 'x'), (2, 1, 'x')")
    var changes: [[Bool]] = []
    database.connection.hooks.onRowChange { row in
      changes.append([
        row.changes(at: .rowID), row.changes(at: .plain(0)), row.changes(at: .plain(1)),
      ])
    }
    try database.connection.execute(
      """
      UPDATE t SET a = 1, b = 'y' WHERE rowid = 1;
      UPDATE t SET rowid = 3 WHERE rowid = 2;
      UPDATE t SET rowid = rowid, a = 1.0 WHERE rowid = 3;
      """)
    database.connection.hooks.onRowChange(nil)
    #expect(
      changes == [[false, false, true], [true, false, false], [false, true, false]])
  }
}
