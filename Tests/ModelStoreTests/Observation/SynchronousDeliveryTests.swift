import Testing

@testable import ModelStore

/// Writes that return after their observers were called.
@Suite(.tags(.unit)) struct SynchronousDeliveryTests {
  /// A live query's turn is that of its making, not of its subscribers'.
  @Test func theWriteReturnsAfterTheCallback() async throws {
    let shop = try MusicShop()
    let albums = try await shop.store.liveQuery(Album.all)
    let subscriptions = await [
      try shop.store.observe(.field(\Album.title, of: 1), options: .synchronous) {
        shop.told.add("field \($0.text)")
      },
      try await albums.observe(options: .synchronous) { shop.told.add("query \($0.newCount)") },
      try await shop.store.observe(albums, albums, options: .synchronous) { first, second in
        shop.told.add("group \(first?.newCount ?? 0) \(second?.newCount ?? 0)")
      },
    ]
    try shop.setTitle("a")
    #expect(shop.told.taken() == ["query 3", "group 3 3", "field one → a"])
    try await shop.store.write { tx in try tx.set(\Album.title, to: "b", for: 1) }
    #expect(shop.told.taken() == ["query 3", "group 3 3", "field a → b"])
    _ = try await shop.store.writeReturningChanges { tx in try tx.set(\Album.title, to: "c", for: 1)
    }
    #expect(shop.told.taken() == ["query 3", "group 3 3", "field b → c"])
    try await shop.store.subject(\Album.title, of: 1).send("d")
    #expect(shop.told.taken() == ["query 3", "group 3 3", "field c → d"])
    for subscription in subscriptions { subscription.cancel() }
  }

  @Test func theInitialEventArrivesBeforeTheCallReturns() throws {
    let world = try ListWorld(songs: [2, 1])
    let told = Recorder<String>()
    let options: ObservationOptions = [.initial, .synchronous]
    let songs = try world.store.liveQuery(Song.where { $0.id < 4 })
    let subscriptions = [
      try world.store.observe(.field(\Song.title, of: 1), options: options) { told.add($0.text) },
      try songs.observe(options: options) { told.add("\($0.insertions.map(\.record.id))") },
      try world.store.observe(list: \Mix.songs, of: 1, options: options) {
        told.add("list \($0.insertions.count)")
      },
      try world.store.observe(songs, songs, options: options) { first, second in
        told.add("group \(first?.insertions.count ?? 0) \(second?.insertions.count ?? 0)")
      },
    ]
    #expect(told.taken() == ["none → song 1", "[1, 2, 3]", "list 2", "group 3 3"])
    try world.store.write { tx in try tx.list(\Mix.songs, of: 1).append(3) }
    #expect(told.taken() == ["list 1"])
    for subscription in subscriptions { subscription.cancel() }
  }

  /// A callback that waited for a callback would wait for itself.
  @Test func aWriteInACallbackDoesNotWaitForDelivery() throws {
    let shop = try MusicShop()
    let subscription = try shop.store.observe(
      .field(\Album.title, of: 1), options: .synchronous
    ) { [store = shop.store, told = shop.told] change in
      told.add("\(change.text) begins")
      if change.new == "a" {
        do {
          try store.write { tx in try tx.set(\Album.title, to: "b", for: 1) }
        } catch {
          told.add("\(error)")
        }
      }
      told.add("\(change.text) ends")
    }
    try shop.setTitle("a")
    #expect(shop.told.taken().prefix(2) == ["one → a begins", "one → a ends"])
    shop.settle()
    try shop.setTitle("c")
    #expect(shop.told.taken().suffix(2) == ["b → c begins", "b → c ends"])
    subscription.cancel()
  }

  /// Once, the reply of an earlier callback was coalesced into the event that the write waited for,
  /// whose turn then had nothing to report.
  @Test func anAwaitedEventIsNotCoalescedWithTheReply() throws {
    let shop = try MusicShop()
    let answering = try shop.store.observe(\Album.title, of: 1) {
      [store = shop.store, told = shop.told] change in
      guard change.new == "a" else { return }
      do {
        try store.write { tx in try tx.set(\Album.title, to: "b", for: 1) }
      } catch {
        told.add("\(error)")
      }
    }
    let subscription = try shop.store.observe(
      .field(\Album.title, of: 1), options: .synchronous, coalescing: .latest
    ) { shop.told.add($0.text) }
    try shop.setTitle("a")
    #expect(shop.told.events.first == "one → a")
    shop.settle()
    #expect(shop.told.events == ["one → a", "a → b"])
    for subscription in [answering, subscription] { subscription.cancel() }
  }

  /// The queue of a transaction hid that this was a callback, which then waited for itself.
  @Test func aWriteInsideAReadInACallbackDoesNotWaitEither() throws {
    let shop = try MusicShop()
    let subscription = try shop.store.observe(
      .field(\Album.title, of: 1), options: .synchronous
    ) { [store = shop.store, told = shop.told] change in
      told.add(change.text)
      guard change.new == "a" else { return }
      do {
        try store.read { _ in
          try store.write { tx in try tx.set(\Album.title, to: "b", for: 1) }
        }
      } catch {
        told.add("\(error)")
      }
    }
    try shop.setTitle("a")
    #expect(shop.news() == ["one → a", "a → b"])
    subscription.cancel()
  }

  /// The delivery of the other program's commit waited for a reader that the write's caller had,
  /// and the write for the delivery.
  @Test func aWriteInsideAReadIsNotWaitedForByTheDelivery() throws {
    let shop = try MusicShop { $0.maxReaderCount = 1 }
    let subscription = try shop.store.observe(
      .field(\Album.title, of: 1), options: .synchronous
    ) { shop.told.add($0.text) }
    try shop.store.read { _ in
      try PlainDatabase(shop.store.path).execute("UPDATE Album SET title = 'x' WHERE id = 1")
      try shop.setTitle("y")
    }
    #expect(shop.told.taken().last?.hasSuffix("y") == true)
    subscription.cancel()
  }

  @Test func aWriteWaitsForItsOwnObserversOnly() async throws {
    let shop = try MusicShop()
    let gate = DispatchGate()
    let blocking = try shop.store.observe(Artist.self) { _ in gate.wait() }
    let subscription = try await shop.store.observe(
      .field(\Album.title, of: 1), options: .synchronous
    ) { shop.told.add($0.text) }
    try await shop.store.write { tx in try tx.set(\Artist.name, to: "blocks", for: 1) }
    let store = shop.store
    let waiting = Task {
      try await store.write { tx in try tx.set(\Album.title, to: "a", for: 1) }
    }
    while store.engine.broker.awaitedCount == 0 { await Task.yield() }
    // Would wait for the other write's observer, behind the gate, for ever.
    try await store.write { tx in try tx.set(\Album.title, to: "other", for: 3) }
    #expect(shop.told.events == [])
    gate.open()
    try await waiting.value
    #expect(shop.told.events == ["one → a"])
    for subscription in [blocking, subscription] { subscription.cancel() }
  }

  @Test func writesDoNotWaitForPausedOrExcludedObservers() throws {
    let shop = try MusicShop()
    let gate = DispatchGate()
    let blocking = try shop.store.observe(Artist.self) { _ in gate.wait() }
    let subscription = try shop.store.observe(
      .field(\Album.title, of: 1), options: .synchronous
    ) { shop.told.add($0.text) }
    try shop.store.write { tx in try tx.set(\Artist.name, to: "blocks", for: 1) }
    // Would never return if it waited: the delivery queue is held up.
    subscription.pause()
    try shop.setTitle("a")
    try shop.store.write(suppressing: [subscription]) { tx in
      try tx.set(\Album.title, to: "b", for: 1)
    }
    #expect(shop.told.taken() == [])
    gate.open()
    subscription.resume()
    #expect(shop.news() == ["one → a"])
    blocking.cancel()
    subscription.cancel()
  }

  @Test func unsupportedOptionsAreRefused() throws {
    let shop = try MusicShop()
    let albums = try shop.store.liveQuery(Album.all)
    #expect(
      failure { try shop.store.changes(of: .field(\Album.title, of: 1), options: .synchronous) }?
        .code == .misuse)
    #expect(failure { try albums.changes(options: .synchronous) }?.code == .misuse)
    #expect(failure { try albums.observe(options: .prior) { _ in } }?.code == .misuse)
    #expect(
      failure { try shop.store.observe(.model(Album.self), options: .initial) { _ in } }?.code
        == .misuse)
    #expect(shop.registry == [])
    let model = try shop.store.observe(.model(Album.self), options: .synchronous) {
      shop.told.add("\($0.changes.count)")
    }
    try shop.setTitle("a")
    #expect(shop.told.taken() == ["1"])
    model.cancel()
  }
}
