/// The difference between two versions of a live result: both versions, and the touched rows.
/// Indices are computed only on demand, so coalescing is cheap.
struct QueryDelta: ObservedEvent {
  /// A row that changed between the two versions.
  struct Touch: Sendable {
    /// May be shared with results that do not contain the row before, or after.
    private(set) var row: TouchedRow
    private var isInOld: Bool
    private var isInNew: Bool
    /// The record's standing before and after, whether it is in the result or not.
    var before: Standing
    var after: Standing
    private var knownRank: Int32 = -1

    /// The standing of a record in a result.
    enum Standing: Sendable {
      /// The record does not exist.
      case absent
      /// The condition does not admit it.
      case excluded
      /// The condition admits it; the window determines whether it is shown.
      case admitted
    }

    init(_ row: TouchedRow, before: Standing, after: Standing) {
      self.row = row
      isInOld = before == .admitted
      isInNew = after == .admitted
      self.before = before
      self.after = after
    }

    init(
      key: [SQLValue], old: Side?, new: Side?, origin: Origin = .user,
      fields: [ChangedField] = [], isRecreated: Bool = false, before: Standing, after: Standing
    ) {
      row = TouchedRow(
        key: key, old: old, new: new, origin: origin, fields: fields, isRecreated: isRecreated)
      isInOld = old != nil
      isInNew = new != nil
      self.before = before
      self.after = after
    }

    var key: [SQLValue] { row.key }
    var origin: Origin { row.origin }
    /// The changed fields with their origins, as the commits report them. For coalesced commits the
    /// list is neither complete nor exact.
    var fields: [ChangedField] { row.fields }
    var isRecreated: Bool { row.isRecreated }

    /// The row in the older result, or nil when it was not in it.
    var old: Side? {
      get { isInOld ? row.old : nil }
      set {
        if newValue == nil {
          isInOld = false
          rank = nil
        } else {
          self = replacing(old: newValue, new: new)
        }
      }
    }

    /// The row in the newer result, or nil when it is not in it.
    var new: Side? {
      get { isInNew ? row.new : nil }
      set {
        if newValue == nil {
          isInNew = false
        } else {
          self = replacing(old: old, new: newValue)
        }
      }
    }

    /// Whether the row is in both results, at the same place in their order.
    var isInPlace: Bool { isInOld && isInNew && row.isInPlace }

    /// Whether the row's values are known in both results, and differ.
    var isUpdate: Bool { isInOld && isInNew && row.isUpdate }

    /// Whether only the new record of the row is known.
    var isRefresh: Bool { old?.image == nil && new?.image != nil }

    /// The rank among all rows of the older result, if it was found out when that result advanced.
    var rank: Int? {
      get { knownRank < 0 ? nil : Int(knownRank) }
      set { knownRank = newValue.flatMap { Int32(exactly: $0) } ?? -1 }
    }

    private func replacing(old: Side?, new: Side?) -> Touch {
      Touch(
        key: key, old: old, new: new, origin: origin, fields: fields, isRecreated: isRecreated,
        before: before, after: after)
    }
  }

  struct Side: Sendable {
    let entry: LiveRows.Entry
    /// The record's values in field order; nil for a row of the old result after a reset, when its
    /// values are unknown.
    let image: [SQLValue]?
  }

  /// Both versions. An object, because each subscriber gets a copy of a delta.
  final class Versions: Sendable {
    let old: LiveRows
    let new: LiveRows

    init(old: LiveRows, new: LiveRows) {
      self.old = old
      self.new = new
    }
  }

  var versions: Versions
  var touches: [Touch]
  var isReset: Bool
  let isInitial: Bool
  /// The cascade that the commit belongs to.
  var wave = Wave.current

  init(
    old: LiveRows, new: LiveRows, touches: [Touch], isReset: Bool, isInitial: Bool = false
  ) {
    versions = Versions(old: old, new: new)
    self.touches = touches
    self.isReset = isReset
    self.isInitial = isInitial
  }

  var old: LiveRows { versions.old }
  var new: LiveRows { versions.new }

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
    /// Whether the old records are no longer stored.
    private var hasOnlyNewRecords = false

    /// The minimum limit of rows stored with both records. Beyond this and half of the result, the
    /// waiting delta would outgrow the result, so only new records are stored and the event becomes
    /// a reset.
    private static let heldCountMax = 1024

    init(_ first: QueryDelta) {
      frame = first
      frame.touches = []
      for touch in first.touches { touches.fold(touch.key) { _ in touch } }
    }

    mutating func add(_ later: QueryDelta) {
      frame.versions = Versions(old: frame.old, new: later.new)
      frame.isReset = frame.isReset || later.isReset
      frame.wave = frame.wave.folded(with: later.wave)
      for touch in later.touches {
        touches.fold(touch.key) { [hasOnlyNewRecords] earlier in
          let both = earlier.map { $0.followed(by: touch) } ?? touch.withoutRank
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
    // Only the origins come from here; the images show which fields differ.
    let set = Set(later.fields.map(\.name))
    return QueryDelta.Touch(
      key: later.key, old: old, new: later.new, origin: later.new != nil ? origin : later.origin,
      fields: later.fields + fields.filter { !set.contains($0.name) },
      isRecreated: isRecreated || later.isRecreated || (after == .absent && old != nil),
      before: before, after: later.after)
  }

  /// The part that a reset reports: the old place and the new record.
  fileprivate var withoutOldRecord: Self {
    QueryDelta.Touch(
      key: key, old: old.map { QueryDelta.Side(entry: $0.entry, image: nil) }, new: new,
      origin: origin, fields: [], isRecreated: isRecreated, before: before, after: after)
  }

  /// The same touch in a delta with another older result.
  fileprivate var withoutRank: Self {
    var touch = self
    touch.rank = nil
    return touch
  }
}
