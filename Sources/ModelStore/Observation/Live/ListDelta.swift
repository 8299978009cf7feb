/// One version of an observed list: which slot holds which element, in order. Copies are snapshots.
struct ListRows: Sendable {
  /// One slot with its element.
  struct Entry: Comparable, Sendable {
    let place: ListPlace
    let element: SQLValue

    static func == (left: Entry, right: Entry) -> Bool { left.place == right.place }
    static func < (left: Entry, right: Entry) -> Bool { left.place < right.place }
  }

  var tree: RankedTree<Entry>
  var version: UInt64

  func rank(of place: ListPlace) -> Int {
    tree.rank(of: Entry(place: place, element: .null))
  }

  /// Returns the slot at `place`, or nil if there is none.
  func entry(at place: ListPlace) -> Entry? {
    tree.element(equalTo: Entry(place: place, element: .null))
  }

  /// Applies the changes of one commit.
  ///
  /// - Returns: false when the commit did not change these rows; then they are left unchanged.
  mutating func advance(to version: UInt64, _ touches: [ListDelta.Touch]) -> Bool {
    var tree = tree
    for touch in touches {
      guard let entry = touch.old else { continue }
      guard tree.remove(entry) != nil else { return false }
    }
    for touch in touches {
      guard let entry = touch.new else { continue }
      guard tree.insert(entry) else { return false }
    }
    self.tree = tree
    self.version = version
    return true
  }
}

/// The difference between two versions of an observed list: both versions, the touched slots, and
/// the elements whose observed fields changed. Indices are computed only on demand, so coalescing
/// is cheap.
struct ListDelta: ObservedEvent {
  struct Touch: Sendable {
    let slot: Int64
    /// The slot in the older list, or nil when it was not in it.
    var old: ListRows.Entry?
    /// The slot in the newer list, or nil when it is not in it.
    var new: ListRows.Entry?
    /// Whether it was moved, rather than only given another label.
    var isMoved: Bool
    /// Whether the slot was deleted or held another element in between. The slot with this number
    /// is then a different one, and the element's intermediate changes are unknown.
    var isRecreated: Bool

    /// Whether the slot stays in the list with its element.
    var isRetained: Bool { !isRecreated && old?.element == new?.element }
  }

  /// An element whose record differs in observed fields.
  struct ElementTouch: Sendable {
    let element: RecordIdentity
    /// In field order.
    var fields: [ChangedField]
    /// Whether other fields may differ too, after a reset; then `fields` says nothing.
    var isUnknown = false
    /// The slots that held it after the commit that changed it.
    var places: [ListPlace]
  }

  var old: ListRows
  var new: ListRows
  var touches: [Touch]
  var elements: [ElementTouch]
  /// The editor calls in order; nil if other changes were made too, or if there were too many
  /// calls.
  var operations: [ListEdit]?
  var isReset: Bool
  var isInitial = false
  /// The cascade that the commit belongs to.
  var wave = Wave.current

  var version: UInt64 { new.version }
}

extension ListDelta {
  /// A delta that is being coalesced. It may still show no difference once indices are computed.
  struct Folding: EventFolding {
    /// The first delta and the common properties of all, without touches and elements.
    private var frame: ListDelta
    private var touches = Folded<Int64, Touch>()
    private var elements = Folded<RecordIdentity, ElementTouch>()
    /// Slots that existed only in between. An element may have changed while it was in one of them.
    private var gone: Set<Int64> = []
    private var goneCountMax = 64

    init(_ first: ListDelta) {
      frame = first
      frame.touches = []
      frame.elements = []
      for touch in first.touches { touches.fold(touch.slot) { _ in touch } }
      for touch in first.elements { elements.fold(touch.element) { _ in touch } }
    }

    mutating func add(_ later: ListDelta) {
      frame.new = later.new
      frame.isReset = frame.isReset || later.isReset
      frame.wave = frame.wave.folded(with: later.wave)
      if let operations = later.operations {
        frame.operations?.append(contentsOf: operations)
      } else {
        frame.operations = nil
      }
      if let operations = frame.operations, operations.count > ListEdits.operationCountMax {
        frame.operations = nil
      }
      for touch in later.touches { add(touch) }
      for touch in later.elements {
        elements.fold(touch.element) { earlier in
          guard let earlier else { return touch }
          if earlier.isUnknown || touch.isUnknown {
            return ElementTouch(
              element: touch.element, fields: [], isUnknown: true, places: touch.places)
          }
          let fields = earlier.fields(followedBy: touch.fields)
          // A slot that stays in the list is among the places of both.
          return fields.isEmpty
            ? nil : ElementTouch(element: touch.element, fields: fields, places: touch.places)
        }
      }
    }

    private mutating func add(_ later: Touch) {
      var isGone = false
      touches.fold(later.slot) { earlier in
        let both = earlier.map { $0.followed(by: later) } ?? later
        isGone = both == nil
        return both
      }
      guard isGone, !elements.isEmpty else {
        gone.remove(later.slot)
        return
      }
      gone.insert(later.slot)
      guard gone.count > goneCountMax else { return }
      var placeCount = 0
      elements.update { [gone] touch in
        let present = touch.without(gone)
        placeCount += present.places.count
        return present
      }
      gone = []
      goneCountMax = max(64, placeCount)
    }

    var isEmpty: Bool {
      touches.isEmpty && elements.isEmpty && !frame.isReset && !frame.isInitial
    }

    var event: ListDelta {
      var event = frame
      event.touches = touches.entries
      event.elements = elements.entries.map { $0.without(gone) }
      return event
    }
  }
}

extension ListDelta.Touch {
  fileprivate func followed(by later: ListDelta.Touch) -> ListDelta.Touch? {
    guard old != nil || later.new != nil else { return nil }
    var both = self
    both.new = later.new
    both.isMoved = isMoved || later.isMoved
    both.isRecreated =
      isRecreated || later.isRecreated || (old != nil && old?.element != new?.element)
    return both
  }
}

extension ListDelta.ElementTouch {
  /// Returns the touch without the slots in `gone`.
  fileprivate func without(_ gone: Set<Int64>) -> Self {
    var touch = self
    touch.places.removeAll { gone.contains($0.slot) }
    return touch
  }

  fileprivate func fields(followedBy later: [ChangedField]) -> [ChangedField] {
    var merged = fields
    for field in later {
      guard let place = merged.firstIndex(where: { $0.name == field.name }) else {
        merged.append(field)
        continue
      }
      merged[place] = ChangedField(
        name: field.name, old: merged[place].old, new: field.new, origin: field.origin,
        cause: field.cause)
    }
    return merged.filter { $0.old != $0.new }
  }
}
