/// W21: the transactions of W5 with and without monitors of `ModelStoreService`, with the change
/// journal, because a tracer then also tags each commit record.
struct MonitoredCommitWorkload {
  let commits: CommitWorkload

  var workload: Workload {
    let level = commits.synchronous == .full ? "full" : "normal"
    return Workload(
      id: "W21-\(level)",
      title: "one-row write transaction with log, metrics and tracing (\(level.uppercased()))",
      unit: "commit",
      contenders: { modelStoreContenders })
  }
}
