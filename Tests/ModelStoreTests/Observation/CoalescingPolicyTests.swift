import Testing

@testable import ModelStore

/// What happens to commits that are not read at once.
@Suite(.tags(.unit)) struct CoalescingPolicyTests {
  /// One observer of each kind, with the versions that it received.
  private struct Everyone {
    let store: Store
    let gate = DispatchGate()
    let told = Recorder<String>()
    private(set) var subscriptions: [ObservationToken] = []

    init(_ world: ListWorld, _ coalescing: CoalescingPolicy) throws {
      store = world.store
      let (gate, told) = (gate, told)
      let songs = try store.liveQuery(Song.where { $0.id < 3 })
      let many = try store.liveQuery(Song.where { $0.plays > 0 })
      subscriptions = [
        try store.observe(Mix.self) { _ in gate.wait() },
        try store.observe(.field(\Song.title, of: 1), coalescing: coalescing) {
          told.add("field \($0.text)")
        },
        try store.observe(.record(Song.self, 1), coalescing: coalescing) {
          told.add("record \($0.old?.title ?? "none") → \($0.new?.title ?? "none")")
        },
        try songs.observe(coalescing: coalescing) { changes in
          told.add("query \(changes.updates.map { "\($0.old.title) → \($0.new.title)" })")
        },
        try store.observe(list: \Mix.songs, of: 1, fields: [\Song.title], coalescing: coalescing) {
          told.add("list \($0.updates.map { "\($0.fields[0].old) → \($0.fields[0].new)" })")
        },
        try store.observe(songs, many, coalescing: coalescing) { songs, many in
          told.add("group \(songs?.updates.map { "\($0.old.title) → \($0.new.title)" } ?? [])")
        },
      ]
    }

    func news(of kind: String) -> [String] {
      told.events.filter { $0.hasPrefix(kind) }.map { String($0.dropFirst(kind.count + 1)) }
    }
  }

  private static let steps = ["song 1", "a", "b", "c", "d"]

  @Test(
    "each kind of observer keeps as many events as its backlog allows",
    arguments: [
      (CoalescingPolicy.every, [0, 1, 2, 3, 4]), (.bounded(3), [0, 1, 2, 4]),
      (.bounded(4), [0, 1, 2, 3, 4]),
      (.latest, [0, 4]), (.standard, [0, 1, 2, 3, 4]),
    ])
  func waitingEvents(coalescing: CoalescingPolicy, stops: [Int]) throws {
    let world = try ListWorld(songs: [1, 1, 2])
    let everyone = try Everyone(world, coalescing)
    // The first observer delays all later ones.
    try world.store.write { tx in try tx.insert(Mix(id: 3)) }
    for title in Self.steps.dropFirst() {
      try world.store.write { tx in try tx.set(\Song.title, to: title, for: 1) }
    }
    everyone.gate.open()
    world.store.waitForDelivery()
    let steps = zip(stops, stops.dropFirst()).map { (Self.steps[$0], Self.steps[$1]) }
    #expect(everyone.news(of: "field") == steps.map { "\($0) → \($1)" })
    #expect(everyone.news(of: "record") == steps.map { "\($0) → \($1)" })
    #expect(everyone.news(of: "query") == steps.map { "[\"\($0) → \($1)\"]" })
    #expect(everyone.news(of: "group") == steps.map { "[\"\($0) → \($1)\"]" })
    #expect(
      everyone.news(of: "list")
        == steps.map { old, new in
          let change = "\(SQLValue.text(old)) → \(SQLValue.text(new))"
          return "\([change, change])"
        })
    for subscription in everyone.subscriptions { subscription.cancel() }
  }

  /// What a mailbox keeps, and the turns that it asks for, do not grow with the commits.
  @Test func coalescedEventsNeedNoSeparateTurn() {
    struct Step: ObservedEvent {
      let version: UInt64
      var distance: Int
      var wave: Wave { Wave() }

      struct Folding: EventFolding {
        var event: Step
        init(_ first: Step) { event = first }
        mutating func add(_ later: Step) {
          event = Step(version: later.version, distance: event.distance + later.distance)
        }
        var isEmpty: Bool { event.distance == 0 }
      }
    }
    let mailbox = Mailbox<Step>(coalescing: .bounded(2))
    let told = Recorder<[Int]>()
    mailbox.whenReady { told.add([Int($0.version), $0.distance]) }
    let distances = [1, 2, 3, -3, 1, -1, 4, 5]
    let turns = distances.enumerated().map { offset, distance in
      mailbox.put(Step(version: UInt64(offset + 1), distance: distance)).contains(.ready)
    }
    // 2 and 3 and so on are one event, which came to nothing once and began again.
    #expect(turns == [true, true, false, false, false, false, false, false])
    mailbox.deliver(upTo: 1)
    #expect(told.taken() == [[1, 1]])
    mailbox.deliver(upTo: 2)
    #expect(told.taken() == [[8, 11]])
    #expect(mailbox.put(Step(version: 9, distance: 1)).contains(.ready))
    mailbox.deliver(upTo: 8)
    #expect(told.taken() == [])
    mailbox.deliver(upTo: 9)
    #expect(told.taken() == [[9, 1]])
    // An event without a net change leaves its turn to an earlier one.
    let later = [(10, 1), (11, 2), (12, -2), (13, 6)].map { version, distance in
      mailbox.put(Step(version: UInt64(version), distance: distance)).contains(.ready)
    }
    #expect(later == [true, true, false, false])
    mailbox.deliver(upTo: 11)
    #expect(told.taken() == [[10, 1], [13, 6]])
  }

  @Test func aPausedSubscriptionReceivesEventsLaterAndInOrder() throws {
    let shop = try MusicShop()
    let subscription = try shop.store.observe(.field(\Album.title, of: 1), coalescing: .bounded(2))
    {
      shop.told.add($0.text)
    }
    let other = try shop.store.observe(\Album.title, of: 1) { shop.told.add("other \($0.text)") }
    try shop.setTitle("a")
    #expect(shop.news() == ["one → a", "other one → a"])
    subscription.pause()
    subscription.pause()
    for title in ["b", "c", "d"] { try shop.setTitle(title) }
    #expect(shop.news() == ["other a → b", "other b → c", "other c → d"])
    subscription.resume()
    #expect(shop.news() == ["a → b", "b → d"])
    subscription.resume()
    try shop.setTitle("e")
    #expect(shop.news() == ["d → e", "other d → e"])
    subscription.pause()
    try shop.setTitle("f")
    subscription.cancel()
    subscription.resume()
    #expect(shop.news() == ["other e → f"])
    other.cancel()
  }

  @Test func changesThatCancelOutDuringAPauseAreNotReported() throws {
    let shop = try MusicShop()
    let titles = try shop.store.liveQuery(Album.all.order { $0.title })
    let subscription = try titles.observe(coalescing: .latest) {
      shop.told.add("\($0.new.map(\.self))")
    }
    subscription.pause()
    try shop.setTitle("zzz")
    try shop.setTitle("one")
    try shop.store.write { tx in try tx.insert(Album(id: 4, title: "four")) }
    try shop.store.write { tx in try tx.delete(Album.self, 4) }
    subscription.resume()
    #expect(shop.news() == [])
    subscription.cancel()
  }

  /// Pausing, writing and resuming on several threads: each observer's events stay one chain.
  @Test func pausingAtAnyMomentLosesNothing() async throws {
    let shop = try MusicShop { $0.durability = .normal }
    let steps = Recorder<[String?]>()
    try shop.setTitle("0")
    await shop.store.waitForDelivery()
    let subscription = try await shop.store.observe(
      .field(\Album.title, of: 1), coalescing: .bounded(3)
    ) { steps.add([$0.old, $0.new]) }
    let store = shop.store
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 1...400 {
          try await store.write { tx in try tx.set(\Album.title, to: "\(number)", for: 1) }
        }
      }
      group.addTask {
        for _ in 0..<400 {
          subscription.pause()
          await Task.yield()
          subscription.resume()
        }
      }
      try await group.waitForAll()
    }
    shop.settle()
    let told = steps.events
    #expect(told.first?.first == "0")
    #expect(told.last?.last == "400")
    #expect(zip(told, told.dropFirst()).allSatisfy { $0[1] == $1[0] })
    subscription.cancel()
  }

  // Loops

  @Test func aLoopReceivesAsManyEventsAsItsBacklogHolds() async throws {
    let shop = try MusicShop()
    let latest = try await shop.store.changes(of: .field(\Album.title, of: 1), coalescing: .latest)
    let every = try await shop.store.changes(of: .field(\Album.title, of: 1), coalescing: .every)
    for title in ["a", "b", "c"] {
      try await shop.store.write { tx in try tx.set(\Album.title, to: title, for: 1) }
    }
    var told: [String] = []
    for try await change in latest {
      told.append(change.text)
      break
    }
    for try await change in every {
      told.append(change.text)
      if told.count == 4 { break }
    }
    #expect(told == ["one → c", "one → a", "a → b", "b → c"])
  }

  // Writes that leave subscribers out

  @Test func aSuppressedWriteIsNotReportedToTheExcludedObservers() async throws {
    let shop = try MusicShop()
    let albums = try await shop.store.liveQuery(Album.all.order { $0.title })
    let field = try shop.store.observe(\Album.title, of: 1) { shop.told.add("field \($0.text)") }
    let list = try await albums.observe { changes in
      shop.told.add(
        "list \(changes.oldVersion != 0) \(changes.old.map(\.self)) \(changes.new.map(\.self))")
    }
    let witness = try shop.store.observe(\Album.title, of: 1) {
      shop.told.add("witness \($0.text)")
    }
    try await shop.store.write(suppressing: [field, list]) { tx in
      try tx.set(\Album.title, to: "zero", for: 1)
    }
    #expect(shop.news() == ["witness one → zero"])
    try await shop.store.write(suppressing: [list]) { tx in try tx.delete(Album.self, 2) }
    #expect(shop.news() == [])
    try shop.setTitle("a")
    // The result before is the result of the suppressed writes.
    let (three, first) = ([SQLValue.integer(3)], [SQLValue.integer(1)])
    #expect(
      shop.news() == [
        "list true \([three, first]) \([first, three])", "field zero → a",
        "witness zero → a",
      ])
    for subscription in [field, list, witness] { subscription.cancel() }
  }

  @Test func waitingEventsAreNotCoalescedAcrossASuppressedWrite() throws {
    let shop = try MusicShop()
    let subscription = try shop.store.observe(.field(\Album.title, of: 1), coalescing: .latest) {
      shop.told.add($0.text)
    }
    subscription.pause()
    try shop.setTitle("a")
    try shop.setTitle("b")
    try shop.store.write(suppressing: [subscription]) { tx in
      try tx.set(\Album.title, to: "mine", for: 1)
    }
    try shop.setTitle("c")
    try shop.setTitle("d")
    subscription.resume()
    #expect(shop.news() == ["one → b", "mine → d"])
    subscription.cancel()
  }

  /// The changes after the suppressed write cancelled out, and once later changes were coalesced
  /// across it.
  @Test func changesThatCancelOutAfterASuppressedWriteLeaveItsGap() throws {
    let shop = try MusicShop()
    let subscription = try shop.store.observe(.field(\Album.title, of: 1), coalescing: .latest) {
      shop.told.add($0.text)
    }
    subscription.pause()
    try shop.setTitle("a")
    try shop.store.write(suppressing: [subscription]) { tx in
      try tx.set(\Album.title, to: "mine", for: 1)
    }
    try shop.setTitle("c")
    try shop.setTitle("mine")
    try shop.setTitle("e")
    subscription.resume()
    #expect(shop.news() == ["one → a", "mine → e"])
    subscription.cancel()
  }

  @Test func aRefusedSuppressedWriteLeavesNoTrace() throws {
    let shop = try MusicShop()
    let subscription = try shop.store.observe(\Album.title, of: 1) { shop.told.add($0.text) }
    let refused = failure {
      try shop.store.write(suppressing: [subscription]) { tx in
        try tx.set(\Album.title, to: "x", for: 1)
        throw StoreError(.misuse, "never mind")
      }
    }
    #expect(refused?.message == "never mind")
    try shop.setTitle("a")
    #expect(shop.news() == ["one → a"])
    let elsewhere = try MusicShop()
    let foreign = failure {
      try elsewhere.store.write(suppressing: [subscription]) { tx in
        try tx.set(\Album.title, to: "x", for: 1)
      }
    }
    #expect(foreign?.code == .misuse)
    #expect(try elsewhere.store.find(Album.self, 1)?.title == "one")
    subscription.cancel()
  }

  @Test("during writes, an observer of the latest value is called between calls of a slow one")
  func aSlowCallbackDoesNotStarveOthers() throws {
    let world = try ListWorld(songs: [1])
    let (entered, gate) = (DispatchGate(), DispatchGate())
    let told = world.store
    let titles = Recorder<String?>()
    let slow = try told.observe(.field(\Song.title, of: 1)) { _ in
      entered.open()
      gate.wait()
    }
    let latest = try told.observe(.field(\Song.title, of: 1), coalescing: .latest) {
      titles.add($0.new)
    }
    for title in ["a", "b", "c"] {
      try told.write { tx in try tx.set(\Song.title, to: title, for: 1) }
    }
    entered.wait()
    gate.open()
    // When the slow one is in its second call, the turn of the first commit is over.
    entered.wait()
    #expect(titles.taken() == ["c"])
    try told.write { tx in try tx.set(\Song.title, to: "d", for: 1) }
    gate.open()
    entered.wait()
    #expect(titles.taken() == [])
    gate.open()
    entered.wait()
    gate.open()
    told.waitForDelivery()
    #expect(titles.taken() == ["d"])
    slow.cancel()
    latest.cancel()
  }
}
