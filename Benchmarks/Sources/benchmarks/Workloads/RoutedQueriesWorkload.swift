/// W7: a one-row commit beside many live queries, each of one value of the same field.
///
/// GRDB runs every observed query of a table again after each commit that touches the table, so it
/// has no counterpart: ten thousand queries a commit.
struct RoutedQueriesWorkload {
  /// Whom the commits concern.
  enum Target: String {
    /// One of the queries; timed from the end of the transaction's closure to the event.
    case one
    /// None of them; timed as the whole transaction.
    case none
  }

  let target: Target
  /// The live queries of the crowded contender, and the rows of the table.
  let queryCount: Int
  /// The most commits in one run.
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
