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
    /// Whether the slot was gone in between; then what has its number now is another one.
    var isRecreated: Bool

    /// Whether the slot stays in the list with its element.
    var isRetained: Bool { !isRecreated && old?.element == new?.element }
  }

  /// An element whose record differs in observed fields.
  struct ElementTouch: Sendable {
    let element: SortKey
    /// By field order.
    var fields: [ChangedField]
    /// The slots that held it after the commit that changed it.
    var places: [ListPlace]
  }

  var old: ListRows
  var new: ListRows
  var touches: [Touch]
  var elements: [ElementTouch]
  /// What editors did, in order; nil when that is not all that happened.
  var operations: [ListEdit]?
  var isReset: Bool
  var isInitial = false

  var version: UInt64 { new.version }
}

extension ListDelta {
  /// This delta and the one that follows it as one, or nil when nothing is left of both. What is
  /// left may come to no difference all the same, once indices are worked out.
  ///
  /// - Complexity: Linear in what was touched by both.
  func followed(by later: ListDelta) -> ListDelta? {
    var merged: [Touch?] = touches
    var places: [Int64: Int] = [:]
    for (index, touch) in touches.enumerated() { places[touch.slot] = index }
    // Slots that were there only in between; an element may have changed while it was in one.
    var gone: Set<Int64> = []
    for touch in later.touches {
      guard let place = places[touch.slot], let earlier = merged[place] else {
        places[touch.slot] = merged.count
        merged.append(touch)
        continue
      }
      merged[place] = earlier.followed(by: touch)
      if merged[place] == nil { gone.insert(touch.slot) }
    }
    let both = ListDelta(
      old: old, new: later.new, touches: merged.compactMap(\.self),
      elements: elements(followedBy: later.elements, without: gone),
      operations: operations.flatMap { early in later.operations.map { early + $0 } },
      isReset: isReset || later.isReset, isInitial: isInitial)
    let isEmpty = both.touches.isEmpty && both.elements.isEmpty
    return isEmpty && !both.isReset && !isInitial ? nil : both
  }

  private func elements(
    followedBy later: [ElementTouch], without gone: Set<Int64>
  ) -> [ElementTouch] {
    var merged = elements
    if !gone.isEmpty {
      for index in merged.indices { merged[index].places.removeAll { gone.contains($0.slot) } }
    }
    var places: [SortKey: Int] = [:]
    for (index, touch) in elements.enumerated() { places[touch.element] = index }
    for touch in later {
      guard let place = places[touch.element] else {
        merged.append(touch)
        continue
      }
      // A slot that stays in the list is among the places of both.
      merged[place].places = touch.places
      merged[place].fields = merged[place].fields(followedBy: touch.fields)
    }
    return merged.filter { !$0.fields.isEmpty }
  }
}

extension ListDelta.Touch {
  fileprivate func followed(by later: ListDelta.Touch) -> ListDelta.Touch? {
    guard old != nil || later.new != nil else { return nil }
    var both = self
    both.new = later.new
    both.isMoved = isMoved || later.isMoved
    both.isRecreated = isRecreated || later.isRecreated || (new == nil && old != nil)
    return both
  }
}

extension ListDelta.ElementTouch {
  fileprivate func fields(followedBy later: [ChangedField]) -> [ChangedField] {
    var merged = fields
    for field in later {
      guard let place = merged.firstIndex(where: { $0.name == field.name }) else {
        merged.append(field)
        continue
      }
      merged[place] = ChangedField(
        name: field.name, old: merged[place].old, new: field.new, origin: field.origin)
    }
    return merged.filter { $0.old != $0.new }
  }
}
