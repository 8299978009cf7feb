@testable import ModelStore

/// Tests that open stores of artists at paths of their own.
protocol ArtistStores {}

extension ArtistStores {
  func open(
    _ path: String, configure: (inout StoreConfiguration) -> Void = { _ in }
  ) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.durability = .normal
    configure(&configuration)
    return try Store(at: path, models: Artist.self, configuration: configuration)
  }
}
