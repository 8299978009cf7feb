/// One version of an observed list: which element in which slot, in order. Copies are snapshots.
struct ListRows: Sendable {
  /// One slot with what it holds.
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

  /// The slot at `place`, or nil when there is none.
  func entry(at place: ListPlace) -> Entry? {
    tree.element(equalTo: Entry(place: place, element: .null))
  }

  /// Applies what one commit did.
  ///
  /// - Returns: false when the rows cannot be those that the commit changed; then nothing was done.
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

/// What happened to an observed list between two versions: both versions, the slots touched and the
/// elements that changed in observed fields. Indices are worked out from it only when somebody
/// asks, so folding is cheap.
struct ListDelta: ObservedEvent {
  struct Touch: Sendable {
    let slot: Int64
    /// The slot in the older list, or nil when it was not in it.
    var old: ListRows.Entry?
    /// The slot in the newer list, or nil when it is not in it.
    var new: ListRows.Entry?
    /// Whether it got another place by intent, not only another label.
    var isMoved: Bool
    /// Whether the slot was gone in between, or held another element; then what has its number now
    /// is another one, and nobody knows what became of the element meanwhile.
    var isRecreated: Bool

    /// Whether the slot stays in the list with its element.
    var isRetained: Bool { !isRecreated && old?.element == new?.element }
  }

  /// An element whose record differs in observed fields.
  struct ElementTouch: Sendable {
    let element: SortKey
    /// By field order.
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
  /// What editors did, in order; nil when that is not all that happened, or too much.
  var operations: [ListEdit]?
  var isReset: Bool
  var isInitial = false
  /// What the commit answered to.
  var wave = Wave.current

  var version: UInt64 { new.version }
}

extension ListDelta {
  /// What is left of several may come to no difference all the same, once indices are worked out.
  struct Folding: EventFolding {
    /// The first delta, and what is true of all of them; without touches and elements.
    private var frame: ListDelta
    private var touches = Folded<Int64, Touch>()
    private var elements = Folded<SortKey, ElementTouch>()
    /// Slots that were there only in between; an element may have changed while it was in one.
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
  /// The same in the other slots only.
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
