/// W11: opening a live query of a whole large table, in the order of an index.
struct OpeningWorkload {
  /// The order of the query.
  enum Order: String {
    case integers
    case texts
  }

  let order: Order
  let rowCount: Int

  var workload: Workload {
    Workload(
      id: "W11-\(order.rawValue)",
      title: "open a live query of \(rowCount.grouped) rows ordered by \(order.rawValue) (NORMAL)",
      unit: "query",
      contenders: { grdbContenders + modelStoreContenders })
  }

  var column: String { order == .integers ? "milliseconds" : "title" }

  /// Titles are 16 letters long here.
  var tracks: [Track] {
    var tracks = Track.generate(rowCount)
    if order == .texts {
      for index in tracks.indices { tracks[index].title = String(tracks[index].title.prefix(16)) }
    }
    return tracks
  }
}
