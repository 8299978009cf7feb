/// W20: comparing the models of a program with a file, and planning what has to be changed.
struct PlanWorkload {
  let modelCount: Int
  /// The maximum number of plans in one run.
  let planCount: Int

  var workload: Workload {
    Workload(
      id: "W20", title: "plan the changes of \(modelCount) models", unit: "plan",
      contenders: { modelStoreContenders })
  }
}
