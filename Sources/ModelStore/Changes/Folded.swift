/// What happened to several things, with one entry for each in the order in which the things were
/// first touched. Entries are folded in one by one as more happens: each costs the same however
/// many are there.
struct Folded<Key: Hashable & Sendable, Entry: Sendable>: Sendable {
  private var slots: [(key: Key, entry: Entry)?] = []
  private var places: [Key: Int] = [:]

  /// How many things there are entries of.
  var count: Int { places.count }

  var isEmpty: Bool { places.isEmpty }

  var entries: [Entry] { slots.compactMap { $0?.entry } }

  /// Lets `merge` say what becomes of the entry for `key`: nil takes it out.
  ///
  /// - Complexity: O(1), amortised.
  mutating func fold(_ key: Key, _ merge: (Entry?) -> Entry?) {
    guard let place = places[key] else {
      if let entry = merge(nil) {
        places[key] = slots.count
        slots.append((key, entry))
      }
      return
    }
    if let entry = merge(slots[place]?.entry) {
      slots[place] = (key, entry)
    } else {
      slots[place] = nil
      places[key] = nil
      closeGaps()
    }
  }

  /// Lets `change` say what becomes of every entry.
  ///
  /// - Complexity: Linear in the entries.
  mutating func update(_ change: (Entry) -> Entry?) {
    for place in slots.indices {
      guard let (key, entry) = slots[place] else { continue }
      slots[place] = change(entry).map { (key, $0) }
      if slots[place] == nil { places[key] = nil }
    }
    closeGaps()
  }

  /// A thing that comes and goes again and again leaves no more gaps than there are entries.
  private mutating func closeGaps() {
    guard slots.count > 2 * places.count + 16 else { return }
    slots.removeAll { $0 == nil }
    for (place, slot) in slots.enumerated() {
      if let slot { places[slot.key] = place }
    }
  }
}
