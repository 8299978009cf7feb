/// What ``Store/modelRefreshes(_:mode:)`` does with one adopted model.
package struct ModelRefresh: Hashable, Sendable {
  /// The model's name.
  package let name: String
  /// The model as it is after the refresh; nil when it leaves the store, because its table is gone
  /// or can no longer be a model.
  package let schema: ModelSchema?
  /// How the table differs from the model before the refresh.
  package let drift: SchemaDrift
  /// What was decided about the types of new columns, in column order.
  package let decisions: [TypeDecision]
  /// What goes with a model that leaves the store: its bindings and added rules.
  package let removed: [ModelDependent]
  /// What keeps the model from being refreshed, because it needs what is gone. A dry run lists
  /// these; otherwise the refresh throws.
  package let dependents: [ModelDependent]
}

/// Something in a file's catalog that needs a model.
package struct ModelDependent: Hashable, Sendable {
  /// What it is.
  package enum Kind: String, Hashable, Sendable {
    case binding
    /// A rule that was added to a model.
    case rule
    /// A rule in Swift, which only the program that declares it can do without.
    case validator
    /// An ordered list.
    case list
  }

  /// What it is.
  package let kind: Kind
  /// Its name; of a list with its owner: `Playlist.tracks`.
  package let name: String
  /// Why it needs the model, as a sentence.
  package let reason: String
}
