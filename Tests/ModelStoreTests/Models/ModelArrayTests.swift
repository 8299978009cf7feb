import ModelStore
import Testing

/// Models are passed one by one, or as an array that several modules can share.
@Suite(.tags(.unit)) struct ModelArrayTests {
  @Test func aStoreAndAValidatorTakeAnArrayOfModels() throws {
    let models: [any Model.Type] = [Artist.self, Album.self, Rack.self]
    let directory = try TemporaryDirectory()
    let store = try Store(
      at: directory.file("array.store"), models: models,
      validators: [
        Validator("few", over: models) { changes, _ in
          changes.changes.count > 2 ? [Rejection("at most 2 changes")] : []
        }
      ])
    #expect(store.schema.models.map(\.name).sorted() == ["Album", "Artist", "Rack"])
    try store.write { tx in
      try tx.insert(Artist(id: 1, name: "Ann"))
      try tx.insert(Rack(id: 1, name: "south"))
    }
    let error = failure {
      try store.write { tx in
        for id in 1...3 as ClosedRange<Int64> { try tx.insert(Album(id: id, title: "a")) }
      }
    }
    #expect(error?.violations.map(\.message) == ["at most 2 changes"])
  }
}
