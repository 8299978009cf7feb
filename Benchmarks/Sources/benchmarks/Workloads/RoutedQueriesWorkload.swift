/// W7: a one-row commit beside many live queries, each of one value of the same field.
///
/// GRDB has no counterpart. It re-executes every observed query of a table after each commit that
/// touches the table: ten thousand queries for each commit.
struct RoutedQueriesWorkload {
  /// The queries that the commits affect.
  enum Target: String {
    /// One of the queries; timed from the end of the transaction's closure to the event.
    case one
    /// None of them; timed as the whole transaction.
    case none
  }

  let target: Target
  /// The live queries of the crowded contender, and the rows of the table.
  let queryCount: Int
  /// The maximum number of commits in one run.
  let commitCount = 1_000

  var workload: Workload {
    let unit = target == .one ? "event" : "commit"
    return Workload(
      id: "W7-\(target.rawValue)",
      title: "one-row update beside \(queryCount.grouped) live queries by value, concerning "
        + "\(target.rawValue) of them (NORMAL)",
      unit: unit,
      contenders: { modelStoreContenders })
  }
}
