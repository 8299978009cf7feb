/// The observers of single records of one model, found by the record's key.
///
/// It is a hash table that takes nine bytes for each place and no object for each observer. A place
/// has a reference to the observers of one record, and one byte of the hash of its key. The key
/// itself is made from an observer when it is needed. Observers of another kind, of which there are
/// fewer, are in ``ChangeRoutes``.
struct RecordTable: Sendable {
  /// The observers of one record. Nearly always one.
  private enum Slot: Sendable {
    case one(RecordObserver)
    case several(Several)

    var first: RecordObserver {
      switch self {
      case .one(let observer): observer
      case .several(let several): several.observers[0]
      }
    }
  }

  private final class Several: @unchecked Sendable {
    // Guard: only the table uses it, and the broker's mutex guards the table.

    /// At least two, in the order in which they were added.
    var observers: [RecordObserver]

    init(_ observers: [RecordObserver]) { self.observers = observers }
  }

  private var slots: ContiguousArray<Slot?> = []
  /// For each place 0 if it is free, otherwise bits of the hash.
  private var tags: ContiguousArray<UInt8> = []
  private var usedCount = 0
  /// The number of observers.
  private(set) var count = 0

  private static let smallestSize = 8

  var isEmpty: Bool { count == 0 }

  mutating func insert(_ observer: RecordObserver) {
    if (usedCount + 1) * 4 > slots.count * 3 {
      resize(to: max(Self.smallestSize, slots.count * 2))
    }
    let key = observer.recordIdentity
    let place = place(of: key)
    count += 1
    switch slots[place] {
    case nil:
      slots[place] = .one(observer)
      tags[place] = Self.tag(key.quickHash)
      usedCount += 1
    case .one(let first): slots[place] = .several(Several([first, observer]))
    case .several(let several): several.observers.append(observer)
    }
  }

  /// - Returns: Whether it was in the table.
  mutating func remove(_ observer: RecordObserver) -> Bool {
    guard count > 0 else { return false }
    let place = place(of: observer.recordIdentity)
    switch slots[place] {
    case nil: return false
    case .one(let first):
      guard first === observer else { return false }
      vacate(place)
    case .several(let several):
      guard let index = several.observers.firstIndex(where: { $0 === observer }) else {
        return false
      }
      several.observers.remove(at: index)
      if several.observers.count == 1 { slots[place] = .one(several.observers[0]) }
    }
    count -= 1
    if usedCount * 8 < slots.count, slots.count > Self.smallestSize { resize(to: slots.count / 2) }
    return true
  }

  /// Calls `body` with each observer of the record with this key, in the order in which they were
  /// added.
  ///
  /// - Returns: The number of these observers.
  @discardableResult
  func forEach(of key: RecordIdentity, _ body: (RecordObserver) -> Void) -> Int {
    guard count > 0 else { return 0 }
    switch slots[place(of: key)] {
    case nil: return 0
    case .one(let observer):
      body(observer)
      return 1
    case .several(let several):
      for observer in several.observers { body(observer) }
      return several.observers.count
    }
  }

  /// Returns the fields that observers of the record with this key read.
  func fieldsRead(of key: RecordIdentity) -> FieldMask {
    guard count > 0 else { return .none }
    return switch slots[place(of: key)] {
    case nil: .none
    case .one(let observer): observer.fields.mask
    case .several(let several):
      several.observers.reduce(into: FieldMask.none) { $0.formUnion($1.fields.mask) }
    }
  }

  /// Calls `body` with every observer, in no particular order.
  func forEachObserver(_ body: (RecordObserver) -> Void) {
    for slot in slots {
      switch slot {
      case nil: continue
      case .one(let observer): body(observer)
      case .several(let several): for observer in several.observers { body(observer) }
      }
    }
  }

  /// The place that has the observers of this record, or the free place where they belong.
  private func place(of key: RecordIdentity) -> Int {
    let hash = key.quickHash
    let (mask, tag) = (slots.count - 1, Self.tag(hash))
    var place = hash & mask
    while tags[place] != 0 {
      if tags[place] == tag, slots[place]?.first.recordIdentity == key { return place }
      place = (place + 1) & mask
    }
    return place
  }

  private static func tag(_ hash: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: hash >> 56) | 0x80
  }

  /// Frees a place, and moves later entries back so that a search still reaches them.
  private mutating func vacate(_ freed: Int) {
    let mask = slots.count - 1
    var hole = freed
    var next = (hole + 1) & mask
    while let slot = slots[next] {
      let home = slot.first.recordIdentity.quickHash & mask
      if (next - home) & mask >= (next - hole) & mask {
        slots[hole] = slot
        tags[hole] = tags[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    slots[hole] = nil
    tags[hole] = 0
    usedCount -= 1
  }

  /// - Parameter size: A power of two, greater than the number of used places.
  private mutating func resize(to size: Int) {
    let former = slots
    slots = ContiguousArray(repeating: nil, count: size)
    tags = ContiguousArray(repeating: 0, count: size)
    for case let slot? in former {
      let key = slot.first.recordIdentity
      let place = place(of: key)
      slots[place] = slot
      tags[place] = Self.tag(key.quickHash)
    }
  }
}
