/// W17: opening a file whose models and bindings are those of the program, so that nothing is to be
/// changed, and reading one record. Closing is not timed.
struct StoreOpeningWorkload {
  let modelCount: Int
  let bindingCount: Int
  /// The maximum number of openings in one run.
  let openingCount: Int

  var workload: Workload {
    Workload(
      id: "W17",
      title: "open a file of \(modelCount) models and \(bindingCount) bindings, nothing to change "
        + "(FULL)",
      unit: "opening",
      contenders: { sqliteContenders + grdbContenders + modelStoreContenders })
  }

  /// What each contender reads after opening.
  static let select = "SELECT count(*) FROM Item0"
}
