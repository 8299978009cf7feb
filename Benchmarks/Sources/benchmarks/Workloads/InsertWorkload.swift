/// W2: insert records of four fields in one transaction, BEGIN and COMMIT included, into a new
/// file for each run.
struct InsertWorkload {
  let count: Int

  var workload: Workload {
    Workload(
      id: "W2",
      title: "insert \(count.grouped) records of 4 fields in one transaction (FULL)",
      unit: "row",
      contenders: {
        let tracks = Track.generate(count)
        return sqliteContenders(tracks) + grdbContenders(tracks) + modelStoreContenders(tracks)
      })
  }
}

/// Returns a new path for every run and removes the file of the previous run.
final class RunFiles {
  private let directory: TemporaryDirectory
  private var count = 0
  private var current: TemporaryDirectory?

  init(in directory: TemporaryDirectory) {
    self.directory = directory
  }

  func next() throws -> String {
    current?.remove()
    count += 1
    let fresh = try directory.subdirectory("run-\(count)")
    current = fresh
    return fresh.file("tracks.sqlite")
  }
}
