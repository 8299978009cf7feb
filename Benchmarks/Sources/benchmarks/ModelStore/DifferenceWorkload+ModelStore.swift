import ModelStore

extension DifferenceWorkload {
  var modelStoreContenders: [Contender] {
    [
      Contender(library: .modelStore, name: "ModelStore") { directory in
        let files = try files(in: directory)
        let old = try Store.open(files.old, StoredTrack.self, synchronous: .normal)
        let new = try Store.open(files.new, StoredTrack.self, synchronous: .normal)
        return Session(policy: try old.policy()) {
          var keys: [Int64] = []
          let timing = try Stopwatch.whole(operations: rowCount) {
            keys = try differingKeys(old, new)
          }
          return Measurement(timing, digest: try digest(of: keys))
        }
      }
    ]
  }

  private func differingKeys(_ old: Store, _ new: Store) throws -> [Int64] {
    var keys: [Int64] = []
    try old.forEachDifference(to: new) { difference in
      guard case .integer(let id) = difference.key[0] else { return }
      keys.append(id)
    }
    return keys
  }
}
