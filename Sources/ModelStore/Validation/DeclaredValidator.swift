/// A Swift validator that a program has declared for a file, as listed in the file's catalog.
package struct DeclaredValidator: Hashable, Sendable {
  /// Unique in the store.
  package let name: String
  /// The models whose changes it checks, at least one.
  package let models: [String]
  /// Whether this store runs the validator. A store that lacks it writes without this check.
  package let isInForce: Bool
}
