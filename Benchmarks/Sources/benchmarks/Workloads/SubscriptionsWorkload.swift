/// W9: the chart that Dflat publishes: ten thousand objects, a thousand subscriptions, one
/// transaction that updates a thousand objects. Timed from the end of the transaction's closure
/// until the last subscriber has been told.
struct SubscriptionsWorkload {
  /// What is subscribed to.
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
  /// The most transactions in one run.
  let commitCount = 5

  /// The subscriptions, the objects that a range holds, and the objects that a commit updates.
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

  /// The objects that every commit updates: those that the single subscriptions watch.
  func updated(using generator: inout SeededGenerator, of tracks: [Track]) -> [Track] {
    tracks[..<subscriptionCount].map { track in
      var track = track
      track.title = Track.randomTitle(using: &generator)
      return track
    }
  }
}
