/// One version of a live result: which rows, in which order. Copies are snapshots.
struct LiveRows: Sendable {
  /// A row's place in the order, with the key to find it by.
  struct Entry: Comparable, Sendable {
    let place: SortKey
    let key: [SQLValue]

    static func == (left: Entry, right: Entry) -> Bool { left.place == right.place }
    static func < (left: Entry, right: Entry) -> Bool { left.place < right.place }
  }

  var tree: RankedTree<Entry>
  var version: UInt64

  /// Applies what one commit did.
  ///
  /// - Returns: false when the rows cannot be those that the commit changed; then nothing was done.
  mutating func advance(to version: UInt64, _ touches: [QueryDelta.Touch]) -> Bool {
    var tree = tree
    for touch in touches {
      guard let entry = touch.old?.entry else { continue }
      guard tree.remove(entry) != nil else { return false }
    }
    for touch in touches {
      guard let entry = touch.new?.entry else { continue }
      guard tree.insert(entry) else { return false }
    }
    self.tree = tree
    self.version = version
    return true
  }
}

/// What happened to a live result between two versions: both versions, and the rows touched.
/// Indices are worked out from it only when a subscriber asks, so folding is cheap.
struct QueryDelta: Sendable {
  struct Touch: Sendable {
    let key: [SQLValue]
    /// The row in the older result, or nil when it was not in it.
    var old: Side?
    /// The row in the newer result, or nil when it is not in it.
    var new: Side?
    var origin: Origin
    /// What the commits said of the record's fields: who set them. For folded commits neither
    /// complete nor exact.
    var fields: [ChangedField]
    var isRecreated: Bool
    /// Whether the record exists in that version, in the result or not.
    var existedBefore: Bool
    var existsAfter: Bool
  }

  struct Side: Sendable {
    let entry: LiveRows.Entry
    /// The record's values in field order; nil where only its place is known, after a reset.
    let image: [SQLValue]?
  }

  var old: LiveRows
  var new: LiveRows
  var touches: [Touch]
  var isReset: Bool
  var isInitial = false

  /// This delta and the one that follows it as one, or nil when they cancel out.
  ///
  /// - Complexity: Linear in the rows touched by both.
  func followed(by later: QueryDelta) -> QueryDelta? {
    var merged: [Touch?] = touches
    var places: [[SQLValue]: Int] = [:]
    for (index, touch) in touches.enumerated() { places[touch.key] = index }
    for touch in later.touches {
      guard let place = places[touch.key], let earlier = merged[place] else {
        places[touch.key] = merged.count
        merged.append(touch)
        continue
      }
      merged[place] = earlier.followed(by: touch)
    }
    let both = QueryDelta(
      old: old, new: later.new, touches: merged.compactMap(\.self),
      isReset: isReset || later.isReset, isInitial: isInitial)
    return both.touches.isEmpty && !both.isReset && !isInitial ? nil : both
  }
}

extension QueryDelta.Touch {
  fileprivate func followed(by later: QueryDelta.Touch) -> QueryDelta.Touch? {
    guard old != nil || later.new != nil else { return nil }
    if let before = old?.image, let after = later.new?.image, before == after { return nil }
    var both = later
    both.old = old
    both.existedBefore = existedBefore
    both.isRecreated = isRecreated || later.isRecreated || (!existsAfter && old != nil)
    if later.new != nil { both.origin = origin }
    // Only who set a field is taken from here; what differs, the images tell.
    let set = Set(later.fields.map(\.name))
    both.fields += fields.filter { !set.contains($0.name) }
    return both
  }
}
