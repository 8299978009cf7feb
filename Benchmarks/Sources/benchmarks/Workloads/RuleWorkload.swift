/// Updates one field of each record in one transaction, BEGIN and COMMIT included: without rules,
/// and under rules of each kind. Every rule is met, so the benchmark times the check itself.
struct RuleWorkload {
  /// The records in the table, each of which a run updates.
  let count: Int

  var workload: Workload {
    Workload(
      id: "rules",
      title: "update \(count.grouped) records in one transaction under rules (NORMAL)",
      unit: "record",
      contenders: { modelStoreContenders })
  }
}
