/// W12: a one-row update that concerns a window in the middle of a large table: a row in it
/// changes, or one before it goes behind it, so that the window slides.
struct WindowWorkload {
  let rowCount: Int
  /// The rows of the window, whose first is in the middle.
  let limit = 50
  /// The most updates in one run.
  let updateCount = 1_000

  var offset: Int { rowCount / 2 }

  var workload: Workload {
    Workload(
      id: "W12",
      title: "update under a window of \(limit) rows at \(offset.grouped) "
        + "of \(rowCount.grouped) (NORMAL)",
      unit: "event",
      contenders: { grdbContenders + modelStoreContenders })
  }

  /// The table: the value of `milliseconds` is twice the position, so that there is room between.
  var tracks: [Track] {
    var tracks = Track.generate(rowCount)
    for index in tracks.indices { tracks[index].milliseconds = Int64(2 * index) }
    return tracks
  }

  /// The update with that number, and whether the window slides by it.
  ///
  /// - Parameter tracks: The table, which takes up the update.
  func update(_ number: Int, of tracks: inout [Track]) -> (track: Track, slides: Bool) {
    guard number.isMultiple(of: 2) else {
      // In the middle of the window for as long as it has slid by less than half of its rows and
      // after: every slide makes the next row its first.
      let index = offset + limit / 2 + number / 2
      tracks[index].rating = tracks[index].rating == 1 ? 2 : 1
      return (tracks[index], false)
    }
    let index = number / 2
    tracks[index].milliseconds = Int64(2 * rowCount + number)
    return (tracks[index], true)
  }
}
