import ModelStore

/// Changes of results, in the order in which they came, until somebody tells them.
struct WaitingChanges {
  private typealias Keys = QueryChanges<Record>.ResultKeys

  private(set) var changes: [WatchedChange] = []
  private var eventCount = 0
  /// The result before the first and after the last event.
  private var ends: (old: Keys, new: Keys)?

  /// - Parameter lines: What is to be told of `event`: of one result where they have places.
  mutating func add(_ lines: [WatchedChange], of event: QueryChanges<Record>) {
    changes += lines
    // One of which nothing is to be told moves the end, too.
    eventCount += 1
    ends = (old: ends?.old ?? event.old, new: event.new)
  }

  /// What all of them come to, record by record, with places in the results at both ends.
  ///
  /// - Complexity: Linear in the results where several events have places, else in the changes.
  var net: [WatchedChange] {
    let net = NetChanges.of(changes)
    // One event's places are those of its ends already.
    guard eventCount > 1, let ends, net.contains(where: { $0.place != nil }) else { return net }
    return NetChanges.placed(net, from: ends.old, to: ends.new)
  }
}
