/// What ``Store/leave(_:losing:mode:)`` removes from a file.
public struct ModelDeparture: Hashable, Sendable {
  /// The models that are no models any more, in the order of names. Their tables stay.
  public let models: [String]
  /// What goes along: bindings, rules and lists of these models and, where losses are accepted, of
  /// others that need them.
  public let removed: [ModelDependent]
  /// What others have that needs the models. A dry run lists it; otherwise `leave` throws, unless
  /// losses are accepted.
  public let dependents: [ModelDependent]
  /// How many entries the change journal loses; 0 while other models remain.
  public let lostEntryCount: Int
  /// The consumers of the change journal that go with it, by name.
  public let lostConsumers: [String]
  /// Whether the last model leaves, so that the store's own tables go.
  public let removesCatalog: Bool
}

/// What a call does that would lose more than it was asked to remove.
public enum LossPolicy: Hashable, Sendable {
  /// It throws and changes nothing.
  case refuse
  /// It removes that, too.
  case accept
}
