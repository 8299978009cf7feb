/// Labels for slots: integers with gaps between them. The computation neither reads nor writes.
struct ListLabels {
  /// The distance between labels added at either end.
  let step: Int64
  /// The lowest label to assign, unless the list already has a lower one.
  let least: Int64

  /// Labels in the store's own tables: 2^43 elements fit on either side.
  static let own = ListLabels(step: 1 << 20, least: .min)
  /// Labels that are positions in an adopted table. Other programs continue to count them, and may
  /// not expect negative positions.
  static let adopted = ListLabels(step: 1, least: 0)

  /// Returns ascending labels for `count` slots between two neighbours, as far apart as possible.
  ///
  /// - Parameters:
  ///   - left: The label before them, or nil at the beginning of the list.
  ///   - right: The label behind them, or nil at the end of the list.
  /// - Returns: nil when there are not enough free labels.
  func free(_ count: Int, after left: Int64?, before right: Int64?) -> [Int64]? {
    let wanted = Int64(count)
    switch (left, right) {
    case (nil, nil):
      return (0..<wanted).map { $0 * step }
    case (let left?, nil):
      let (last, overflow) = left.addingReportingOverflow(wanted * step)
      guard !overflow, last > left else {
        return Self.spaced(wanted, after: left, before: .max)
      }
      return (1...wanted).map { left + $0 * step }
    case (nil, let right?):
      let (first, overflow) = right.subtractingReportingOverflow(wanted * step)
      guard !overflow, first < right, first >= least || right < least else {
        let low = right < least || least == .min ? .min : least - 1
        return Self.spaced(wanted, after: low, before: right)
      }
      return (0..<wanted).map { first + $0 * step }
    case (let left?, let right?):
      return Self.spaced(wanted, after: left, before: right)
    }
  }

  private static func spaced(
    _ count: Int64, after left: Int64, before right: Int64
  ) -> [Int64]? {
    guard left < right else { return nil }
    // The distance may exceed the range of Int64.
    let gap = UInt64(bitPattern: right &- left) / UInt64(count + 1)
    guard gap >= 1 else { return nil }
    return (1...UInt64(count)).map { Int64(bitPattern: UInt64(bitPattern: left) &+ gap &* $0) }
  }

  /// Returns new labels for the smallest range around `label` that is sparse enough to be spread
  /// evenly. Later insertions then find gaps again. See Bender et al., "Two simplified algorithms
  /// for maintaining order in a list", ESA 2002. Amortised O(log n) labels for each insertion.
  ///
  /// - Parameters:
  ///   - room: The minimum number of free labels in each gap.
  ///   - places: The list's places.
  /// - Returns: The places in that range with their new labels, or nil when no range is sparse
  ///   enough.
  static func spread(
    around label: Int64, room: Int, in places: RankedTree<ListPlace>
  ) -> [(place: ListPlace, label: Int64)]? {
    // At most half full, and each level a little sparser than the level below it.
    var density = 0.5 * 1.3
    for bits in 4...61 {
      density /= 1.3
      let width = Int64(1) << bits
      let low = label & ~(width - 1)
      let high = low + (width - 1)
      let first = places.rank(of: ListPlace(label: low, slot: .min))
      let last = ListPlace(label: high, slot: .max)
      let end = places.rank(of: last) + (places.contains(last) ? 1 : 0)
      let crowd = end - first
      let gap = width / Int64(crowd + 1)
      guard Double(crowd + 1) < Double(width) * density, gap > Int64(room) else { continue }
      var spread: [(place: ListPlace, label: Int64)] = []
      spread.reserveCapacity(crowd)
      places.forEach(in: first..<end) { place in
        spread.append((place, low + gap * Int64(spread.count + 1)))
      }
      return spread
    }
    return nil
  }
}
