/// W13: another process commits one row; how long until a field's observer here is called. Nothing
/// is written here.
struct ForeignCommitWorkload {
  /// The most commits in one run.
  let commitCount: Int
  /// The records in the table.
  let rowCount = 10_000
  /// The most nanoseconds that one run may take once it has enough.
  let budget: UInt64 = 20_000_000_000

  var workload: Workload {
    Workload(
      id: "W13", title: "commit by another process to the event here (FULL)", unit: "event",
      contenders: { modelStoreContenders })
  }
}
