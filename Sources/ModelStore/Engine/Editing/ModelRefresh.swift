/// The effect of ``Store/modelRefreshes(_:mode:)`` on one adopted model.
package struct ModelRefresh: Hashable, Sendable {
  /// The model's name.
  package let name: String
  /// The model after the refresh; nil if the refresh removes it, because its table is gone or can
  /// no longer be a model.
  package let schema: ModelSchema?
  /// The differences between the table and the model before the refresh.
  package let drift: SchemaDrift
  /// The decisions about the types of new columns, in column order.
  package let decisions: [TypeDecision]
  /// What is removed together with a removed model: its bindings and added rules.
  package let removed: [ModelDependent]
  /// The bindings and rules that prevent the refresh, because they use removed fields. A dry run
  /// lists them. Otherwise the refresh throws.
  package let dependents: [ModelDependent]
}

/// A catalog entry that needs a model.
package struct ModelDependent: Hashable, Sendable {
  /// The kind of entry.
  package enum Kind: String, Hashable, Sendable {
    case binding
    /// A rule that was added to a model.
    case rule
    /// A validator in Swift. Only the program that declares it can remove it.
    case validator
    /// An ordered list.
    case list
  }

  /// The kind of entry.
  package let kind: Kind
  /// Its name. The name of a list includes its owner: `Playlist.tracks`.
  package let name: String
  /// Why it needs the model, as a sentence.
  package let reason: String
}
