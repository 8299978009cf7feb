/// A hash table of the places of touched rows in an array, found by the row's table and identity.
///
/// The array has the rows, so an entry is one number. A dictionary would copy and hash each
/// identity with several times the work, and most of it is done inside the preupdate hook. It has
/// room for 2,147,483,647 rows of one transaction, which memory ends long before.
struct RowPlaces {
  /// A place, or -1. The count is a power of two, or 0.
  private var slots: ContiguousArray<Int32> = []
  private var count = 0

  var isEmpty: Bool { count == 0 }

  /// Returns the place for which `isWanted` is true.
  ///
  /// - Parameter hash: The hash of the row at that place.
  func first(withHash hash: Int, where isWanted: (Int) -> Bool) -> Int? {
    guard !slots.isEmpty else { return nil }
    var slot = hash & (slots.count - 1)
    while slots[slot] >= 0 {
      let place = Int(slots[slot])
      if isWanted(place) { return place }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  /// Adds the place that follows those added so far.
  ///
  /// - Parameter hash: Returns the hash of the row at a place.
  mutating func append(hash: (_ place: Int) -> Int) {
    if (count + 1) * 2 > slots.count {
      slots = ContiguousArray(repeating: -1, count: max(16, slots.count * 2))
      for place in 0..<count { enter(place, hash(place)) }
    }
    enter(count, hash(count))
    count += 1
  }

  private mutating func enter(_ place: Int, _ hash: Int) {
    var slot = hash & (slots.count - 1)
    while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
    slots[slot] = Int32(place)
  }
}

extension ChangeCapture.RowIdentity {
  /// A hash of the row with this identity in a table. It differs between processes.
  func hash(in table: Int) -> Int {
    switch self {
    case .rowID(let number):
      return RecordIdentity.quickHash(of: number ^ Int64(truncatingIfNeeded: table) << 48)
    case .key(let values):
      return values.hashValue ^ table
    }
  }
}
