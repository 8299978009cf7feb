import Testing

@testable import ModelStore

/// What an observation reports in addition to the changes, and when.
@Suite(.tags(.unit)) struct ObservationOptionsTests {
  private static func line<Value>(_ change: FieldEvent<Value>) -> String {
    "\(change.phase) \(change.text) \(change.origin)\(change.isReset ? " reset" : "")"
  }

  @Test("TC6 old and new values are both reported")
  func oldAndNew() throws {
    let shop = try MusicShop()
    let subscription = try shop.store.observe(.field(\Album.title, of: 1)) {
      shop.told.add(Self.line($0))
    }
    try shop.setTitle("two")
    #expect(shop.news() == ["after one → two user"])
    subscription.cancel()
  }

  @Test("JK-C with .initial the current value comes first; nothing is lost or reported twice")
  func thePresentComesFirst() throws {
    let shop = try MusicShop()
    try shop.setTitle("before")
    let here = try shop.store.observe(.field(\Album.title, of: 1), options: .initial) {
      shop.told.add(Self.line($0))
    }
    let absent = try shop.store.observe(.field(\Album.title, of: 9), options: .initial) {
      shop.told.add("9 \(Self.line($0))")
    }
    try shop.setTitle("after")
    #expect(
      shop.news() == [
        "initial none → before foreign", "9 initial none → none foreign",
        "after before → after user",
      ])
    here.cancel()
    absent.cancel()
  }

  /// What is read for the beginning is read in a transaction, and its COMMIT may fail.
  @Test func anObservationThatFailsToStartIsNotRegistered() throws {
    let shop = try MusicShop()
    let engine = shop.store.engine
    // When the first observer is registered, there is no open transaction that could end.
    engine.broker.onAudienceChange { [weak engine] in
      guard let engine, engine.connections.writer.isCurrent else { return }
      do {
        try engine.connections.writer.inside { try $0.rollBack() }
      } catch {
        Issue.record(error)
      }
    }
    let title = Observed.field(\Album.title, of: 1)
    #expect(throws: (any Error).self) {
      _ = try shop.store.observe(title, options: .initial) { shop.told.add(Self.line($0)) }
    }
    #expect(!engine.broker.hasObservers)
    #expect(throws: (any Error).self) {
      _ = try shop.store.changes(of: title, options: .initial)
    }
    #expect(!engine.broker.hasObservers)
    #expect(throws: (any Error).self) { _ = try shop.store.liveQuery(Album.all) }
    #expect(!engine.broker.hasObservers)
    try shop.setTitle("after")
    #expect(!shop.news().contains("after one → after user"))
    engine.broker.onAudienceChange {}
    #expect(try shop.store.liveQuery(Album.all).count == 3)
  }

  @Test func everyKindOfObservationSupportsAnInitialEvent() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    try shop.store.observe(.record(Album.self, 1), in: bag, options: .initial) { event in
      shop.told.add("record \(event.phase) \(event.new?.title ?? "none") \(event.fields.count)")
    }
    let fields = Observed.fields([\Album.title, \Album.artistName], of: 1)
    try shop.store.observe(fields, in: bag, options: .initial) { event in
      shop.told.add("\(event.name) \(Self.line(event.change))")
    }
    bag.hold(
      try shop.store.observe(fields, options: .initial) { event in
        shop.told.add("both \(event.name) \(event.change.phase)")
      })
    #expect(
      shop.news() == [
        "record initial one 0", "title initial none → 'one' foreign",
        "artistName initial none → 'Miles' foreign", "both title initial",
        "both artistName initial",
      ])
  }

  @Test("with .prior each change is two calls, one right after the other")
  func priorComesFirst() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    try shop.store.observe(
      .field(\Album.title, of: 1), in: bag, context: "1", options: [.prior, .initial]
    ) { shop.told.add("1 \(Self.line($0))") }
    try shop.store.observe(.record(Album.self, 1), in: bag, options: .prior) { event in
      shop.told.add("2 \(event.phase) \(event.old?.title ?? "-") \(event.new?.title ?? "-")")
    }
    try shop.setTitle("two")
    #expect(
      shop.news() == [
        "1 initial none → one foreign", "1 before one → none user", "1 after one → two user",
        "2 before one -", "2 after one two",
      ])
    // A rolled back transaction is not a change, so it causes no prior event either.
    failure { try shop.setTitle("") }
    #expect(shop.news() == [])
  }

  @Test func anObserverThatEndsInTheFirstOfTwoCallsDoesNotReceiveTheSecond() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    try shop.store.observe(.field(\Album.title, of: 1), in: bag, options: .prior) {
      [weak bag] change in
      shop.told.add("\(change.phase)")
      bag?.removeAll()
    }
    try shop.setTitle("two")
    #expect(shop.news() == ["before"])
  }

  @Test func aSequenceCanBeginWithThePresent() async throws {
    let shop = try MusicShop()
    let changes = try await shop.store.changes(
      of: .fields([\Album.title, \Album.artistName], of: 1), options: [.initial, .prior])
    try await shop.store.write { tx in try tx.set(\Album.title, to: "two", for: 1) }
    var seen: [String] = []
    for try await event in changes {
      seen.append("\(event.name) \(event.change.phase) \(event.change.text)")
      if seen.count == 4 { break }
    }
    #expect(
      seen == [
        "title initial none → 'one'", "artistName initial none → 'Miles'",
        "title before 'one' → none", "title after 'one' → 'two'",
      ])
  }

  @Test func insideAWriteAnInitialValueIsRefused() throws {
    let shop = try MusicShop()
    let refused = failure {
      try shop.store.write { tx in
        _ = try shop.store.observe(.field(\Album.title, of: 1), options: .initial) { _ in }
      }
    }
    #expect(refused?.code == .misuse)
    #expect(shop.registry == [])
  }

  /// The initial event is coalesced like any other: the observer receives the latest value.
  @Test func aSlowObserverReceivesTheLatestInitialValue() throws {
    let shop = try MusicShop()
    let gate = DispatchGate()
    let blocking = try shop.store.observe(Artist.self) { _ in gate.wait() }
    try shop.setArtist("blocks")
    let bag = ObservationBag()
    for key in [1, 2, 9] as [Int64] {
      try shop.store.observe(
        .field(\Album.title, of: key), in: bag, options: .initial, coalescing: .latest
      ) { change in
        shop.told.add("\(key) \(Self.line(change))")
      }
    }
    try shop.store.write { tx in
      try tx.set(\Album.title, to: "later", for: 1)
      try tx.delete(Album.self, 2)
      try tx.insert(Album(id: 9, title: "nine"))
    }
    try shop.setTitle("latest")
    gate.open()
    #expect(
      shop.news() == [
        "1 initial none → latest foreign", "2 initial none → none foreign",
        "9 initial none → nine foreign",
      ])
    blocking.cancel()
  }

  private struct Step: Sendable {
    let observer: Int
    let old: Int?
    let new: Int?
  }

  /// Writes and new observations at once: each observer's events must be without gaps and
  /// repetitions.
  @Test func everySequenceOfEventsIsWithoutGaps() async throws {
    let shop = try MusicShop { $0.durability = .normal }
    let steps = Recorder<Step>()
    let bag = ObservationBag()
    let store = shop.store
    try shop.setTitle("0")
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 1...300 {
          try await store.write { tx in try tx.set(\Album.title, to: "\(number)", for: 1) }
        }
      }
      group.addTask {
        for number in 0..<100 {
          try await store.observe(
            .field(\Album.title, of: 1), in: bag, context: "\(number)", options: .initial
          ) { change in
            steps.add(
              Step(
                observer: number, old: change.old.flatMap { Int($0) },
                new: change.new.flatMap { Int($0) }))
          }
          await Task.yield()
        }
      }
      try await group.waitForAll()
    }
    await store.waitForDelivery()
    let stories = Dictionary(grouping: steps.events, by: \.observer)
    #expect(stories.count == 100)
    for (number, story) in stories {
      #expect(story.first?.old == nil, "\(number)")
      #expect(story.last?.new == 300, "\(number)")
      for (step, next) in zip(story, story.dropFirst()) {
        #expect(next.old == step.new, "\(number)")
        #expect(next.new == (step.new ?? 0) + 1, "\(number)")
      }
    }
  }

  /// Once, the first observer decided for good how events wait and which writes wait for them.
  @Test func aReplacingObserverUsesItsOwnBacklogAndOptions() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    let title = Observed.field(\Album.title, of: 1)
    let hold = DispatchGate()
    let block = try shop.store.observe(\Album.title, of: 2) { _ in hold.wait() }
    try shop.store.observe(title, in: bag) { _ in shop.told.add("former") }
    try shop.store.observe(title, in: bag, coalescing: .latest, ifPresent: .replace) {
      shop.told.add($0.text)
    }
    try shop.setTitle("hold", of: 2)
    for name in ["a", "b", "c"] { try shop.setTitle(name) }
    hold.open()
    #expect(shop.news() == ["one → c"])
    try shop.store.observe(title, in: bag, options: .synchronous, ifPresent: .replace) {
      shop.told.add("at once \($0.text)")
    }
    try shop.setTitle("d")
    #expect(shop.told.taken() == ["at once c → d"])
    block.cancel()
  }
}
