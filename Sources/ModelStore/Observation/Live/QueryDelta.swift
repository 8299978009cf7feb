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
    /// The record's values in field order; nil for a row of the older result whose values were not
    /// kept, after a reset.
    let image: [SQLValue]?
  }

  var old: LiveRows
  var new: LiveRows
  var touches: [Touch]
  var isReset: Bool
  var isInitial = false
  /// What the commit answered to.
  var wave = Wave.current

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
}

extension QueryDelta {
  struct Folding: EventFolding {
    /// The first delta, and what is true of all of them; without touches.
    private var frame: QueryDelta
    private var touches = Folded<[SQLValue], Touch>()
    /// Whether the records of the older result are no longer held.
    private var hasOnlyNewRecords = false

    /// How many rows are held at least with both records. Beyond that and half of the result only
    /// the newer record of each row is held, so that what waits does not outgrow the result; the
    /// event becomes a reset.
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
        touches.fold(touch.key) { [hasOnlyNewRecords] earlier in
          let both = earlier.map { $0.followed(by: touch) } ?? touch
          return hasOnlyNewRecords ? both?.withoutOldRecord : both
        }
      }
      if !hasOnlyNewRecords, !frame.isInitial,
        touches.count > max(Self.heldCountMax, frame.new.count / 2)
      {
        hasOnlyNewRecords = true
        frame.isReset = true
        touches.update { $0.withoutOldRecord }
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
    // Only who set a field is taken from here; what differs, the images tell.
    let set = Set(later.fields.map(\.name))
    both.fields += fields.filter { !set.contains($0.name) }
    return both
  }

  /// What a reset reports of it: where it was, and what it is.
  fileprivate var withoutOldRecord: Self {
    var touch = self
    touch.old = old.map { QueryDelta.Side(entry: $0.entry, image: nil) }
    touch.fields = []
    return touch
  }
}
