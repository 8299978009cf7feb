/// W10: an edit at a random index of a long ordered list, in a transaction of its own.
struct LongListWorkload {
  /// The edits, in turn.
  enum Edit: CaseIterable {
    case insert, move, remove
  }

  let slotCount: Int
  /// The maximum number of edits in one run.
  let editCount = 900

  var workload: Workload {
    Workload(
      id: "W10",
      title: "insert, move, remove at random places of a list of \(slotCount.grouped) (NORMAL)",
      unit: "commit",
      contenders: { grdbContenders + modelStoreContenders })
  }

  /// Returns the element at an index at the beginning: a thousand elements, each many times.
  func element(at index: Int) -> Int64 { Int64(index % Self.elementCount + 1) }

  static let elementCount = 1_000
}
