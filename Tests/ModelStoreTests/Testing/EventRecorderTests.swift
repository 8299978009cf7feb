import ModelStoreTesting
import Testing

@testable import ModelStore

@Suite(.tags(.unit), .timeLimit(.minutes(30))) struct EventRecorderTests {
  private let store: Store

  init() throws {
    store = try Store.inMemory(models: Artist.self, Album.self)
  }

  private func insert(_ ids: ClosedRange<Int64>) throws {
    for id in ids { try store.write { tx in try tx.insert(Artist(id: id, name: "\(id)")) } }
  }

  @Test func eventsAreTakenOnce() throws {
    let artists = try store.recorder(of: Artist.self)
    #expect(artists.takeAll() == [])
    try insert(1...2)
    #expect(
      artists.takeAll() == [
        [RecordedChange(new: Artist(id: 1, name: "1"))],
        [RecordedChange(new: Artist(id: 2, name: "2"))],
      ])
    #expect(artists.takeAll() == [])
  }

  @Test func aTaskWaitsForWhatAnotherTaskWrites() async throws {
    let artists = try store.recorder(of: Artist.self)
    async let events = artists.next(3)
    try insert(1...4)
    #expect(try await events.map { $0.compactMap(\.new?.id) } == [[1], [2], [3]])
    #expect(try await artists.next().compactMap(\.new?.id) == [4])
  }

  @Test func tasksThatWaitReceiveOneEventEach() async throws {
    let numbers = EventRecorder<Int>(store)
    let received = try await withThrowingTaskGroup { group in
      for _ in 1...10 { group.addTask { try await numbers.next() } }
      for number in 1...10 { numbers.record(number) }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(received.sorted() == Array(1...10))
  }

  @Test func waitingEndsWhenTheStoreCloses() async throws {
    let artists = try store.recorder(of: Artist.self)
    try insert(1...1)
    await store.waitForDelivery()
    let waiting = Task { try await artists.next(2) }
    await store.close()
    await #expect(throws: RecordingEnded.self) { try await waiting.value }
    await #expect(throws: RecordingEnded.self) { try await artists.next() }
    #expect(await artists.takeAll() == [])
  }

  @Test func waitingEndsWhenTheTaskIsCancelled() async throws {
    let artists = try store.recorder(of: Artist.self)
    let waiting = Task { try await artists.next() }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    try insert(1...1)
    #expect(try await artists.next().compactMap(\.new?.id) == [1])
  }

  @Test func theObservationEndsWithItsRecorder() throws {
    var artists: EventRecorder? = try store.recorder(of: Artist.self)
    weak let recorder = artists
    #expect(store.observations().count == 1)
    artists = nil
    #expect(recorder == nil)
    #expect(store.observations().isEmpty)
    withExtendedLifetime(artists) {}
  }

  @Test func aRecorderOfAClosedStoreHasEnded() async throws {
    await store.close()
    let numbers = EventRecorder<Int>(store)
    await #expect(throws: RecordingEnded.self) { try await numbers.next() }
    #expect(throws: StoreError.self) { try store.recorder(of: Artist.self) }
  }

  @Test func theStoreForgetsAReleasedRecorder() throws {
    let scope = store.lease.scope
    let count = scope.memberCount
    do {
      let recorders = try (1...3).map { try store.recorder(of: \Artist.name, of: $0) }
      #expect(scope.memberCount == count + recorders.count)
    }
    #expect(scope.memberCount == count)
  }

  @Test func theAsynchronousFormsReturnTheSame() async throws {
    let store = try await Store.inMemory(models: Artist.self)
    let artists = try await store.recorder(of: Artist.all)
    let artist = Artist(id: 1, name: "Nina")
    try await store.write { tx in _ = try tx.insert(artist) }
    #expect(await artists.takeAll() == [[.inserted(artist, at: 0)]])
    #expect(await artists.takeAll() == [])
    await store.close()
  }

  @Test func rowsThatMoveAndChangeAreOneRow() throws {
    try insert(1...3)
    let names = try store.recorder(of: Artist.all.order { $0.name })
    try store.write { tx in try tx.set(\Artist.name, to: "4", for: 1) }
    try store.write { tx in
      try tx.delete(Artist.self, 2)
      try tx.set(\Artist.name, to: "3b", for: 3)
    }
    #expect(
      names.takeAll() == [
        [.moved(Artist(id: 1, name: "4"), from: 0, to: 2)],
        [.deleted(at: 0), .updated(Artist(id: 3, name: "3b"), at: 0)],
      ])
  }

  @Test func aChangeOfTheSchemaIsAResync() throws {
    let names = try store.recorder(of: Artist.all.order { $0.name })
    try store.write { tx in
      try tx.execute("CREATE INDEX by_name ON Artist (name)")
      try tx.insert(Artist(id: 1, name: "Nina"))
    }
    #expect(names.takeAll() == [[.resync, .inserted(Artist(id: 1, name: "Nina"), at: 0)]])
  }
}
