import Foundation
import Testing

@testable import ModelStore

/// Two stores on one file: what is each one's own ends with it, and with no other.
@Suite(.tags(.unit)) struct StoreLifeTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func open(
    _ configure: (inout StoreConfiguration) -> Void = { _ in },
    onError: @escaping @Sendable (StoreError) -> Void = { Issue.record($0) }
  ) throws -> Store {
    var configuration = StoreConfiguration()
    configure(&configuration)
    return try Store(
      at: directory.file("shared.store"), models: Artist.self, Album.self, Song.self, Mix.self,
      configuration: configuration, onError: onError)
  }

  private func setTitle(_ title: String, in store: Store) throws {
    try store.write { tx in _ = try tx.upsert(Album(id: 1, title: title)) }
  }

  @Test("closing one store ends its observers and refuses its calls; the other goes on")
  func closingOneLeavesTheOther() throws {
    let (first, second) = (try open(), try open { $0.access = .readWrite })
    let told = Recorder<String>()
    let bag = ObservationBag()
    var kept: [ObservationToken] = []
    for (name, store) in [("first", first), ("second", second)] {
      kept.append(try store.observe(.model(Album.self)) { _ in told.add(name) })
      kept.append(try store.liveQuery(Album.all).observe { _ in told.add("\(name) live") })
      try store.observe(.field(\Album.title, of: 1), in: bag) { _ in told.add("\(name) bag") }
    }
    #expect(bag.count == 2)
    #expect(first.observations().count == 3)
    first.close()
    #expect(bag.count == 1)
    #expect(first.observations().count == 0)
    try setTitle("a", in: second)
    second.waitForDelivery()
    #expect(told.taken().sorted() == ["second", "second bag", "second live"])
    #expect(try second.fetch(Album.all).map(\.title) == ["a"])
    #expect(failure { try setTitle("b", in: first) }?.code == .misuse)
    #expect(failure { try first.fetch(Album.all) }?.code == .misuse)
    #expect(failure { try first.changeJournal.position() }?.code == .misuse)
    // What they shared ends with the last one.
    let otherwise = { try self.open { $0.durability = .normal } }
    #expect(failure { try otherwise() }?.code == .configurationConflict)
    second.close()
    #expect(failure { try second.fetch(Album.all) }?.code == .misuse)
    #expect(try otherwise().fetch(Album.all).count == 1)
    withExtendedLifetime(kept) {}
  }

  @Test("releasing one store ends its observers too; the other goes on")
  func droppingOneLeavesTheOther() throws {
    var first: Store? = try open()
    let second = try open()
    let told = Recorder<String>()
    let kept = try first?.observe(.model(Album.self)) { _ in told.add("first") }
    let other = try second.observe(.model(Album.self)) { _ in told.add("second") }
    withExtendedLifetime(first) {}
    first = nil
    try setTitle("a", in: second)
    second.waitForDelivery()
    #expect(told.events == ["second"])
    #expect(second.engine.broker.observers.count == 1)
    withExtendedLifetime((kept, other)) {}
  }

  @Test("a store that fails to open ends no observation of another store")
  func aRefusedOpeningEndsNothing() throws {
    let store = try open()
    let told = Recorder<String>()
    let kept = try store.observe(.model(Album.self)) { _ in told.add("told") }
    #expect(
      failure {
        try Store(
          at: directory.file("shared.store"), models: Album.self,
          bindings: [.derive(\Album.artistName, from: "no such function()")])
      } != nil)
    try setTitle("a", in: store)
    store.waitForDelivery()
    #expect(told.events == ["told"])
    withExtendedLifetime(kept) {}
  }

  @Test("an observation that fails is reported to its own store")
  func eachStoreHasItsOwnReport() throws {
    let reports = Recorder<String>()
    let first = try open(onError: { reports.add("first \($0.code.rawValue)") })
    let second = try open(onError: { reports.add("second \($0.code.rawValue)") })
    try setTitle("a", in: first)
    let kept = try second.observe(\Album.title, of: 1) { _ in }
    try PlainDatabase(first.path).execute("UPDATE Album SET title = CAST(x'FF' AS TEXT)")
    try first.refresh()
    first.waitForDelivery()
    #expect(reports.events == ["second invalidValue"])
    withExtendedLifetime(kept) {}
  }

  @Test("a store that closes while an observer is about to read reports nothing")
  func closingBeforeAReadOfAResetIsNoFailure() throws {
    let reports = Recorder<String>()
    let store = try open(onError: { reports.add("\($0)") })
    try setTitle("a", in: store)
    let kept = try store.observe(\Album.title, of: 1) { _ in }
    // Another thread has the connection that the delivery needs, until the store has closed.
    let (hasConnection, mayEnd, hasEnded) = (DispatchGate(), DispatchGate(), DispatchGate())
    Thread.detachNewThread { [delivery = store.engine.connections.delivery] in
      do {
        try delivery.sync { _ in
          hasConnection.open()
          mayEnd.wait()
        }
      } catch {
        reports.add("\(error)")
      }
      hasEnded.open()
    }
    hasConnection.wait()
    try PlainDatabase(store.path).execute("UPDATE Album SET title = 'b'")
    try store.refresh()
    // The delivery begins meanwhile, and waits for the connection.
    for _ in 0..<50_000 { sched_yield() }
    store.lease.end(.whenIdle)
    mayEnd.open()
    hasEnded.wait()
    store.engine.broker.drain()
    #expect(reports.events == [])
    withExtendedLifetime(kept) {}
  }

  @Test("failures in shared parts are reported to the first open store")
  func sharedFailuresGoToTheFirst() {
    let told = Recorder<String>()
    let reports = SharedReport()
    let error = StoreError(.database, "It failed.")
    for name in ["a", "b"] {
      reports.add({ _ in told.add(name) }, as: name == "a" ? 1 : 2)
    }
    reports.send(error)
    reports.remove(1)
    reports.send(error)
    reports.remove(2)
    reports.send(error)
    #expect(told.events == ["a", "b", "b"])
  }

  @Test func aClosedStoreRefusesToObserve() throws {
    let store = try open()
    let live = try store.liveQuery(Album.all)
    let list = try store.liveList(\Mix.songs, of: 1)
    let subject = try store.subject(\Album.title, of: 1)
    let window = try store.observe(\Album.title, ofEach: [1]) { _, _ in }
    let bag = ObservationBag()
    store.close()
    let field = Observed.field(\Album.title, of: 1)
    let codes = [
      failure { try store.observe(field) { _ in } }?.code,
      failure { try store.changes(of: field) }?.code,
      failure { try store.observe(field, in: bag) { _ in } }?.code,
      failure { try store.observe(\Album.title, ofEach: [1]) { _, _ in } }?.code,
      failure { try store.liveRecord(Album.self, 1) }?.code,
      failure { try store.liveList(\Mix.songs, of: 1) }?.code,
      failure { try store.subject(\Album.title, of: 1) }?.code,
      failure { try store.check("title", \Album.title, of: 1) { _ in true } }?.code,
      failure { try store.observe(live) { _ in } }?.code,
      failure { try store.changes(of: live) }?.code,
      failure { try live.observe { _ in } }?.code, failure { try live.changes() }?.code,
      failure { try list.observe { _ in } }?.code, failure { try list.changes() }?.code,
      failure { try subject.send("a") }?.code,
      failure { try subject.stream.subscribe { _ in } }?.code,
      failure { try window.move(to: [2]) }?.code,
      failure { try store.consumer("c") }?.code,
    ]
    #expect(codes == Array(repeating: .misuse, count: codes.count))
    #expect(bag.count == 0)
  }

  @Test("observations counts a live query by its subscribers, and a sequence while it exists")
  func liveQueriesCountBySubscribers() throws {
    let store = try open()
    let live = try store.liveQuery(Album.all)
    #expect(store.observations().count == 0)
    let subscriptions = [
      try live.observe { _ in }, try store.observe(\Album.title, of: 1) { _ in },
    ]
    var sequence: ChangeSequence<QueryChanges<Album>>? = try live.changes()
    #expect(
      store.observations().map(\.path.description) == ["Album", "Album[1].title", "Album"])
    withExtendedLifetime(sequence) {}
    sequence = nil
    for subscription in subscriptions { subscription.cancel() }
    #expect(store.observations().count == 0)
  }
}
