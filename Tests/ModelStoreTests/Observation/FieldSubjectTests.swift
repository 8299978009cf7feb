import Glibc
import Synchronization
import Testing

@testable import ModelStore

/// Fields as sources of values and as places to send them to.
@Suite(.tags(.unit)) struct FieldSubjectTests {
  @Test("RX1 RX2 a subscriber receives future values until it cancels")
  func hotAndUntilReleased() throws {
    let shop = try MusicShop()
    try shop.setTitle("before")
    var subscription: ObservationToken? = try shop.store.subject(\Album.title, of: 1).stream
      .subscribe { shop.told.add($0) }
    try shop.setTitle("a")
    try shop.store.write { tx in _ = try tx.delete(Album.self, 1) }
    try shop.store.write { tx in _ = try tx.insert(Album(id: 1, title: "b")) }
    #expect(shop.news() == ["a", "b"])
    withExtendedLifetime(subscription) {}
    subscription = nil
    try shop.setTitle("c")
    #expect(shop.news() == [])
    #expect(shop.registry == [])
  }

  @Test("RX3 a subject publishes its field and writes to it")
  func sourceAndSink() throws {
    let shop = try MusicShop()
    let subject = try shop.store.subject(\Album.title, of: 1)
    let subscription = try subject.stream.subscribe { shop.told.add($0) }
    try subject.send("sent")
    #expect(shop.news() == ["sent"])
    #expect(try shop.store.find(Album.self, 1)?.title == "sent")
    #expect(failure { try subject.send("") }?.code == .rejected)
    #expect(
      failure { try shop.store.write { _ in try subject.send("nested") } }?.code == .misuse)
    subscription.cancel()
  }

  @Test("RX4 writing the current value reports nothing")
  func equalValuesAreDropped() throws {
    let shop = try MusicShop()
    let subject = try shop.store.subject(\Album.title, of: 1)
    let subscription = try subject.stream.subscribe { shop.told.add($0) }
    for title in ["a", "a", "b"] { try subject.send(title) }
    #expect(shop.news() == ["a", "b"])
    subscription.cancel()
  }

  @Test("RX5 cancelling a subscription ends only that one, and cancelling again has no effect")
  func endingOneEndsOne() throws {
    let shop = try MusicShop()
    let subject = try shop.store.subject(\Album.title, of: 1)
    let first = try subject.stream.subscribe { shop.told.add("first \($0)") }
    let second = try subject.stream.subscribe { shop.told.add("second \($0)") }
    for _ in 0..<2 { first.cancel() }
    try subject.send("a")
    #expect(shop.news() == ["second a"])
    second.cancel()
  }

  @Test("RX6 a bag keeps its subject alive and ends its subscriptions when it is released")
  func aBagEndsEverything() throws {
    let shop = try MusicShop()
    var bag: ObservationBag? = ObservationBag()
    for number in 0..<3 {
      bag?.hold(
        try shop.store.subject(\Album.title, of: 1).stream.subscribe {
          shop.told.add("\(number) \($0)")
        })
    }
    try shop.setTitle("a")
    #expect(shop.news() == ["0 a", "1 a", "2 a"])
    bag = nil
    try shop.setTitle("b")
    #expect(shop.news() == [])
    #expect(shop.registry == [])
    // A subscription that is not retained ends at once.
    _ = try shop.store.subject(\Album.title, of: 1).stream.subscribe { shop.told.add($0) }
    try shop.setTitle("c")
    #expect(shop.news() == [])
  }

  @Test("RX7 filters can be chained, and ending the last one ends them all")
  func filtersChainAndEndTogether() throws {
    let shop = try MusicShop()
    let subject = try shop.store.subject(\Album.title, of: 1)
    let subscription = try subject.stream
      .filter { $0.count > 1 }
      .filter { $0.hasPrefix("a") }
      .map(\.count)
      .removeDuplicates()
      .subscribe { shop.told.add("\($0)") }
    #expect(shop.registry == ["Album[1].title"])
    for title in ["a", "ab", "bb", "ac", "abc"] { try subject.send(title) }
    #expect(shop.news() == ["2", "3"])
    // Once, the filter did not pass on its cancellation, and never ended.
    subscription.cancel()
    #expect(shop.registry == [])
    try subject.send("abcd")
    #expect(shop.news() == [])
  }

  @Test("RX8 RX9 a value is passed from field to field")
  func fromFieldToField() throws {
    let shop = try MusicShop()
    let one = try shop.store.subject(\Album.title, of: 1)
    let two = try shop.store.subject(\Album.title, of: 2)
    let binding = try one.stream.map { $0.uppercased() }.bind(to: two)
    try one.send("foo")
    shop.settle()
    #expect(try shop.store.find(Album.self, 2)?.title == "FOO")
    binding.cancel()
    #expect(shop.registry == [])
    try one.send("bar")
    shop.settle()
    #expect(try shop.store.find(Album.self, 2)?.title == "FOO")
    #expect(shop.failures.events == [])
  }

  @Test("RX9 a chain of three fields visits each field once")
  func aChainOfThree() throws {
    let shop = try MusicShop()
    let subjects = try (1...3).map { try shop.store.subject(\Album.title, of: $0) }
    let bindings = [
      try subjects[0].stream.map { $0 + "+" }.bind(to: subjects[1]),
      try subjects[1].stream.map { $0 + "+" }.bind(to: subjects[2]),
    ]
    try subjects[0].send("x")
    shop.settle()
    #expect(try shop.titles() == ["x", "x+", "x++"])
    for binding in bindings { binding.cancel() }
  }

  @Test("RX9 two fields bound to each other settle, whatever their transforms do")
  func twoWayComesToRest() throws {
    let shop = try MusicShop()
    let one = try shop.store.subject(\Album.title, of: 1)
    let two = try shop.store.subject(\Album.title, of: 2)
    let counted = try shop.store.observe(Album.self) { shop.told.add("\($0.changes.count)") }
    // Neither direction undoes the other: an equality of values never holds.
    let bindings = [
      try one.stream.map { $0 + ">" }.bind(to: two),
      try two.stream.map { $0 + "<" }.bind(to: one),
    ]
    try one.send("a")
    #expect(shop.news() == ["1", "1"])
    #expect(try shop.titles() == ["a", "a>", "three"])
    try two.send("b")
    #expect(shop.news() == ["1", "1"])
    #expect(try shop.titles() == ["b<", "b", "three"])
    for subscription in bindings + [counted] { subscription.cancel() }
  }

  @Test("RX9 a cycle of three fields settles, also with separate subjects for each end")
  func aCircleComesToRest() throws {
    let shop = try MusicShop()
    let bindings = try [(1, 2), (2, 3), (3, 1)].map { from, to in
      try shop.store.subject(\Album.title, of: from).stream.map { $0 + "." }
        .bind(to: shop.store.subject(\Album.title, of: to))
    }
    try shop.setTitle("a", of: 2)
    shop.settle()
    #expect(try shop.titles() == ["a..", "a", "a."])
    for binding in bindings { binding.cancel() }
  }

  @Test("a plain subscriber receives every value, also replies to its own writes")
  func aPlainSubscriberMissesNothing() throws {
    let shop = try MusicShop()
    let subject = try shop.store.subject(\Album.title, of: 1)
    let label = try subject.stream.subscribe { shop.told.add("label \($0)") }
    let clamp = try subject.stream.filter { $0.count > 3 }.subscribe { [weak subject] value in
      do {
        try subject?.send(String(value.prefix(3)))
      } catch {
        Issue.record(error)
      }
    }
    try subject.send("abcdef")
    #expect(shop.news() == ["label abcdef", "label abc"])
    #expect(try shop.store.find(Album.self, 1)?.title == "abc")
    clamp.cancel()
    label.cancel()
  }

  @Test("a cascade continues in the tasks that a callback starts")
  func aWaveFollowsTasks() async throws {
    let shop = try MusicShop()
    let one = try shop.store.subject(\Album.title, of: 1)
    let two = try shop.store.subject(\Album.title, of: 2)
    let (written, continuation) = AsyncStream.makeStream(of: Void.self)
    let store = shop.store
    let asynchronous = try one.stream.subscribe { value in
      Task {
        try await store.write { tx in try tx.set(\Album.title, to: value + "!", for: 2) }
        continuation.yield()
      }
    }
    let back = try two.stream.bind(to: one)
    try await one.send("a")
    var iterator = written.makeAsyncIterator()
    await iterator.next()
    shop.settle()
    #expect(try shop.titles() == ["a", "a!", "three"])
    asynchronous.cancel()
    back.cancel()
  }

  @Test("RX9 subscribers are called in order and may cancel themselves and others during a call")
  func inOrderAndEndingInside() throws {
    let shop = try MusicShop()
    let subject = try shop.store.subject(\Album.title, of: 1)
    let held = Mutex<[ObservationToken]>([])
    for number in 0..<4 {
      let subscription = try subject.stream.subscribe { value in
        shop.told.add("\(number) \(value)")
        if number == 1 { held.withLock { for place in [1, 2] { $0[place].cancel() } } }
      }
      held.withLock { $0.append(subscription) }
    }
    try subject.send("a")
    try subject.send("b")
    #expect(shop.news() == ["0 a", "1 a", "3 a", "0 b", "3 b"])
    #expect(shop.registry.count == 2)
  }

  @Test("RX10 a released object, a deleted record and a closed store are no longer targets")
  func deadTargets() throws {
    let shop = try MusicShop()
    final class Label: Sendable {
      private let value = Mutex("")
      var text: String {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
      }
    }
    let one = try shop.store.subject(\Album.title, of: 1)
    var label: Label? = Label()
    let assigning = try one.stream.bind(to: try #require(label), \.text)
    let writing = try one.stream.bind(to: shop.store.subject(\Album.title, of: 77))
    try one.send("shown")
    shop.settle()
    #expect(label?.text == "shown")
    weak let gone = label
    label = nil
    #expect(gone == nil)
    try one.send("unseen")
    shop.settle()
    #expect(shop.failures.events == [])
    #expect(
      failure { try shop.store.subject(\Album.title, of: 77).send("x") }?.code == .recordNotFound)
    assigning.cancel()
    writing.cancel()
  }

  @Test("a subject does not retain its store and reports when the store is gone")
  func theStoreGoes() throws {
    let subject: FieldSubject<Album, String>
    weak var engine: StoreEngine?
    weak var broker: ChangeBroker?
    do {
      let shop = try MusicShop()
      engine = shop.store.engine
      broker = shop.store.engine.broker
      subject = try shop.store.subject(\Album.title, of: 1)
      // The writer asks the broker which rows concern this observer.
      let observation = try shop.store.observe(\Album.title, of: 1) { _ in }
      try subject.send("y")
      observation.cancel()
    }
    // A queue of the store may still hold the last reference for the block that it is ending.
    while engine != nil { sched_yield() }
    var tryCount = 0
    while broker != nil, tryCount < 1_000_000 {
      sched_yield()
      tryCount += 1
    }
    #expect(broker == nil)
    #expect(failure { try subject.send("x") }?.code == .misuse)
    #expect(failure { try subject.stream.subscribe { _ in } }?.code == .misuse)
  }

  @Test("DS12 each binding has its own mode: one field is bound twice with different modes")
  func bindingsDoNotMix() throws {
    let shop = try MusicShop()
    let one = try shop.store.subject(\Album.title, of: 1)
    let bindings = [
      try one.stream.map { $0.uppercased() }.bind(to: shop.store.subject(\Album.title, of: 2)),
      try one.stream.map { String($0.reversed()) }
        .bind(to: shop.store.subject(\Album.title, of: 3)),
    ]
    try one.send("ab")
    shop.settle()
    #expect(try shop.titles() == ["ab", "AB", "ba"])
    bindings[0].cancel()
    try one.send("cd")
    shop.settle()
    #expect(try shop.titles() == ["cd", "AB", "dc"])
    bindings[1].cancel()
  }

  @Test("a refused value is reported to the store's onError, and the binding continues")
  func aRefusedValue() throws {
    let shop = try MusicShop()
    let one = try shop.store.subject(\Album.title, of: 1)
    let binding = try one.stream.map { $0 == "a" ? "" : $0 }
      .bind(to: shop.store.subject(\Album.title, of: 2))
    try one.send("a")
    shop.settle()
    #expect(shop.failures.events == ["rejected"])
    try one.send("b")
    shop.settle()
    #expect(try shop.titles() == ["b", "b", "three"])
    binding.cancel()
  }

  @Test("a subject is an asynchronous sequence of its values, with the usual operators")
  func anAsynchronousSequence() async throws {
    let shop = try MusicShop()
    let subject = try shop.store.subject(\Album.title, of: 1)
    let long = subject.filter { $0.count > 1 }.map { $0.uppercased() }
    var iterator = long.makeAsyncIterator()
    for title in ["a", "ab", "abc"] {
      try await shop.store.write { tx in try tx.set(\Album.title, to: title, for: 1) }
    }
    #expect(try await iterator.next() == "AB")
    #expect(try await iterator.next() == "ABC")
  }
}

extension MusicShop {
  fileprivate func titles() throws -> [String] {
    try store.fetch(Album.all.order { $0.id }).map(\.title)
  }
}
