/// What happened to a live result between two versions: both versions, and the rows touched.
/// Indices are worked out from it only when a subscriber asks, so folding is cheap.
struct QueryDelta: ObservedEvent {
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
    /// What the record was before and is after, in the result or not.
    var before: Standing
    var after: Standing

    /// How far a record is from being shown.
    enum Standing: Sendable {
      /// There is no such record.
      case absent
      /// The condition does not admit it.
      case excluded
      /// It is admitted; whether it is shown is up to the window.
      case admitted
    }
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

  var version: UInt64 { new.version }

  /// The delta from nothing to a whole result.
  static func initial(_ rows: LiveRows, images: [[SQLValue]]) -> QueryDelta {
    let empty = LiveRows(tree: PlaceTree(), version: rows.version).showing(rows.window)
    var touches: [Touch] = []
    touches.reserveCapacity(images.count)
    var next = images.makeIterator()
    rows.forEach(in: 0..<rows.count) { entry in
      touches.append(
        Touch(
          key: entry.key, old: nil, new: Side(entry: entry, image: next.next()), origin: .user,
          fields: [], isRecreated: false, before: .admitted, after: .admitted))
    }
    return QueryDelta(old: empty, new: rows, touches: touches, isReset: false, isInitial: true)
  }

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
    if let before = old, let after = later.new, before.entry == after.entry,
      let image = before.image, image == after.image
    {
      return nil
    }
    var both = later
    both.old = old
    both.before = before
    both.isRecreated = isRecreated || later.isRecreated || (after == .absent && old != nil)
    if later.new != nil { both.origin = origin }
    // Only who set a field is taken from here; what differs, the images tell.
    let set = Set(later.fields.map(\.name))
    both.fields += fields.filter { !set.contains($0.name) }
    return both
  }
}
