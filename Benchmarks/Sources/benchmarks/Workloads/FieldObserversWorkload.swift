/// W8: many observers, each of one field of its own record.
///
/// GRDB has no counterpart, because each of its observers of single records is checked at every
/// commit.
struct FieldObserversWorkload {
  /// The records that the commits touch.
  enum Batch: String {
    /// One observed record; timed from the end of the transaction's closure to the event.
    case one
    /// Many observed records; timed as the whole transaction, for one of its rows.
    case many
  }

  let batch: Batch
  /// The observers of the crowded contender, and the records.
  let observerCount: Int
  /// The maximum number of commits in one run.
  var commitCount: Int { batch == .one ? 1_000 : 100 }
  /// The number of rows of one commit.
  var rowCount: Int { batch == .one ? 1 : min(1_000, observerCount) }

  var workload: Workload {
    Workload(
      id: "W8-\(batch.rawValue)",
      title: "updates of \(rowCount.grouped) records of which \(observerCount.grouped) "
        + "have an observed field (NORMAL)",
      unit: batch == .one ? "event" : "row",
      contenders: { modelStoreContenders })
  }
}
