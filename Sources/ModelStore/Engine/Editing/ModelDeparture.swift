/// The effect of ``Store/leave(_:losing:mode:)`` on a file.
package struct ModelDeparture: Hashable, Sendable {
  /// The removed models, in the order of names. Their tables stay.
  package let models: [String]
  /// The removed dependents: bindings, rules and lists of these models. If losses are accepted, it
  /// also includes the dependents of other models.
  package let removed: [ModelDependent]
  /// The dependents of other models or programs. A dry run lists them. Otherwise `leave` throws,
  /// unless losses are accepted.
  package let dependents: [ModelDependent]
  /// The number of entries that the change journal loses; 0 while other models remain.
  package let lostEntryCount: Int
  /// The names of the change journal's consumers that are removed.
  package let lostConsumers: [String]
  /// Whether the last model is removed, and the store's own tables with it.
  package let removesCatalog: Bool
}

/// The reaction of a call that would lose more than it was asked to remove.
package enum LossPolicy: Hashable, Sendable {
  /// The call throws and changes nothing.
  case refuse
  /// The call removes the dependents too.
  case accept
}
