/// W1: a one-row update under a live sorted, filtered query. Timed from the return of COMMIT until
/// the subscriber has the event.
///
/// GRDB and raw SQLite answer with the whole result, fetched again, without what changed. There is
/// no index on the sort column, as in a table on which only one of many queries is live.
struct LiveQueryWorkload {
  /// The variant's name within W1.
  let name: String
  /// The number of rows that satisfy the query; the table contains a quarter more.
  let resultCount: Int
  /// The maximum number of updates in one run.
  let updateCount = 1_000

  /// Whether re-executing the query takes seconds. Then one sample for each run is enough, and the
  /// slower of several variants are left out.
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
