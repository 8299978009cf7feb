/// What ``Store/leave(_:losing:mode:)`` removes from a file.
package struct ModelDeparture: Hashable, Sendable {
  /// The models that are no models any more, in the order of names. Their tables stay.
  package let models: [String]
  /// What goes along: bindings, rules and lists of these models and, where losses are accepted, of
  /// others that need them.
  package let removed: [ModelDependent]
  /// What others have that needs the models. A dry run lists it; otherwise `leave` throws, unless
  /// losses are accepted.
  package let dependents: [ModelDependent]
  /// How many entries the change journal loses; 0 while other models remain.
  package let lostEntryCount: Int
  /// The consumers of the change journal that go with it, by name.
  package let lostConsumers: [String]
  /// Whether the last model leaves, so that the store's own tables go.
  package let removesCatalog: Bool
}

/// What a call does that would lose more than it was asked to remove.
package enum LossPolicy: Hashable, Sendable {
  /// It throws and changes nothing.
  case refuse
  /// It removes that, too.
  case accept
}
