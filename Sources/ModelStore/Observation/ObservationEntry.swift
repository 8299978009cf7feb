/// One observation of a store, for those who ask who observes what.
public struct ObservationEntry: Sendable {
  /// What is observed. For a live query it is the model, or one of those that it reads; equal live
  /// queries are one.
  public let path: ObservedPath
  /// The bag that it is in; nil for one that a ``Subscription`` or a sequence holds.
  public let bag: ObservationBag?
  /// What tells it from others of the same thing in the bag.
  public let context: String?
}
