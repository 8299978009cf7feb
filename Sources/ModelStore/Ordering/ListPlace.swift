/// The place of a slot in its ordered list. Slots are ordered by label, then by number.
struct ListPlace: Hashable, Comparable, Sendable {
  var label: Int64
  let slot: Int64

  static func < (left: ListPlace, right: ListPlace) -> Bool {
    left.label == right.label ? left.slot < right.slot : left.label < right.label
  }
}
