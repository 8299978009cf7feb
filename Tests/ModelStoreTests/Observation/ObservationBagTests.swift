import Foundation
import Synchronization
import Testing

@testable import ModelStore

/// Observers that keep their observations in a bag: which exist, what they observe, how they end.
@Suite(.tags(.unit)) struct ObservationBagTests {
  private static let title = Observed.field(\Album.title, of: 1)
  private static let artist = Observed.field(\Album.artistName, of: 1)

  @Test("JK1 setting a field calls the observer with the new value, with one registration")
  func aFieldFires() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    try shop.store.observe(Self.title, in: bag) { shop.told.add($0.text) }
    try shop.setTitle("zhangsan")
    #expect(shop.news() == ["one → zhangsan"])
    #expect(bag.count == 1)
    #expect(shop.registry == ["Album[1].title"])
  }

  @Test("JK2 two observers that observe each other's record are two registrations")
  func twoObserveEachOther() throws {
    let shop = try MusicShop()
    let (first, second) = (ObservationBag(), ObservationBag())
    try shop.store.observe(Observed.field(\Album.title, of: 2), in: first) { change in
      shop.told.add("first \(change.text)")
    }
    try shop.store.observe(Self.artist, in: second) { change in
      shop.told.add(
        "second \(change.old??.description ?? "") → \(change.new??.description ?? "")")
    }
    try shop.setTitle("a", of: 1)
    #expect(shop.news() == [])
    try shop.setTitle("b", of: 2)
    try shop.setArtist("Davis")
    #expect(shop.news() == ["first two → b", "second Miles → Davis"])
    #expect(shop.registry == ["Album[2].title", "Album[1].artistName"])
  }

  @Test("JK3 several fields with one callback: one call for each field that differs")
  func severalFieldsOneCallback() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    let fields = Observed.fields([\Album.title, \Album.artistName], of: 1)
    try shop.store.observe(fields, in: bag) { event in
      let kind = event.field == \Album.title ? "title" : "other"
      shop.told.add("\(kind) \(event.name) \(event.change.new?.description ?? "none")")
    }
    try shop.setTitle("bbb")
    try shop.setArtist("China")
    #expect(shop.news() == ["title title 'bbb'", "other artistName 'China'"])
    #expect(bag.count == 2)
    // Without a bag it is one observation, with the same calls.
    let subscription = try shop.store.observe(fields) { shop.told.add("alone \($0.name)") }
    bag.removeAll()
    #expect(shop.registry == ["Album[1].{title, artistName}"])
    try shop.store.write { tx in
      try tx.update(Album(id: 1, title: "new", artistID: nil, artistName: "nobody"))
    }
    #expect(shop.news() == ["alone title", "alone artistName"])
    subscription.cancel()
  }

  /// An object that is the view of a record and observes that record itself.
  private final class Card: Sendable {
    let bag = ObservationBag()
    let shown = Mutex<[String]>([])

    init(_ shop: MusicShop) throws {
      try shop.store.observe(Observed.field(\Album.title, of: 1), in: bag) { [weak self] change in
        self?.shown.withLock { $0.append(change.new ?? "none") }
      }
    }
  }

  @Test("JK4 an object may observe itself")
  func anObjectObservesItsOwnRecord() throws {
    let shop = try MusicShop()
    var card: Card? = try Card(shop)
    weak let bag = card?.bag
    try shop.setTitle("self")
    shop.store.waitForDelivery()
    #expect(card?.shown.withLock { $0 } == ["self"])
    #expect(shop.registry == ["Album[1].title"])
    card = nil
    #expect(bag == nil)
    #expect(shop.registry == [])
  }

  @Test("JK5 an observation of a living object lasts until its observer ends it")
  func theObservedOutlivesTheScope() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    func observe() throws {
      try shop.store.observe(Self.title, in: bag) { shop.told.add($0.text) }
      try shop.setTitle("北京")
      #expect(shop.registry.count == 1)
    }
    try observe()
    #expect(shop.news() == ["one → 北京"])
    #expect(shop.registry == ["Album[1].title"])
    bag.removeAll()
    #expect(shop.registry == [])
    try shop.setTitle("after")
    #expect(shop.news() == [])
  }

  @Test("JK6 TC2 of two equal registrations only the first is called")
  func theSameTwiceKeepsTheFirst() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    try shop.store.observe(Self.title, in: bag) { _ in shop.told.add("first") }
    try shop.store.observe(Self.title, in: bag) { _ in shop.told.add("second") }
    try shop.setTitle("a")
    #expect(shop.news() == ["first"])
    #expect(bag.count == 1)
    #expect(shop.registry == ["Album[1].title"])
  }

  @Test("JK7 two contexts are two registrations, and both are called")
  func twoContextsBothFire() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    for context in ["a", "b"] {
      try shop.store.observe(Self.title, in: bag, context: context) { _ in shop.told.add(context) }
    }
    try shop.setTitle("x")
    #expect(shop.news() == ["a", "b"])
    #expect(shop.registry == ["Album[1].title (a)", "Album[1].title (b)"])
  }

  @Test("JK8 a record's observed fields can be listed")
  func observedFieldsAreListed() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    try shop.store.observe(Self.title, in: bag) { _ in }
    try shop.store.observe(Self.artist, in: bag) { _ in }
    #expect(Set(shop.registry) == ["Album[1].title", "Album[1].artistName"])
  }

  @Test("JK9 JK10 the observers of a field are listed, each once")
  func observersOfAField() throws {
    let shop = try MusicShop()
    let (first, second) = (ObservationBag(), ObservationBag())
    try shop.store.observe(Self.title, in: first) { _ in }
    try shop.store.observe(Self.title, in: first, context: "a") { _ in }
    #expect(shop.store.observers(of: Self.title).map(ObjectIdentifier.init) == [.init(first)])
    try shop.store.observe(Self.title, in: second) { _ in }
    #expect(
      shop.store.observers(of: Self.title).map(ObjectIdentifier.init)
        == [.init(first), .init(second)])
    #expect(shop.store.observers(of: Self.artist).isEmpty)
  }

  @Test("JK11 the fields that one observer observes can be listed")
  func fieldsObservedByAnObserver() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    try shop.store.observe(Self.title, in: bag) { _ in }
    try shop.store.observe(Self.title, in: bag, context: "again") { _ in }
    try shop.store.observe(Self.artist, in: bag, context: "a") { _ in }
    let other = ObservationBag()
    try shop.store.observe(Self.title, in: other) { _ in }
    try shop.store.observe(Observed.field(\Album.artistID, of: 2), in: other) { _ in }
    #expect(bag.observed.map(\.description) == ["Album[1].title", "Album[1].artistName"])
    #expect(other.observed.map(\.description) == ["Album[1].title", "Album[2].artistID"])
  }

  @Test("JK12 removing by path leaves nothing, and removing again has no effect")
  func removingByPath() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    try shop.store.observe(Self.title, in: bag) { shop.told.add($0.text) }
    for _ in 0..<2 { bag.remove(Self.title) }
    try shop.setTitle("a")
    #expect(shop.news() == [])
    #expect(shop.registry == [])
  }

  @Test("JK13 removing by path and context keeps the other context")
  func removingByContext() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    for context in ["a", nil] {
      try shop.store.observe(Self.title, in: bag, context: context) { _ in
        shop.told.add(context ?? "none")
      }
    }
    #expect(bag.count == 2)
    bag.remove(Self.title, context: "a")
    #expect(bag.count == 1)
    #expect(bag.observed.map(\.description) == ["Album[1].title"])
    try shop.setTitle("x")
    #expect(shop.news() == ["none"])
    bag.remove(Self.title, context: nil)
    #expect(shop.registry == [])
  }

  @Test("JK14 several paths can be removed at once")
  func removingSeveralPaths() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    let fields = Observed.fields([\Album.title, \Album.artistName], of: 1)
    try shop.store.observe(fields, in: bag) { _ in }
    #expect(bag.observed.count == 2)
    bag.remove(fields)
    #expect(bag.count == 0)
    #expect(shop.registry == [])
  }

  @Test("JK15 a path can be removed from some or all of its observers")
  func removingFromSeveralObservers() throws {
    let shop = try MusicShop()
    let bags = [ObservationBag(), ObservationBag(), ObservationBag()]
    for bag in bags { try shop.store.observe(Self.title, in: bag) { _ in } }
    try shop.store.observe(Self.artist, in: bags[0]) { _ in }
    let held = try shop.store.observe(Self.title) { _ in }
    #expect(shop.store.observers(of: Self.title).count == 3)
    shop.store.endObservations(of: Self.title, in: Array(bags.prefix(2)))
    #expect(shop.store.observers(of: Self.title).map(ObjectIdentifier.init) == [.init(bags[2])])
    shop.store.endObservations(of: Self.title)
    #expect(shop.registry == ["Album[1].artistName", "Album[1].title"])
    held.cancel()
    #expect(shop.registry == ["Album[1].artistName"])
  }

  @Test("JK16 twenty objects that observe and are released in turn leave nothing behind")
  func objectsComeAndGo() throws {
    let shop = try MusicShop()
    final class Person: Sendable {}
    for round in 0..<20 {
      let person = Person()
      try shop.store.observe(Self.title, owner: person) { _, change in
        shop.told.add("\(round) \(change.new ?? "none")")
      }
      #expect(shop.registry.count == 1)
      try shop.setTitle("round \(round)")
      #expect(shop.news() == ["\(round) round \(round)"])
    }
    #expect(shop.registry == [])
    // A new object at the address of a released one does not inherit its observations.
    try shop.setTitle("after")
    #expect(shop.news() == [])
  }

  @Test("JK29 JK30 after removal there are no calls and no registrations")
  func afterRemovalNothing() throws {
    for removal in [
      { (bag: ObservationBag) in bag.removeAll() },
      { bag in bag.remove(Observed.record(Album.self, 1)) },
    ] {
      let shop = try MusicShop()
      let bag = ObservationBag()
      try shop.store.observe(Observed.record(Album.self, 1), in: bag) { event in
        shop.told.add("\(event.fields.map(\.name))")
      }
      try shop.setTitle("2")
      #expect(shop.news() == ["[\"title\"]"])
      #expect(shop.registry == ["Album[1]"])
      removal(bag)
      try shop.setTitle("3")
      #expect(shop.news() == [])
      #expect(shop.registry == [])
    }
  }

  @Test("JK31 deleting an observed record is reported")
  func theObservedDies() throws {
    let shop = try MusicShop()
    var bag: ObservationBag? = ObservationBag()
    if let bag { try shop.store.observe(Self.title, in: bag) { shop.told.add($0.text) } }
    try shop.store.write { tx in _ = try tx.delete(Album.self, 1) }
    #expect(shop.news() == ["one → none"])
    #expect(shop.registry == ["Album[1].title"])
    withExtendedLifetime(bag) {}
    bag = nil
    #expect(shop.registry == [])
  }

  @Test("DS1 DS9 fields of one record and one field of two records never mix")
  func fieldsAndRecordsDoNotMix() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    try shop.store.observe(Self.title, in: bag) { shop.told.add("1 title \($0.text)") }
    try shop.store.observe(Self.artist, in: bag) { change in
      shop.told.add(
        "1 artist \(change.old??.description ?? "") → \(change.new??.description ?? "")")
    }
    try shop.store.observe(Observed.field(\Album.title, of: 2), in: bag) { change in
      shop.told.add("2 title \(change.text)")
    }
    try shop.setTitle("b", of: 2)
    try shop.setArtist("Davis")
    try shop.setTitle("a", of: 1)
    #expect(shop.news() == ["2 title two → b", "1 artist Miles → Davis", "1 title one → a"])
  }

  @Test("DS7 with replacement only the newest callback remains")
  func theNewestReplaces() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    try shop.store.observe(Self.title, in: bag) { _ in shop.told.add("first") }
    try shop.store.observe(Self.artist, in: bag) { _ in shop.told.add("artist") }
    try shop.store.observe(Self.title, in: bag, ifPresent: .replace) { _ in
      shop.told.add("second")
    }
    try shop.store.observe(
      Self.title, in: bag, options: .initial, ifPresent: .replace
    ) { change in shop.told.add("third \(change.text)") }
    try shop.setTitle("a")
    #expect(shop.news() == ["third none → one", "third one → a"])
    #expect(bag.count == 2)
    #expect(shop.registry == ["Album[1].title", "Album[1].artistName"])
  }

  @Test("DS8 an unknown field, key or model registers nothing")
  func nothingIsRegisteredForWhatIsNot() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    #expect(
      failure {
        try shop.store.observe(.fields([\Album.title, \Album.key], of: 1), in: bag) { _ in }
      }?
      .code == .unknownField)
    #expect(
      failure { try shop.store.observe(.fields([], of: 1), in: bag, Self.ignore) }?.code == .misuse)
    #expect(
      failure { try shop.store.observe(.field(\Stranger.id, of: 1), in: bag) { _ in } }?.code
        == .unknownModel)
    #expect(
      failure {
        try shop.store.observe(.model(Album.self), in: bag, options: .initial) { _ in }
      }?.code == .misuse)
    #expect(Observed.fields([\Album.key], of: 1).paths == [])
    #expect(bag.count == 0)
    #expect(shop.registry == [])
  }

  @Sendable private static func ignore(_ change: NamedFieldEvent<Album>) {}

  private struct Stranger: Model {
    var id: Int64
    static let definition = ModelDefinition<Stranger>(
      "Stranger", key: \.id, fields: [.init("id", \.id)])
    var key: Int64 { id }
    init(row: borrowing RowView) throws { id = try row.decode(at: 0) }
    func encode(to arguments: inout ArgumentWriter) throws { try id.encode(to: &arguments, at: 0) }
  }

  @Test("DS10 releasing an owner ends its observations, if any")
  func theEndOfAnOwner() throws {
    let shop = try MusicShop()
    final class Person: Sendable {}
    var owners: [Person] = [Person(), Person()]
    #expect(shop.store.observations(by: owners[0]).count == 0)
    try shop.store.observe(Self.title, owner: owners[1]) { owner, change in
      withExtendedLifetime(owner) { shop.told.add(change.text) }
    }
    try shop.store.observe(Self.artist, owner: owners[1]) { _, _ in }
    #expect(shop.store.observations(by: owners[1]).count == 2)
    weak let gone = owners[1]
    owners = []
    #expect(gone == nil)
    try shop.setTitle("a")
    #expect(shop.news() == [])
    // Noticed at the event, without being asked.
    #expect(shop.store.engine.broker.observers.isEmpty)
  }

  @Test("a store may be released before the owner, and a bag before the store")
  func eitherOrderOfDeath() throws {
    final class Person: Sendable {}
    let person = Person()
    let bag = ObservationBag()
    weak var engine: StoreEngine?
    do {
      let shop = try MusicShop()
      engine = shop.store.engine
      try shop.store.observe(Self.title, owner: person) { _, _ in }
      try shop.store.observe(Self.title, in: bag) { _ in }
      var other: ObservationBag? = ObservationBag()
      if let other { try shop.store.observe(Self.title, in: other) { _ in } }
      #expect(shop.registry.count == 3)
      withExtendedLifetime(other) {}
      other = nil
      #expect(shop.registry.count == 2)
    }
    // A queue of the store may still hold the last reference for the block that it is ending.
    while engine != nil { sched_yield() }
    bag.removeAll()
    withExtendedLifetime(person) {}
  }

  @Test("a bag keeps subscriptions of any kind")
  func aBagHoldsSubscriptions() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    bag.hold(try shop.store.observe(Album.self) { _ in shop.told.add("model") })
    bag.hold(try shop.store.liveQuery(Album.all).observe { _ in shop.told.add("query") })
    try shop.setTitle("a")
    #expect(shop.news().sorted() == ["model", "query"])
    #expect(bag.count == 2)
    bag.removeAll()
    #expect(shop.registry == [])
  }

  @Test("a callback may remove its own observation and those of others")
  func removalInsideACallback() throws {
    let shop = try MusicShop()
    let bag = ObservationBag()
    for context in ["1", "2", "3"] {
      try shop.store.observe(Self.title, in: bag, context: context) { [weak bag] _ in
        shop.told.add(context)
        if context == "1" { for gone in ["1", "3"] { bag?.remove(Self.title, context: gone) } }
      }
    }
    try shop.setTitle("a")
    try shop.setTitle("b")
    #expect(shop.news() == ["1", "2", "2"])
    #expect(bag.count == 1)
  }

  /// One that added while another removed could once be left among the broker's.
  @Test func additionsAndRemovalsAtOnceLeaveNothing() async throws {
    let shop = try MusicShop { $0.durability = .normal }
    let bag = ObservationBag()
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for round in 0..<100 {
            do {
              try shop.store.observe(
                Self.title, in: bag, context: "\(round % 3)",
                options: task == 0 ? .initial : [], ifPresent: round % 2 == 0 ? .keep : .replace
              ) { _ in }
            } catch {
              Issue.record(error)
            }
            if task % 2 == 0 { bag.remove(Self.title, context: "\(round % 3)") }
          }
        }
      }
    }
    #expect(shop.registry.count == bag.count)
    bag.removeAll()
    #expect(shop.registry == [])
  }
}
