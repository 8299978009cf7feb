import ModelStore

/// Changes of results, in the order in which they came, until somebody tells them. Each event is a
/// step.
struct WaitingChanges {
  private typealias Keys = QueryChanges<DynamicRecord>.ResultKeys

  private(set) var changes: [WatchedChange] = []
  private var eventCount = 0
  /// The number of the last step.
  private var step = 0
  /// The result before the first and after the last event.
  private var ends: (old: Keys, new: Keys)?

  /// - Parameter lines: What is to be told of `event`: of one result where they have places.
  mutating func add(_ lines: [WatchedChange], of event: QueryChanges<DynamicRecord>) {
    // One of which nothing is to be told moves the end, too.
    eventCount += 1
    step += 1
    changes += lines.map { line in
      var line = line
      line.place?.step = step
      return line
    }
    ends = (old: ends?.old ?? event.old, new: event.new)
  }

  /// Hands over what waits.
  mutating func take() -> WaitingChanges {
    let taken = self
    self = WaitingChanges()
    step = taken.step
    return taken
  }

  /// What all of them come to, record by record, as one step with places in the results at both
  /// ends.
  ///
  /// - Complexity: Linear in the results where several events have places, else in the changes.
  var net: [WatchedChange] {
    var net = NetChanges.of(changes)
    // One event's places are those of its ends already.
    guard eventCount > 1, let ends, net.contains(where: { $0.place != nil }) else { return net }
    net = NetChanges.placed(net, from: ends.old, to: ends.new)
    for index in net.indices { net[index].place?.step = step }
    return net
  }
}
