import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct BindingProgressTests {
  private static func store(_ directory: TemporaryDirectory, _ count: Int64) throws -> Store {
    let store = try Store(at: directory.file("a.store"), models: Artist.self, Album.self)
    try store.write { tx in
      try tx.insert(Artist(id: 1, name: "Miles"))
      for id in 1...count { try tx.insert(Album(id: id, title: "t", artistID: 1)) }
    }
    return store
  }

  private static let binding = FieldBinding.copy(
    \Artist.name, to: \Album.artistName, through: \Album.artistID)

  private struct Enough: Error {}

  @Test func addingABindingReportsItsProgress() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory, 40_000)
    var told: [[Int]] = []
    try store.add(Self.binding) { told.append([$0, $1]) }
    #expect(
      told == [[0, 40_000], [16_384, 40_000], [32_768, 40_000], [40_000, 40_000]])
    #expect(try store.bindingFindings() == [])
    #expect(try store.fetch(Album.all.filter { $0.artistName == "Miles" }).count == 40_000)
  }

  @Test(arguments: [0, 1, 3])
  func throwingFromProgressLeavesTheFileUnchanged(calls: Int) throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory, 40_000)
    var count = 0
    #expect(throws: Enough.self) {
      try store.add(Self.binding) { _, _ in
        if count == calls { throw Enough() }
        count += 1
      }
    }
    #expect(try store.bindings() == [])
    #expect(
      try store.read { tx in
        try tx.fetchFirst(Album.all.filter { $0.artistName == "Miles" })
      } == nil)
    let names = try PlainDatabase(directory.file("a.store")).rows(
      "SELECT name FROM sqlite_schema WHERE name GLOB '_ms_binding_*'")
    #expect(names.isEmpty)
    try store.add(Self.binding)
    #expect(try store.bindingFindings() == [])
  }

  /// Steps of one to three rows give what one statement gives, in tables of every form.
  @Test(arguments: [1, 2, 3, 1000])
  func stepsAddUpToTheWholeResult(stepRowCount: Int) throws {
    for world in BindingWorld.all {
      let fixture = try BindingFixture(world.setUp)
      let binding = try CompiledBindings([world.binding], in: world.models).bindings[0]
      for object in binding.storage { try fixture.connection.execute(object.sql) }
      var told: [Int] = []
      _ = try binding.synchronise(on: fixture.connection, stepRowCount: stepRowCount) { done, all in
        #expect(done <= all)
        told.append(done)
      }
      #expect(told == told.sorted(), "\(world)")
      #expect(try binding.driftingRecordCount(on: fixture.connection) == 0, "\(world)")
    }
    let zoo = BindingZoo()
    let fixture = try BindingFixture(zoo.tables + BindingZoo.rows)
    for binding in try CompiledBindings(BindingZoo.bindings, in: zoo.models).bindings {
      for object in binding.storage { try fixture.connection.execute(object.sql) }
      _ = try binding.synchronise(on: fixture.connection, stepRowCount: stepRowCount)
      #expect(try !binding.isStorageWrong(on: fixture.connection))
    }
    #expect(try BindingZoo.mistakes(in: fixture) == [])
  }

  @Test func sumsOfStepsThatAreTooLargeAreRefused() throws {
    let zoo = BindingZoo()
    let fixture = try BindingFixture(zoo.tables + BindingZoo.rows)
    try fixture.connection.execute(
      "UPDATE Child SET parentID = 1, value = 9223372036854775807 WHERE id <= 2")
    let total = try #require(
      try CompiledBindings(BindingZoo.bindings, in: zoo.models).bindings
        .first { $0.binding.name == "Parent.total" })
    for object in total.storage { try fixture.connection.execute(object.sql) }
    let error = failure {
      _ = try total.synchronise(on: fixture.connection, stepRowCount: 1)
    }
    #expect(
      error?.message
        == "The binding Parent.total cannot be kept: a sum of existing records is not an integer of 64 bits. Correct the values of these records."
    )
  }
}
