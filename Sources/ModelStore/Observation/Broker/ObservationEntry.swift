/// One observation of a store, for those who ask who observes what.
public struct ObservationEntry: Sendable {
  /// What is observed. A subscription of a live query is listed once for each model that it reads.
  public let path: ObservedPath
  /// The bag that it is in; nil for one that a ``Subscription`` or a sequence holds.
  public let bag: ObservationBag?
  /// What tells it from others of the same thing in the bag.
  public let context: String?
}
