import Testing

@testable import ModelStore

/// Callbacks whose writes answer each other.
@Suite(.tags(.unit)) struct NotificationCycleTests {
  private struct World: Sendable {
    let directory: TemporaryDirectory
    let store: Store
    let errors = Recorder<StoreError>()

    init() throws {
      directory = try TemporaryDirectory()
      store = try Store(at: directory.file("cycle.store"), models: Artist.self, Album.self)
      try store.write { tx in
        try tx.insert(Artist(id: 1, name: "0"))
        try tx.insert(Album(id: 1, title: "0"))
      }
    }

    func writing(_ body: @Sendable (borrowing WriteTransaction) throws -> Void) {
      do {
        try store.write(body)
      } catch let error as StoreError {
        errors.add(error)
      } catch {
        Issue.record(error)
      }
    }
  }

  /// Waits until callbacks make no more writes.
  private static func settle(_ store: Store) {
    for _ in 0...Wave.roundCountMax { store.waitForDelivery() }
  }

  @Test("pausing in a callback does not hide that it triggers itself")
  func aCycleThroughAPauseEnds() throws {
    let world = try World()
    let albums = try world.store.liveQuery(Album.all.order { $0.title })
    let held = Recorder<ObservationToken>()
    let seen = Recorder<Int>()
    held.add(
      try albums.observe { changes in
        guard let subscription = held.events.first else { return }
        let next = (Int(changes.updates.first?.new.title ?? "") ?? 0) + 1
        seen.add(next - 1)
        subscription.pause()
        world.writing { tx in try tx.set(\Album.title, to: "\(next)", for: 1) }
        subscription.resume()
      })
    try world.store.write { tx in try tx.set(\Album.title, to: "1", for: 1) }
    Self.settle(world.store)
    #expect(seen.events == Array(1...Wave.roundCountMax))
    #expect(world.errors.events.map(\.code) == [.notificationCycle])
    held.events.first?.cancel()
  }

  @Test("JK-I two callbacks that trigger each other forever are stopped and named")
  func aCycleEndsWithAnErrorThatNamesIt() throws {
    let world = try World()
    let seen = Recorder<Int>()
    let there = try world.store.observe(\Artist.name, of: 1) { change in
      let next = (Int(change.new ?? "") ?? 0) + 1
      seen.add(next - 1)
      world.writing { tx in try tx.set(\Album.title, to: "\(next)", for: 1) }
    }
    let back = try world.store.observe(\Album.title, of: 1) { change in
      let next = (Int(change.new ?? "") ?? 0) + 1
      seen.add(next - 1)
      world.writing { tx in try tx.set(\Artist.name, to: "\(next)", for: 1) }
    }
    try world.store.write { tx in try tx.set(\Artist.name, to: "1", for: 1) }
    Self.settle(world.store)
    #expect(seen.events == Array(1...Wave.roundCountMax))
    #expect(world.errors.events.map(\.code) == [.notificationCycle])
    let message = try #require(world.errors.events.first).message
    #expect(message.contains("Artist[1].name → Album[1].title"))
    // The store continues to work, and so does a new chain.
    try world.store.write { tx in try tx.set(\Artist.name, to: "1", for: 1) }
    Self.settle(world.store)
    #expect(world.errors.events.count == 2)
    there.cancel()
    back.cancel()
  }

  @Test func aCycleThroughALiveQueryIsStoppedToo() throws {
    let world = try World()
    let live = try world.store.liveQuery(Artist.all)
    let subscription = try live.observe { changes in
      let count = Int64(changes.newCount)
      world.writing { tx in try tx.insert(Artist(id: count + 1, name: "more")) }
    }
    try world.store.write { tx in try tx.insert(Artist(id: 2, name: "first")) }
    Self.settle(world.store)
    #expect(world.errors.events.map(\.code) == [.notificationCycle])
    #expect(live.count == Wave.roundCountMax + 1)
    subscription.cancel()
  }

  @Test func aLongChainOfSeparateWritesIsNotACycle() throws {
    let world = try World()
    let subscription = try world.store.observe(\Artist.name, of: 1) { change in
      world.writing { tx in try tx.set(\Album.title, to: change.new ?? "", for: 1) }
    }
    for number in 1...100 {
      try world.store.write { tx in try tx.set(\Artist.name, to: "\(number)", for: 1) }
    }
    world.store.waitForDelivery()
    #expect(world.errors.events.isEmpty)
    #expect(try world.store.find(Album.self, 1)?.title == "100")
    subscription.cancel()
  }

  /// A record that cannot be decoded if its value is negative.
  private struct Reading: Model {
    var id: Int64
    var value: Int64

    static let definition = ModelDefinition<Reading>(
      "Reading", key: \.id, fields: [.init("id", \.id), .init("value", \.value)])

    var key: Int64 { id }

    init(id: Int64, value: Int64) { (self.id, self.value) = (id, value) }

    init(row: borrowing RowView) throws {
      id = try row.decode(at: 0)
      value = try row.decode(at: 1)
      if value < 0 { throw ColumnError("the value is negative") }
    }

    func encode(to arguments: inout ArgumentWriter) throws {
      try id.encode(to: &arguments, at: 0)
      try value.encode(to: &arguments, at: 1)
    }
  }

  /// The error of an event belongs to the event's cascade, whether a query or a group reports it.
  @Test(arguments: [false, true])
  func aCycleThroughErrorsIsStoppedToo(isGrouped: Bool) throws {
    let directory = try TemporaryDirectory()
    let stores = Recorder<Store>()
    let errors = Recorder<StoreError.Code>()
    let refusals = Recorder<StoreError.Code>()
    let store = try Store(at: directory.file("errors.store"), models: Reading.self) { error in
      errors.add(error.code)
      do {
        try stores.events.first?.write { tx in
          try tx.execute("UPDATE Reading SET value = value - 1")
        }
      } catch let error as StoreError {
        refusals.add(error.code)
      } catch {
        Issue.record(error)
      }
    }
    stores.add(store)
    try store.write { tx in try tx.insert(Reading(id: 1, value: 0)) }
    let (live, other) = (try store.liveQuery(Reading.all), try store.liveQuery(Reading.all))
    let token =
      isGrouped
      ? try store.observe(live, other) { _, _ in Issue.record("The event was decoded.") }
      : try live.observe { _ in Issue.record("The event was decoded.") }
    try store.write { tx in try tx.set(\Reading.value, to: -1, for: 1) }
    Self.settle(store)
    #expect(errors.events == Array(repeating: .invalidValue, count: Wave.roundCountMax))
    #expect(refusals.events == [.notificationCycle])
    token.cancel()
    _ = stores.taken()
  }
}
