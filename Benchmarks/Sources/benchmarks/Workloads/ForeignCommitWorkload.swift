/// W13: another process commits one row. Timed until a field's observer in this process is called.
/// This process writes nothing.
struct ForeignCommitWorkload {
  /// The maximum number of commits in one run.
  let commitCount: Int
  /// The records in the table.
  let rowCount = 10_000
  /// The maximum nanoseconds of one run once it has enough samples.
  let budget: UInt64 = 20_000_000_000

  var workload: Workload {
    Workload(
      id: "W13", title: "commit by another process to the event here (FULL)", unit: "event",
      contenders: { modelStoreContenders })
  }
}
