/// Update records in one transaction, one field of each, BEGIN and COMMIT included: without
/// bindings, and under bindings of each kind, once so that the bound value stays what it is and
/// once so that it changes.
struct BindingWorkload {
  /// The records in the table, each of which a run updates.
  let count: Int

  var workload: Workload {
    Workload(
      id: "bindings",
      title: "update \(count.grouped) records in one transaction under bindings (NORMAL)",
      unit: "record",
      contenders: { modelStoreContenders })
  }
}
