import Foundation
import Testing

/// A database whose last writer ended in the middle of a transaction.
@Suite(.tags(.process)) struct HotJournalTests {
  /// `cut.db` as a writer leaves it that was killed after a part of its changes had been written.
  private func makeCut() throws -> Workplace {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("whole.db"))
    try raw.execute(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
      INSERT INTO t SELECT i, printf('%0400d', i) FROM n;
      PRAGMA cache_size = 5;
      BEGIN;
      UPDATE t SET x = hex(randomblob(400));
      """)
    for ending in ["", "-journal"] {
      try FileManager.default.copyItem(
        atPath: place.path("whole.db" + ending), toPath: place.path("cut.db" + ending))
    }
    try raw.execute("ROLLBACK")
    place.environment["STORECLI_DB"] = place.path("cut.db")
    return place
  }

  @Test func readingReportsAHotJournalAndChangesNothing() throws {
    let place = try makeCut()
    let before = try Data(contentsOf: place.url("cut.db"))
    for words in [["models"], ["query", "t"], ["adopt", "-n"]] {
      let outcome = try place.runProcess(words)
      #expect(outcome.code == 1)
      #expect(
        outcome.err.hasPrefix(
          "error[readOnly]: \(place.path("cut.db")): a program ended in the middle of a transaction"
        ), "\(words) \(outcome)")
    }
    #expect(try Data(contentsOf: place.url("cut.db")) == before)
  }

  @Test(arguments: [
    ["rules", "add", "t", "--check", "id > 0"], ["rules", "drop", "t.check"],
    ["rules", "rebuild"], ["bindings", "rebuild"], ["bindings", "drop", "nothing"],
  ])
  func everyChangingCommandRollsTheTransactionBackFirst(words: [String]) throws {
    let place = try makeCut()
    let outcome = try place.runProcess(words)
    #expect(!outcome.err.contains("error[readOnly]"), "\(outcome)")
    #expect(
      try RawDatabase(place.path("cut.db")).value(
        "SELECT count(*) FROM t WHERE x = printf('%0400d', id)") == "300")
  }

  @Test func writingRollsTheTransactionBackFirst() throws {
    let place = try makeCut()
    #expect(try place.runProcess("adopt", "-q").code == 0)
    let raw = try RawDatabase(place.path("cut.db"))
    #expect(try raw.value("SELECT count(*) FROM t WHERE x = printf('%0400d', id)") == "300")
    #expect(try raw.value("PRAGMA integrity_check") == "ok")
    #expect(try place.runProcess("update", "t", "1", "x=y", "-q").code == 0)
  }
}
