import Synchronization
import Testing

@testable import ModelStore

/// Events on an actor.
@Suite(.tags(.unit)) struct ActorDeliveryTests {
  /// A reader that returns the events it received, once it has enough.
  private actor Shelf {
    private(set) var titles: [String] = []
    private var subscription: ObservationToken?
    private var waiting: (count: Int, continuation: CheckedContinuation<[String], Never>)?

    func hold(_ subscription: ObservationToken) { self.subscription = subscription }

    func hear(_ title: String) {
      titles.append(title)
      guard let (count, continuation) = waiting, titles.count >= count else { return }
      waiting = nil
      continuation.resume(returning: titles)
    }

    func cancel() { subscription?.cancel() }

    func titles(atLeast count: Int) async -> [String] {
      if titles.count >= count { return titles }
      return await withCheckedContinuation { waiting = (count, $0) }
    }
  }

  @Test func eventsComeInOrderOnTheActor() async throws {
    let shop = try MusicShop()
    let shelf = Shelf()
    let subscription = try await shop.store.changes(
      of: .field(\Album.title, of: 1), options: .initial
    )
    .deliver(to: shelf) { shelf, change in
      shelf.preconditionIsolated()
      await Task.yield()
      shelf.hear(change.text)
    }
    for number in 1...50 {
      try await shop.store.write { tx in try tx.set(\Album.title, to: "\(number)", for: 1) }
    }
    let titles = await shelf.titles(atLeast: 51)
    #expect(
      titles == ["none → one", "one → 1"] + (1..<50).map { "\($0) → \($0 + 1)" })
    subscription.cancel()
  }

  /// The event was on its way when its reader cancelled.
  @Test func afterCancellingTheActorReceivesNothing() async throws {
    let shop = try MusicShop()
    let shelf = Shelf()
    await shelf.hold(
      try shop.store.changes(of: .field(\Album.title, of: 1))
        .deliver(to: shelf) { shelf, change in
          shelf.hear(change.text)
          shelf.cancel()
        })
    for title in ["a", "b", "c"] {
      try await shop.store.write { tx in try tx.set(\Album.title, to: title, for: 1) }
    }
    #expect(await shelf.titles(atLeast: 1) == ["one → a"])
    #expect(shop.registry == [])
    // Another reader receives a later commit; the first reader would have been called before it.
    let later = Shelf()
    let subscription = try await shop.store.changes(of: .field(\Album.title, of: 1))
      .deliver(to: later) { $0.hear($1.text) }
    try await shop.store.write { tx in try tx.set(\Album.title, to: "d", for: 1) }
    #expect(await later.titles(atLeast: 1) == ["c → d"])
    #expect(await shelf.titles == ["one → a"])
    subscription.cancel()
  }

  @Test func theObservationEndsWithItsActor() async throws {
    let shop = try MusicShop()
    var shelf: Shelf? = Shelf()
    weak let gone = shelf
    let subscription = try await shop.store.changes(of: .field(\Album.title, of: 1))
      .deliver(to: try #require(shelf)) { $0.hear($1.text) }
    shelf = nil
    #expect(gone == nil, "the observation does not keep it")
    #expect(shop.registry == ["Album[1].title"])
    try await shop.store.write { tx in try tx.set(\Album.title, to: "a", for: 1) }
    while !subscription.isEnded { await Task.yield() }
    #expect(shop.registry == [])
  }

  @Test func aSlowActorReceivesAsManyEventsAsItsBacklogHolds() async throws {
    let shop = try MusicShop()
    let shelf = Shelf()
    let albums = try await shop.store.liveQuery(Album.all.order { $0.title })
    let subscription = try await albums.changes(coalescing: .latest).deliver(to: shelf) {
      shelf, changes in
      shelf.hear("\(changes.old.count) → \(changes.new.count)")
    }
    subscription.pause()
    for id in 4...9 as ClosedRange<Int64> {
      try await shop.store.write { tx in try tx.insert(Album(id: id, title: "\(id)")) }
    }
    subscription.resume()
    #expect(await shelf.titles(atLeast: 1) == ["3 → 9"])
    subscription.cancel()
  }

  /// One unreadable record does not affect the readable ones.
  @Test func anEventThatCannotBeBuiltIsReportedAndTheNextOneArrives() async throws {
    let shop = try MusicShop()
    let shelf = Shelf()
    let subscription = try await shop.store.changes(of: .field(\Album.title, of: 1))
      .deliver(to: shelf) { $0.hear($1.text) }
    let shell = try PlainDatabase(shop.directory.file("shop.store"))
    try shell.execute("UPDATE Album SET title = CAST(x'ff' AS TEXT) WHERE id = 1")
    try await shop.store.refresh()
    while shop.failures.events.isEmpty { await Task.yield() }
    try shell.execute("UPDATE Album SET title = 'readable' WHERE id = 1")
    try await shop.store.refresh()
    #expect(await shelf.titles(atLeast: 1) == ["none → readable"])
    #expect(shop.failures.events == ["invalidValue"])
    subscription.cancel()
  }

  @Test func aGroupIsALoopToo() async throws {
    let shop = try MusicShop()
    let artists = try await shop.store.liveQuery(Artist.all)
    let albums = try await shop.store.liveQuery(Album.all.order { $0.title })
    let changes = try await shop.store.changes(of: artists, albums, options: .initial)
    try await shop.store.write { tx in try tx.set(\Artist.name, to: "b", for: 1) }
    try await shop.store.write { tx in try tx.delete(Album.self, 3) }
    var told: [[Int?]] = []
    for try await (artists, albums) in changes {
      told.append([artists?.newCount, albums?.newCount, artists?.updates.count])
      if told.count == 3 { break }
    }
    #expect(told == [[1, 3, 0], [1, 3, 1], [nil, 2, nil]])
  }

  /// What began in a callback never waited, long after that callback was over.
  @Test func aWriteOnAnActorWaitsForSynchronousObservers() async throws {
    let shop = try MusicShop { $0.durability = .normal }
    let shelf = Shelf()
    let count = Mutex(0)
    let held = Mutex<ObservationToken?>(nil)
    let synchronous = try await shop.store.observe(
      .field(\Album.title, of: 2), options: .synchronous
    ) { _ in count.withLock { $0 += 1 } }
    let beginning = try shop.store.observe(\Album.title, of: 3) { [store = shop.store] _ in
      do {
        let subscription = try store.changes(of: .field(\Album.title, of: 1))
          .deliver(to: shelf) { shelf, _ in
            do {
              var missed = 0
              for number in 1...200 {
                try await store.write { tx in try tx.set(\Album.title, to: "\(number)", for: 2) }
                if count.withLock({ $0 }) != number { missed += 1 }
              }
              shelf.hear("\(missed) missed")
            } catch {
              shelf.hear("\(error)")
            }
          }
        held.withLock { $0 = subscription }
      } catch {
        Issue.record("\(error)")
      }
    }
    try shop.setTitle("begin", of: 3)
    shop.settle()
    try shop.setTitle("go")
    #expect(await shelf.titles(atLeast: 1) == ["0 missed"])
    synchronous.cancel()
    beginning.cancel()
    held.withLock { $0 }?.cancel()
  }
}
