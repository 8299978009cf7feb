/// A rule in Swift that some program has declared for a file, as the file's catalog lists it.
public struct DeclaredValidator: Hashable, Sendable {
  /// Unique in the store.
  public let name: String
  /// The models whose changes it judges, at least one.
  public let models: [String]
  /// Whether writes through this store are held against it. A store that lacks it writes unchecked.
  public let isInForce: Bool
}
