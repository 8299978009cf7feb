/// One observation of a store, for listing who observes what.
package struct ObservationEntry: Sendable {
  /// What is observed. A subscription of a live query has one entry for each model that it reads.
  package let path: ObservedPath
  /// The bag that contains it; nil if an ``ObservationToken`` or a sequence holds it.
  package let bag: ObservationBag?
  /// The context that distinguishes it from other observations of the same path in the bag.
  package let context: String?
}
