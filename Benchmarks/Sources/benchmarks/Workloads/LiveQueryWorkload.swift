/// W1: a one-row update under a live sorted, filtered query. Timed from COMMIT returned until the
/// subscriber has the event.
///
/// GRDB and raw SQLite answer with the whole result, fetched again; neither says what changed.
/// There is no index on the sort column, as in a table of which one query of many is live.
struct LiveQueryWorkload {
  /// The variant's name within W1.
  let name: String
  /// The rows that satisfy the query; the table holds a quarter more.
  let resultCount: Int
  /// The most updates in one run.
  let updateCount = 1_000

  /// Running a query of a million rows again takes seconds: then one sample a run must do, and the
  /// slower ones of several variants stay away.
  var isLarge: Bool { resultCount > 100_000 }
  var sampleCountMin: Int { isLarge ? 1 : 5 }

  var workload: Workload {
    Workload(
      id: "W1-\(name)",
      title: "one-row update under a live query of \(resultCount.grouped) rows (NORMAL)",
      unit: "event",
      contenders: { sqliteContenders + grdbContenders + modelStoreContenders })
  }
}
