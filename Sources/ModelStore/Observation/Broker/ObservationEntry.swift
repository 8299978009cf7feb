/// One observation of a store, for those who ask who observes what.
package struct ObservationEntry: Sendable {
  /// What is observed. A subscription of a live query is listed once for each model that it reads.
  package let path: ObservedPath
  /// The bag that it is in; nil for one that a ``ObservationToken`` or a sequence holds.
  package let bag: ObservationBag?
  /// What tells it from others of the same thing in the bag.
  package let context: String?
}
