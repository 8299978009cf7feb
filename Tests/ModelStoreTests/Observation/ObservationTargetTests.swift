import Dispatch
import Testing

@testable import ModelStore

/// What bags distinguish, and which object outlives which.
@Suite(.tags(.unit)) struct ObservationTargetTests {
  private static let title = Observed.field(\Album.title, of: 1)
  private static let whole = Observed.record(Album.self, 1, fields: [\.title])

  @Test func aFieldIsNotTheRecordWhoseFieldCounts() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    try shop.store.observe(Self.title, in: bag) { shop.told.add("field \($0.text)") }
    try shop.store.observe(Self.whole, in: bag) {
      shop.told.add("record \($0.new?.title ?? "none") \($0.new?.artistID ?? 0)")
    }
    #expect(bag.count == 2)
    try shop.setTitle("a")
    #expect(shop.news() == ["field one → a", "record a 1"])
    // The new callback takes the record's place, not the field's.
    try shop.store.observe(Self.whole, in: bag, ifPresent: .replace) {
      shop.told.add("other \($0.new?.title ?? "none") \($0.new?.artistID ?? 0)")
    }
    try shop.setTitle("b")
    #expect(shop.news() == ["field a → b", "other b 1"])
    #expect(shop.failures.events == [])
    #expect(shop.store.observers(of: Self.title).count == 1)
    bag.remove(Self.title)
    #expect(shop.store.observers(of: Self.title).isEmpty)
    #expect(shop.store.observers(of: Self.whole).count == 1)
    try shop.setTitle("c")
    #expect(shop.news() == ["other c 1"])
    bag.removeAll()
  }

  @Test func observingSeveralFieldsEqualsObservingEach() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    try shop.store.observe(Self.title, in: bag) { _ in }
    try shop.store.observe(.fields([\Album.title, \Album.artistID], of: 1), in: bag) { _ in }
    #expect(bag.count == 2)
    bag.remove(.fields([\Album.title, \Album.artistID], of: 1))
    #expect(bag.count == 0)
  }

  /// The second store may have the address in memory that the first one had.
  @Test func aBagOutlivesItsStore() throws {
    let bag = ObservationBag()
    var numbers: Set<UInt64> = []
    for round in 1...3 {
      let shop = try MusicShop()
      #expect(numbers.insert(shop.store.engine.number).inserted)
      try shop.store.observe(Self.title, in: bag) { shop.told.add("\(round) \($0.text)") }
      try shop.setTitle("a")
      #expect(shop.news() == ["\(round) one → a"])
      shop.store.close()
    }
    bag.removeAll()
  }

  /// A poll for foreign commits may retain the store for a moment more, on its own thread.
  @Test func capturedObjectsMayBeReleasedInAnyOrder() throws {
    final class Person: Sendable {
      let gone = DispatchSemaphore(value: 0)
      deinit { gone.signal() }
    }
    for isStoreFirst in [true, false] {
      weak var bag: ObservationBag?
      let gone: DispatchSemaphore
      do {
        var shop: MusicShop? = try MusicShop()
        var person: Person? = Person()
        do {
          let captured = Person()
          gone = captured.gone
          if let shop, let person {
            try shop.store.observe(Self.title, owner: person) { _, _ in
              withExtendedLifetime(captured) {}
            }
            bag = shop.store.observations(by: person)
          }
        }
        #expect(gone.wait(timeout: .now()) == .timedOut)
        if isStoreFirst { shop = nil } else { person = nil }
        withExtendedLifetime((shop, person)) {}
        shop = nil
        person = nil
      }
      #expect(gone.wait(timeout: .now() + 60) == .success, "store first: \(isStoreFirst)")
      #expect(bag == nil)
    }
  }

  /// The former callback goes when nothing is locked, so its end may do anything to the bag.
  @Test func aCallbackThatIsReplacedMayEndObservations() throws {
    final class Guest: Sendable {
      let subscription: ObservationToken
      init(_ subscription: ObservationToken) { self.subscription = subscription }
      deinit {
        subscription.pause()
        subscription.cancel()
      }
    }
    let shop = try MusicShop()
    let mailbox = Mailbox<QueryDelta>(coalescing: .latest)
    let subscription = ObservationToken(mailbox) {}
    do {
      let guest = Guest(subscription)
      mailbox.whenReady { _ in withExtendedLifetime(guest) {} }
    }
    #expect(!subscription.isEnded)
    mailbox.whenReady { _ in }
    #expect(subscription.isEnded)
    mailbox.resume()
    withExtendedLifetime(shop) {}
  }

  @Test func manySubscriptionsLeaveABagOneByOne() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    for key in 1...2_000 as ClosedRange<Int64> {
      try shop.store.observe(.field(\Album.title, of: key), in: bag) { _ in }
    }
    for key in 1...1_999 as ClosedRange<Int64> { bag.remove(.field(\Album.title, of: key)) }
    #expect(bag.observed.map(\.description) == ["Album[2000].title"])
    bag.removeAll()
  }
}
