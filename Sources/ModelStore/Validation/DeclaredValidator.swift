/// A rule in Swift that some program has declared for a file, as the file's catalog lists it.
package struct DeclaredValidator: Hashable, Sendable {
  /// Unique in the store.
  package let name: String
  /// The models whose changes it judges, at least one.
  package let models: [String]
  /// Whether writes through this store are held against it. A store that lacks it writes unchecked.
  package let isInForce: Bool
}
