import Glibc
import Synchronization
import Testing

@testable import ModelStore

/// Observers of fields, records and models: what they receive, when, and when no longer.
@Suite(.tags(.unit)) struct ObserverTests {
  private struct Shop: Sendable {
    let directory: TemporaryDirectory
    let store: Store
    let recorder = Recorder<String>()

    init(_ configure: (inout StoreConfiguration) -> Void = { _ in }) throws {
      directory = try TemporaryDirectory()
      var configuration = StoreConfiguration()
      configure(&configuration)
      store = try Store(
        at: directory.file("shop.store"), models: Artist.self, Album.self,
        bindings: [.copy(\Artist.name, to: \Album.artistName, through: \Album.artistID)],
        configuration: configuration)
      try store.write { tx in
        try tx.insert(Artist(id: 1, name: "Miles"))
        try tx.insert(Album(id: 1, title: "So What", artistID: 1))
        try tx.insert(Album(id: 2, title: "Blue", artistID: 1))
      }
    }

    /// The events since the last call.
    func told() -> [String] {
      store.waitForDelivery()
      return recorder.taken()
    }
  }

  private static func line<Value>(_ change: FieldEvent<Value>) -> String {
    func text(_ value: Value?) -> String { value.map { "\($0)" } ?? "none" }
    return
      "\(text(change.old)) → \(text(change.new)) \(change.origin)\(change.isReset ? " reset" : "")"
  }

  @Test func aFieldReportsOldAndNewValueAndTheAuthor() throws {
    let shop = try Shop()
    let title = try shop.store.observe(\Album.title, of: 1) {
      shop.recorder.add("title \(Self.line($0))")
    }
    let artist = try shop.store.observe(\Album.artistName, of: 1) { change in
      shop.recorder.add(
        "artist \(change.old??.description ?? "none") → \(change.new??.description ?? "none") \(change.origin)"
      )
    }
    try shop.store.write { tx in
      try tx.set(\Album.title, to: "A", for: 1)
      try tx.set(\Album.title, to: "B", for: 1)
      try tx.set(\Album.title, to: "C", for: 2)
    }
    try shop.store.write { tx in try tx.set(\Artist.name, to: "Davis", for: 1) }
    try shop.store.write { tx in try tx.set(\Album.title, to: "B", for: 1) }
    try shop.store.write { tx in try tx.delete(Album.self, 1) }
    try shop.store.write { tx in try tx.insert(Album(id: 1, title: "New")) }
    #expect(
      shop.told() == [
        "title So What → B user", "artist Miles → Davis binding:Album.artistName",
        "title B → none user", "artist Davis → none user", "title none → New user",
        "artist none → none user",
      ])
    title.cancel()
    artist.cancel()
  }

  @Test func aRecordReportsTheFieldsThatDiffer() throws {
    let shop = try Shop()
    @Sendable func line(_ change: RecordEvent<Album>) -> String {
      "\(change.old?.title ?? "none") → \(change.new?.title ?? "none") \(change.fields.map(\.name)) \(change.origin)"
    }
    let all = try shop.store.observe(Album.self, of: 1) { shop.recorder.add("all \(line($0))") }
    let some = try shop.store.observe(Album.self, of: 1, fields: [\.title]) {
      shop.recorder.add("title \(line($0))")
    }
    try shop.store.write { tx in try tx.set(\Artist.name, to: "Davis", for: 1) }
    try shop.store.write { tx in
      try tx.update(Album(id: 1, title: "T", artistID: nil))
    }
    try shop.store.write { tx in try tx.delete(Album.self, 1) }
    #expect(
      shop.told() == [
        "all So What → So What [\"artistName\"] binding:Album.artistName",
        "all So What → T [\"title\", \"artistID\", \"artistName\"] user",
        "title So What → T [\"title\"] user",
        "all T → none [] user", "title T → none [] user",
      ])
    all.cancel()
    some.cancel()
  }

  @Test func aModelReportsEachCommitOnceInOrder() throws {
    let shop = try Shop()
    let subscription = try shop.store.observe(Album.self) { changes in
      shop.recorder.add(
        "\(changes.changes.map { "\($0.operation.rawValue) \($0.new?.id ?? $0.old?.id ?? 0)" })")
    }
    try shop.store.write { tx in
      try tx.insert(Album(id: 3, title: "Three"))
      try tx.delete(Album.self, 2)
      try tx.set(\Album.title, to: "One", for: 1)
    }
    try shop.store.write { tx in try tx.set(\Artist.name, to: "Miles", for: 1) }
    try shop.store.write { tx in try tx.delete(Artist.self, 1) }
    #expect(shop.told() == ["[\"insert 3\", \"delete 2\", \"update 1\"]", "[\"delete 1\"]"])
    subscription.cancel()
  }

  @Test func refusedAndAbandonedTransactionsReportNothing() throws {
    let shop = try Shop()
    let subscription = try shop.store.observe(\Album.title, of: 1) {
      shop.recorder.add(Self.line($0))
    }
    let model = try shop.store.observe(Album.self) { _ in shop.recorder.add("model") }
    failure {
      try shop.store.write { tx in
        try tx.set(\Album.title, to: "gone", for: 1)
        try tx.set(\Album.title, to: "", for: 2)
      }
    }
    #expect(throws: Undo.self) {
      try shop.store.write { tx in
        try tx.set(\Album.title, to: "gone", for: 1)
        throw Undo()
      }
    }
    _ = try shop.store.preview { tx in try tx.set(\Album.title, to: "gone", for: 1) }
    #expect(shop.told() == [])
    try shop.store.write { tx in try tx.set(\Album.title, to: "kept", for: 1) }
    #expect(shop.told() == ["So What → kept user", "model"])
    subscription.cancel()
    model.cancel()
  }

  @Test func observersOfOneCommitAreCalledInOrderOfRegistration() throws {
    let shop = try Shop()
    let subscriptions = try (0..<5).map { number in
      number % 2 == 0
        ? try shop.store.observe(\Album.title, of: 1) { _ in shop.recorder.add("\(number)") }
        : try shop.store.observe(Album.self) { _ in shop.recorder.add("\(number)") }
    }
    for title in ["a", "b"] {
      try shop.store.write { tx in try tx.set(\Album.title, to: title, for: 1) }
    }
    #expect(shop.told() == ["0", "1", "2", "3", "4", "0", "1", "2", "3", "4"])
    for subscription in subscriptions { subscription.cancel() }
  }

  @Test func aCallbackMayCancelItselfAndOthers() throws {
    let shop = try Shop()
    let held = Mutex<[ObservationToken]>([])
    for number in 0..<3 {
      let subscription = try shop.store.observe(\Album.title, of: 1) { change in
        shop.recorder.add("\(number) \(change.new ?? "none")")
        // The first one ends itself and the last one, which has not been called yet.
        if number == 0 { held.withLock { for place in [0, 2] { $0[place].cancel() } } }
      }
      held.withLock { $0.append(subscription) }
    }
    for title in ["a", "b"] {
      try shop.store.write { tx in try tx.set(\Album.title, to: title, for: 1) }
    }
    #expect(shop.told() == ["0 a", "1 a", "1 b"])
    held.withLock { held in
      for subscription in held + held { subscription.cancel() }
    }
  }

  @Test func aCallbackMayWriteAndEveryoneSeesTheFirstCommitFirst() throws {
    let shop = try Shop()
    let store = shop.store
    let writing = try store.observe(\Album.title, of: 1) { [weak store] change in
      shop.recorder.add("writer \(change.new ?? "none")")
      guard change.new == "a" else { return }
      do {
        try store?.write { tx in try tx.set(\Album.title, to: "b", for: 1) }
      } catch {
        Issue.record(error)
      }
    }
    let watching = try store.observe(\Album.title, of: 1) {
      shop.recorder.add("watcher \($0.new ?? "none")")
    }
    try store.write { tx in try tx.set(\Album.title, to: "a", for: 1) }
    store.waitForDelivery()
    #expect(shop.told() == ["writer a", "watcher a", "writer b", "watcher b"])
    writing.cancel()
    watching.cancel()
  }

  @Test func aCallbackMayObserve() throws {
    let shop = try Shop()
    let store = shop.store
    let inner = Mutex<ObservationToken?>(nil)
    let outer = try store.observe(\Album.title, of: 1) { [weak store] change in
      shop.recorder.add("outer \(change.new ?? "none")")
      do {
        let subscription = try store?.observe(\Album.title, of: 1) {
          shop.recorder.add("inner \($0.new ?? "none")")
        }
        inner.withLock { $0 = subscription }
      } catch {
        Issue.record(error)
      }
    }
    try store.write { tx in try tx.set(\Album.title, to: "a", for: 1) }
    store.waitForDelivery()
    outer.cancel()
    try store.write { tx in try tx.set(\Album.title, to: "b", for: 1) }
    #expect(shop.told() == ["outer a", "inner b"])
    inner.withLock { $0?.cancel() }
  }

  @Test func droppingTheSubscriptionEndsTheObservation() throws {
    let shop = try Shop()
    var subscription: ObservationToken? = try shop.store.observe(\Album.title, of: 1) {
      shop.recorder.add($0.new ?? "none")
    }
    try shop.store.write { tx in try tx.set(\Album.title, to: "a", for: 1) }
    #expect(shop.told() == ["a"])
    withExtendedLifetime(subscription) {}
    subscription = nil
    try shop.store.write { tx in try tx.set(\Album.title, to: "b", for: 1) }
    #expect(shop.told() == [])
  }

  @Test func aKeyThatDoesNotExistYetCanBeObserved() throws {
    let shop = try Shop()
    let subscription = try shop.store.observe(\Album.title, of: 77) {
      shop.recorder.add(Self.line($0))
    }
    try shop.store.write { tx in try tx.insert(Album(id: 77, title: "here")) }
    try shop.store.write { tx in try tx.execute("UPDATE Album SET id = 78 WHERE id = 77") }
    #expect(shop.told() == ["none → here user", "here → none user"])
    subscription.cancel()
  }

  @Test func aCommitOfAnotherConnectionIsAReset() throws {
    let shop = try Shop()
    let subscription = try shop.store.observe(\Album.title, of: 1) {
      shop.recorder.add(Self.line($0))
    }
    let model = try shop.store.observe(Album.self) {
      shop.recorder.add("model \($0.isReset) \($0.changes.count)")
    }
    try PlainDatabase(shop.store.path).execute("UPDATE Album SET title = 'other' WHERE id = 1")
    try shop.store.refresh()
    #expect(shop.told() == ["none → other foreign reset", "model true 0"])
    try shop.store.refresh()
    #expect(shop.told() == [])
    // Reported with the next write, before it.
    try PlainDatabase(shop.store.path).execute("DELETE FROM Album WHERE id = 1")
    try shop.store.write { tx in
      shop.store.engine.broker.drain()
      try tx.insert(Album(id: 1, title: "again"))
    }
    #expect(
      shop.told() == [
        "none → none foreign reset", "model true 0", "none → again user", "model false 1",
      ])
    subscription.cancel()
    model.cancel()
  }

  // The captured models were decided before the observer was added, so it has to read again.
  @Test func anObserverAddedDuringATransactionMissesNothing() throws {
    let shop = try Shop()
    let held = Mutex<[ObservationToken]>([])
    try shop.store.write { tx in
      try tx.set(\Album.title, to: "under way", for: 1)
      let subscription = try shop.store.observe(\Album.title, of: 1) {
        shop.recorder.add(Self.line($0))
      }
      held.withLock { $0.append(subscription) }
      try tx.set(\Album.title, to: "done", for: 1)
    }
    #expect(shop.told() == ["none → done foreign reset"])
    try shop.store.write { tx in try tx.set(\Album.title, to: "next", for: 1) }
    #expect(shop.told() == ["done → next user"])
  }

  @Test func aNarrowObserverDoesNotHideFieldsFromALaterOne() throws {
    let shop = try Shop()
    let narrow = try shop.store.observe(\Album.title, of: 1) { shop.recorder.add(Self.line($0)) }
    try shop.store.write { tx in try tx.set(\Album.title, to: "a", for: 1) }
    let wide = try shop.store.observe(Album.self, of: 1) { change in
      shop.recorder.add("\(change.old?.artistName ?? "none") \(change.new?.artistName ?? "none")")
    }
    try shop.store.write { tx in try tx.set(\Album.title, to: "b", for: 1) }
    #expect(shop.told() == ["So What → a user", "a → b user", "Miles Miles"])
    narrow.cancel()
    wide.cancel()
  }

  @Test func aSlowObserverReceivesCoalescedCommits() throws {
    let shop = try Shop()
    let gate = Mutex(())
    let blocking = try shop.store.observe(Artist.self) { _ in gate.withLock { _ in } }
    let subscription = try shop.store.observe(.field(\Album.title, of: 1), coalescing: .latest) {
      shop.recorder.add(Self.line($0))
    }
    let record = try shop.store.observe(.record(Album.self, 1), coalescing: .latest) { change in
      shop.recorder.add(
        "\(change.old?.title ?? "none") → \(change.new?.title ?? "none") \(change.fields.map(\.name))"
      )
    }
    try gate.withLock { _ in
      try shop.store.write { tx in try tx.set(\Artist.name, to: "blocks", for: 1) }
      try shop.store.write { tx in try tx.set(\Album.title, to: "a", for: 1) }
      try shop.store.write { tx in try tx.delete(Album.self, 1) }
      try shop.store.write { tx in try tx.insert(Album(id: 1, title: "b", artistID: 1)) }
    }
    // Each arrives with the first of the commits that it coalesces; the artist's commit changed the
    // bound field.
    #expect(
      shop.told() == [
        "So What → b [\"title\", \"artistName\"]", "So What → b user",
      ])
    try gate.withLock { _ in
      try shop.store.write { tx in try tx.set(\Artist.name, to: "blocks again", for: 1) }
      try shop.store.write { tx in try tx.set(\Album.title, to: "c", for: 1) }
      try shop.store.write { tx in try tx.set(\Album.title, to: "b", for: 1) }
    }
    #expect(shop.told() == ["b → b [\"artistName\"]"])
    for subscription in [blocking, subscription, record] { subscription.cancel() }
  }

  @Test func nothingKeepsTheStoreOrTheCallbackAlive() throws {
    final class Token: Sendable {}
    let directory = try TemporaryDirectory()
    weak var engine: StoreEngine?
    weak var token: Token?
    weak var query: LiveQuery<Artist>?
    do {
      let store = try Store(at: directory.file("a.store"), models: Artist.self)
      engine = store.engine
      let made = Token()
      token = made
      let live = try store.liveQuery(Artist.all)
      query = live
      let subscriptions = [
        try store.observe(\Artist.name, of: 1) { [made] _ in withExtendedLifetime(made) {} },
        try live.observe { [made] _ in withExtendedLifetime(made) {} },
      ]
      try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
      store.waitForDelivery()
      #expect(token != nil && query != nil)
      withExtendedLifetime(subscriptions) {}
    }
    // A poll for other processes' commits that was running may hold them last.
    while engine != nil || token != nil || query != nil { sched_yield() }
  }

  @Test func aSubscriptionKeepsItsQueryAlive() throws {
    let shop = try Shop()
    var subscription: ObservationToken? = try shop.store.liveQuery(Artist.all).observe {
      shop.recorder.add("\($0.newCount)")
    }
    try shop.store.write { tx in try tx.insert(Artist(id: 2, name: "b")) }
    #expect(shop.told() == ["2"])
    withExtendedLifetime(subscription) {}
    subscription = nil
    try shop.store.write { tx in try tx.insert(Artist(id: 3, name: "c")) }
    #expect(shop.told() == [])
  }

  @Test func aSequenceEndsWhenItsTaskIsCancelled() async throws {
    let shop = try Shop()
    let changes = try await shop.store.liveQuery(Artist.all.order { $0.name }).changes()
    let (events, continuation) = AsyncStream.makeStream(of: Int.self)
    let task = Task {
      for try await event in changes { continuation.yield(event.newCount) }
      continuation.finish()
    }
    var iterator = events.makeAsyncIterator()
    for number in 2...4 as ClosedRange<Int64> {
      try await shop.store.write { tx in _ = try tx.insert(Artist(id: number, name: "n")) }
      let count = await iterator.next()
      #expect(count == Int(number))
    }
    task.cancel()
    let end = await iterator.next()
    #expect(end == nil)
    try await task.value
  }

  @Test func aDroppedSequenceEndsItsObservation() throws {
    let shop = try Shop()
    weak var query: LiveQuery<Artist>?
    do {
      let live = try shop.store.liveQuery(Artist.all)
      query = live
      let changes = try live.changes()
      try shop.store.write { tx in try tx.insert(Artist(id: 2, name: "b")) }
      withExtendedLifetime(changes) {}
    }
    // A poll for other processes' commits that was running may hold it last.
    while query != nil { sched_yield() }
    try shop.store.write { tx in try tx.insert(Artist(id: 3, name: "c")) }
    #expect(try shop.store.fetch(Artist.all).map(\.id) == [1, 2, 3])
  }

  @Test func manyObserversComeAndGoWhileOthersWrite() async throws {
    let shop = try Shop { $0.durability = .normal }
    let store = shop.store
    let last = Mutex<[Int: String]>([:])
    let staying = try (0..<50).map { number in
      try store.observe(\Album.title, of: 1) { change in
        last.withLock { $0[number] = change.new }
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          for round in 0..<50 {
            try await store.write { tx in try tx.set(\Album.title, to: "\(writer).\(round)", for: 1)
            }
          }
        }
      }
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<50 {
            let field = try store.observe(\Album.title, of: 1) { _ in }
            let live = try store.liveQuery(Album.all.order { $0.title })
            let list = try live.observe { _ in }
            field.cancel()
            list.cancel()
          }
        }
      }
      try await group.waitForAll()
    }
    await store.waitForDelivery()
    let title = try await #require(try store.find(Album.self, 1)).title
    #expect(last.withLock { $0 } == Dictionary(uniqueKeysWithValues: (0..<50).map { ($0, title) }))
    for subscription in staying { subscription.cancel() }
    #expect(store.engine.broker.interests().isEmpty)
  }

  /// Letting go of a callback may run the caller's code, which may end other subscriptions.
  @Test func objectsCapturedByACallbackMayEndObservationsWhenReleased() throws {
    let shop = try Shop()
    let live = try shop.store.liveQuery(Album.all)
    final class Holder: Sendable {
      let held: ObservationToken
      init(_ held: ObservationToken) { self.held = held }
      deinit { held.cancel() }
    }
    let inner = try live.observe { _ in shop.recorder.add("inner") }
    let holder = Mutex<Holder?>(Holder(inner))
    let outer = try live.observe { [holder = holder.withLock { $0.take() }] _ in
      shop.recorder.add("outer \(holder == nil)")
    }
    outer.cancel()
    try shop.store.write { tx in try tx.set(\Album.title, to: "x", for: 1) }
    #expect(shop.told() == [])
  }

  @Test(.ownThreads) func waitingForDeliveryInsideAWriteTraps() async {
    await #expect(processExitsWith: .failure) {
      let directory = try TemporaryDirectory()
      let store = try Store(at: directory.file("a.store"), models: Artist.self)
      try store.write { _ in store.waitForDelivery() }
    }
  }

  @Test(.ownThreads) func waitingForDeliveryInsideACallbackSaysWhyItTraps() async {
    let ended = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let directory = try TemporaryDirectory()
      let store = try Store(at: directory.file("a.store"), models: Artist.self)
      let subscription = try store.observe(Artist.self) { [weak store] _ in
        store?.waitForDelivery()
      }
      try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
      store.waitForDelivery()
      withExtendedLifetime(subscription) {}
    }
    let message = String(decoding: ended?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("Waiting for delivery inside a callback would never end."))
  }
}
