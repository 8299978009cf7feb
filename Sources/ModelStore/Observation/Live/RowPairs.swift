/// The rows of two executions, matched by key.
struct RowPairs {
  /// The positions of each row that differs, in the order of the newer execution. Then those that
  /// only the older one has.
  private(set) var differing: [(old: Int?, new: Int?)] = []

  /// - Complexity: O(n). If the places of both ascend, only rows that differ are looked up by key.
  init(from old: RowList, to new: RowList) {
    if old.isAscending, new.isAscending {
      merge(old, new)
    } else {
      match(old, Array(old.entries.indices), new, Array(new.entries.indices))
    }
  }

  /// Matches rows by place first: a row that did not move has the same place in both.
  private mutating func merge(_ old: RowList, _ new: RowList) {
    let (oldEntries, oldImages) = (old.entries, old.images)
    let (newEntries, newImages) = (new.entries, new.images)
    var unmatched: (old: [Int], new: [Int]) = ([], [])
    var next = 0
    /// Nearly all rows are the same. Those of windows are even the same arrays in memory.
    func isSame(_ place: Int) -> Bool {
      next < oldEntries.count && oldEntries[next].place == newEntries[place].place
        && oldImages[next] == newImages[place]
    }
    for place in newEntries.indices {
      if !isSame(place) {
        let wanted = newEntries[place].place
        while next < oldEntries.count, oldEntries[next].place < wanted {
          unmatched.old.append(next)
          next += 1
        }
        guard isSame(place) else {
          unmatched.new.append(place)
          continue
        }
      }
      next += 1
    }
    unmatched.old += next..<oldEntries.count
    match(old, unmatched.old, new, unmatched.new)
  }

  private mutating func match(
    _ old: RowList, _ oldPlaces: [Int], _ new: RowList, _ newPlaces: [Int]
  ) {
    guard !oldPlaces.isEmpty || !newPlaces.isEmpty else { return }
    // A damaged index may return a row twice.
    let positions = FewByKey(oldPlaces.map { (old.entries[$0].key, $0) })
    let kept = FewByKey(newPlaces.map { (new.entries[$0].key, $0) })
    for place in newPlaces {
      let position = positions[new.entries[place].key]
      if let position, old.images[position] == new.images[place] { continue }
      differing.append((position, place))
    }
    for place in oldPlaces where kept[old.entries[place].key] == nil {
      differing.append((place, nil))
    }
  }
}

/// Values by key: a dictionary, unless there are so few that a search takes less time. Of values
/// with equal keys, it has the last one.
struct FewByKey<Value> {
  private var few: [(key: [SQLValue], value: Value)] = []
  private var many: [[SQLValue]: Value] = [:]

  private static var fewCount: Int { 4 }

  init(_ entries: [(key: [SQLValue], value: Value)]) {
    if entries.count <= Self.fewCount {
      few = entries
    } else {
      many = Dictionary(entries.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
    }
  }

  init(_ values: [[SQLValue]: Value]) {
    many = values
  }

  subscript(key: [SQLValue]) -> Value? {
    few.isEmpty ? many[key] : few.last { $0.key == key }?.value
  }
}

extension FewByKey<RecordChange> {
  init(_ changes: [RecordChange]) {
    self.init(changes.map { ($0.key, $0) })
  }
}
