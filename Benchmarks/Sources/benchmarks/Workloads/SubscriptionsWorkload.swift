/// W9: the chart that Dflat publishes: ten thousand objects, a thousand subscriptions, one
/// transaction that updates a thousand objects. Timed from the end of the transaction's closure
/// until the last subscriber has been notified.
struct SubscriptionsWorkload {
  /// The subscribed things.
  enum Kind: String, CaseIterable {
    /// Queries that select one object each.
    case queries
    /// Objects.
    case objects
    /// Queries that select a tenth of the objects each, shifted by one value each.
    case ranges
  }

  let kind: Kind
  let objectCount: Int
  /// The maximum number of transactions in one run.
  let commitCount = 5

  /// The number of subscriptions, of objects in a range, and of objects that a commit updates.
  var subscriptionCount: Int { objectCount / 10 }

  var workload: Workload {
    Workload(
      id: "W9-\(kind.rawValue)",
      title: "update of \(subscriptionCount.grouped) of \(objectCount.grouped) objects, "
        + "\(subscriptionCount.grouped) subscriptions to \(kind.rawValue) (NORMAL)",
      unit: "commit",
      contenders: { grdbContenders + modelStoreContenders })
  }

  /// The objects: the value of `milliseconds` is the position.
  var tracks: [Track] {
    var tracks = Track.generate(objectCount)
    for index in tracks.indices { tracks[index].milliseconds = Int64(index) }
    return tracks
  }

  /// Returns the objects that every commit updates: those with a subscription of their own.
  func updated(using generator: inout SeededGenerator, of tracks: [Track]) -> [Track] {
    tracks[..<subscriptionCount].map { track in
      var track = track
      track.title = Track.randomTitle(using: &generator)
      return track
    }
  }
}
