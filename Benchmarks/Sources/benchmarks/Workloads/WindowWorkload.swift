/// W12: a one-row update that affects a window in the middle of a large table. Either a row in the
/// window changes, or a row before it moves behind it, so that the window slides.
struct WindowWorkload {
  let rowCount: Int
  /// The number of rows in the window. Its first row is in the middle of the table.
  let limit = 50
  /// The maximum number of updates in one run.
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

  /// The table. The value of `milliseconds` is twice the position, to leave gaps.
  var tracks: [Track] {
    var tracks = Track.generate(rowCount)
    for index in tracks.indices { tracks[index].milliseconds = Int64(2 * index) }
    return tracks
  }

  /// Returns the update with that number, and whether it slides the window.
  ///
  /// - Parameter tracks: The table, to which the update is applied.
  func update(_ number: Int, of tracks: inout [Track]) -> (track: Track, slides: Bool) {
    guard number.isMultiple(of: 2) else {
      // Always in the middle of the window, because every slide makes the next row its first.
      let index = offset + limit / 2 + number / 2
      tracks[index].rating = tracks[index].rating == 1 ? 2 : 1
      return (tracks[index], false)
    }
    let index = number / 2
    tracks[index].milliseconds = Int64(2 * rowCount + number)
    return (tracks[index], true)
  }
}
