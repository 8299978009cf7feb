import ModelStore

/// W18: the records that differ between two files of the same table. A third each of the changes
/// are insertions, updates and deletions.
struct DifferenceWorkload {
  let rowCount: Int
  let changeCount: Int

  var workload: Workload {
    Workload(
      id: "W18",
      title: "find \(changeCount.grouped) differences between two files of \(rowCount.grouped) "
        + "rows (NORMAL)",
      unit: "row",
      contenders: { sqliteContenders + modelStoreContenders })
  }

  /// Returns a file of tracks, and another with the changes.
  func files(in directory: TemporaryDirectory) throws -> (old: String, new: String) {
    let old = try directory.copy(of: "tracks-\(rowCount)") {
      try Store.buildTracks(Track.generate(rowCount), at: $0)
    }
    let new = try directory.copy(of: "changed-tracks-\(rowCount)") {
      try Store.buildTracks(changed(Track.generate(rowCount)), at: $0)
    }
    return (old, new)
  }

  private func changed(_ tracks: [Track]) -> [Track] {
    var tracks = tracks
    let part = changeCount / 3
    let step = rowCount / changeCount
    // From the last to the first, so that the positions of the others stay.
    for number in (0..<part).reversed() {
      tracks[(2 * number + 1) * step].rating += 10
      tracks.remove(at: 2 * number * step)
    }
    let updated = (2 * part)..<(changeCount - part)
    for number in updated { tracks[number * step - part].rating += 10 }
    return tracks
      + (0..<part).map { number in
        Track(
          id: Int64(rowCount + number + 1), title: "new \(number)", milliseconds: 1, rating: 0)
      }
  }

  /// Checks the differences that a contender has found.
  ///
  /// - Parameter keys: Their keys, in order.
  /// - Returns: A number that changes when one of them does.
  func digest(of keys: [Int64]) throws -> Int64 {
    guard keys.count == changeCount else {
      throw BenchmarkFailure("\(keys.count) records differ, not \(changeCount).")
    }
    return keys.reduce(17) { $0 &* 31 &+ $1 }
  }
}
