/// The coalesced events of several things, with one entry for each, in the order in which the
/// things were first touched. The cost of adding an event does not depend on the number of entries.
struct Folded<Key: Hashable & Sendable, Entry: Sendable>: Sendable {
  private var slots: [(key: Key, entry: Entry)?] = []
  private var places: [Key: Int] = [:]

  /// The number of entries.
  var count: Int { places.count }

  var isEmpty: Bool { places.isEmpty }

  var entries: [Entry] { slots.compactMap { $0?.entry } }

  /// Replaces the entry for `key` with the result of `merge`; nil removes it.
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

  /// Replaces every entry with the result of `change`.
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

  /// Removes gaps once they outnumber the entries, for things that are added and removed
  /// repeatedly.
  private mutating func closeGaps() {
    guard slots.count > 2 * places.count + 16 else { return }
    slots.removeAll { $0 == nil }
    for (place, slot) in slots.enumerated() {
      if let slot { places[slot.key] = place }
    }
  }
}
