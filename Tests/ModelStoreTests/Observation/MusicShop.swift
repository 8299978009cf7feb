@testable import ModelStore

/// A store with one artist and three albums, and what its observers received.
struct MusicShop: Sendable {
  let directory: TemporaryDirectory
  let store: Store
  let told = Recorder<String>()
  let failures: Recorder<String>

  init(_ configure: (inout StoreConfiguration) -> Void = { _ in }) throws {
    let failures = Recorder<String>()
    self.failures = failures
    directory = try TemporaryDirectory()
    var configuration = StoreConfiguration()
    configure(&configuration)
    store = try Store(
      at: directory.file("shop.store"), models: Artist.self, Album.self,
      bindings: [.copy(\Artist.name, to: \Album.artistName, through: \Album.artistID)],
      configuration: configuration, onError: { failures.add($0.code.rawValue) })
    try store.write { tx in
      try tx.insert(Artist(id: 1, name: "Miles"))
      try tx.insert(Album(id: 1, title: "one", artistID: 1))
      try tx.insert(Album(id: 2, title: "two", artistID: 1))
      try tx.insert(Album(id: 3, title: "three"))
    }
    store.waitForDelivery()
  }

  func setTitle(_ title: String, of key: Int64 = 1) throws {
    try store.write { tx in try tx.set(\Album.title, to: title, for: key) }
  }

  func setArtist(_ name: String) throws {
    try store.write { tx in try tx.set(\Artist.name, to: name, for: 1) }
  }

  /// The events since the last call.
  func news() -> [String] {
    settle()
    return told.taken()
  }

  /// Waits until every commit is delivered, including commits that callbacks make meanwhile.
  func settle() { store.waitUntilQuiet() }

  /// What is observed, as `path` or `path (context)`.
  var registry: [String] {
    store.observations().map { entry in
      entry.path.description + (entry.context.map { " (\($0))" } ?? "")
    }
  }
}

extension FieldEvent {
  /// Old and new, as `one → two`.
  var text: String {
    func text(_ value: Value?) -> String { value.map { "\($0)" } ?? "none" }
    return "\(text(old)) → \(text(new))"
  }
}
