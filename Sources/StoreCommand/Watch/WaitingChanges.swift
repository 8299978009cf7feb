import ModelStore

/// Changes of results in their order, until they are written. Each event is a step.
struct WaitingChanges {
  private typealias Keys = QueryChanges<DynamicRecord>.ResultKeys

  private(set) var changes: [WatchedChange] = []
  private var eventCount = 0
  /// The number of the last step.
  private var step = 0
  /// The result before the first and after the last event.
  private var ends: (old: Keys, new: Keys)?

  /// - Parameter lines: The lines for `event`: of a single result, if they have indices.
  mutating func add(_ lines: [WatchedChange], of event: QueryChanges<DynamicRecord>) {
    // An event without lines also moves the end.
    eventCount += 1
    step += 1
    changes += lines.map { line in
      var line = line
      line.place?.step = step
      return line
    }
    ends = (old: ends?.old ?? event.old, new: event.new)
  }

  /// Returns the waiting changes and removes them.
  mutating func take() -> WaitingChanges {
    let taken = self
    self = WaitingChanges()
    step = taken.step
    return taken
  }

  /// The net changes of all events as one step, with indices in the first and last results.
  ///
  /// - Complexity: Linear in the results if several events have indices, else in the changes.
  var net: [WatchedChange] {
    var net = NetChanges.of(changes)
    // The indices of a single event are already those of its ends.
    guard eventCount > 1, let ends, net.contains(where: { $0.place != nil }) else { return net }
    net = NetChanges.placed(net, from: ends.old, to: ends.new)
    for index in net.indices { net[index].place?.step = step }
    return net
  }
}
