/// The difference between two versions of a live result: both versions, and the touched rows.
/// Indices are computed only on demand, so coalescing is cheap.
struct QueryDelta: ObservedEvent {
  struct Touch: Sendable {
    let key: [SQLValue]
    /// The row in the older result, or nil when it was not in it.
    var old: Side?
    /// The row in the newer result, or nil when it is not in it.
    var new: Side?
    var origin: Origin
    /// The changed fields with their origins, as the commits report them. For coalesced commits the
    /// list is neither complete nor exact.
    var fields: [ChangedField]
    var isRecreated: Bool
    /// The record's standing before and after, whether it is in the result or not.
    var before: Standing
    var after: Standing

    /// The standing of a record in a result.
    enum Standing: Sendable {
      /// The record does not exist.
      case absent
      /// The condition does not admit it.
      case excluded
      /// The condition admits it; the window determines whether it is shown.
      case admitted
    }
  }

  struct Side: Sendable {
    let entry: LiveRows.Entry
    /// The record's values in field order; nil after a reset, when only its place is known.
    let image: [SQLValue]?
  }

  var old: LiveRows
  var new: LiveRows
  var touches: [Touch]
  var isReset: Bool
  var isInitial = false
  /// The cascade that the commit belongs to.
  var wave = Wave.current

  var version: UInt64 { new.version }

  /// Returns the delta from an empty result to the given one.
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
}

extension QueryDelta {
  struct Folding: EventFolding {
    /// The first delta and the common properties of all, without touches.
    private var frame: QueryDelta
    private var touches = Folded<[SQLValue], Touch>()
    /// Whether only places are stored, and rows that keep their place are dropped.
    private var hasOnlyPlaces = false

    /// The minimum limit of rows stored with their values. Beyond this and half of the result, the
    /// waiting delta would outgrow the result, so it becomes a reset.
    private static let heldCountMax = 1024

    init(_ first: QueryDelta) {
      frame = first
      frame.touches = []
      for touch in first.touches { touches.fold(touch.key) { _ in touch } }
    }

    mutating func add(_ later: QueryDelta) {
      frame.new = later.new
      frame.isReset = frame.isReset || later.isReset
      frame.wave = frame.wave.folded(with: later.wave)
      for touch in later.touches {
        touches.fold(touch.key) { [hasOnlyPlaces] earlier in
          let both = earlier.map { $0.followed(by: touch) } ?? touch
          return hasOnlyPlaces ? both?.asPlace : both
        }
      }
      if !hasOnlyPlaces, !frame.isInitial,
        touches.count > max(Self.heldCountMax, frame.new.count / 2)
      {
        hasOnlyPlaces = true
        frame.isReset = true
        touches.update { $0.asPlace }
      }
    }

    var isEmpty: Bool { touches.isEmpty && !frame.isReset && !frame.isInitial }

    var event: QueryDelta {
      var event = frame
      event.touches = touches.entries
      return event
    }
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
    // Only the origins come from here; the images show which fields differ.
    let set = Set(later.fields.map(\.name))
    both.fields += fields.filter { !set.contains($0.name) }
    return both
  }

  /// The part that a reset reports: nil for a row that keeps its place.
  fileprivate var asPlace: Self? {
    if let old, let new, old.entry == new.entry { return nil }
    var place = self
    place.old = old.map { QueryDelta.Side(entry: $0.entry, image: nil) }
    place.fields = []
    return place
  }
}
