import Glibc
import Synchronization
import Testing

@testable import ModelStore

/// Other processes commit, this one does nothing but observe.
@Suite(.tags(.process), .timeLimit(.minutes(30))) struct HearingOthersTests {
  private static func shop(
    _ configure: (inout StoreConfiguration) -> Void = { _ in }
  ) throws -> (shop: MusicShop, shell: SQLiteShell) {
    let shop = try MusicShop(configure)
    return (shop, try SQLiteShell(shop.store.path))
  }

  private static func lookCount(_ store: Store) -> Int {
    store.engine.foreignSync.signal.lookCount.load(ordering: .relaxed)
  }

  @Test(SQLiteShell.isNeeded) func aFieldAndARecordReceiveTheCurrentValues() throws {
    let (shop, shell) = try Self.shop()
    let titles = AwaitedEvents<String>()
    let albums = AwaitedEvents<Album?>()
    let models = AwaitedEvents<Bool>()
    let subscriptions = [
      try shop.store.observe(\Album.title, of: 2) { change in
        if change.isReset { titles.add(change.text) }
      },
      try shop.store.observe(Album.self, of: 4) { change in
        if change.isReset { albums.add(change.new) }
      },
      try shop.store.observe(Album.self) { changes in models.add(changes.isReset) },
    ]
    try shell.run("UPDATE Album SET title = 'changed' WHERE id = 2")
    try titles.next { $0 == "none → changed" }
    #expect(try models.next())
    try shell.run("INSERT INTO Album(id, title, artistID) VALUES (4, 'four', 1)")
    // What the file itself keeps in sync is in it.
    try albums.next { $0 == Album(id: 4, title: "four", artistID: 1, artistName: "Miles") }
    try shell.run("DELETE FROM Album WHERE id = 4")
    try albums.next { $0 == nil }
    subscriptions.forEach { $0.cancel() }
    #expect(shop.failures.events == [])
  }

  @Test("a store that only observes reports that its file was renamed")
  func aRenamedFileIsReported() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("first.store")
    let errors = AwaitedEvents<StoreError>()
    let store = try Store(at: path, models: Artist.self, onError: { errors.add($0) })
    let subscription = try store.observe(Artist.self) { _ in }
    #expect(rename(path, directory.file("second.store")) == 0)
    #expect(try errors.next().code == .fileReplaced)
    subscription.cancel()
    store.close()
  }

  @Test(SQLiteShell.isNeeded) func aLiveQueryAndItsWindowMoveByTheExactDifference() throws {
    let (shop, shell) = try Self.shop()
    let query = Album.all.order { $0.title }
    let live = [try shop.store.liveQuery(query), try shop.store.liveQuery(query.limit(2))]
    let results = live.map { _ in AwaitedEvents<[Int64]>() }
    let subscriptions = try zip(live, results).map { live, results in
      let list = Mutex<[Album]>([])
      return try live.observe(options: .initial) { changes in
        let ids = list.withLock { list in
          changes.apply(to: &list)
          return list.map(\.id)
        }
        results.add(ids)
      }
    }
    var shown: [[Int64]] = [[1, 3, 2], [1, 3]]
    for (results, shown) in zip(results, shown) { try results.next { $0 == shown } }
    for sql in [
      "INSERT INTO Album(id, title) VALUES (4, 'four')",
      "UPDATE Album SET title = 'eins' WHERE id = 1",
      "UPDATE Album SET title = 'zwei' WHERE id = 2",
      "UPDATE Album SET title = 'a' WHERE id = 2",
      "DELETE FROM Album WHERE id = 1",
      "INSERT INTO Album(id, title) SELECT id + 10, title FROM Album",
      "UPDATE Album SET title = 'z' || title WHERE id < 10",
      "DELETE FROM Album",
    ] {
      try shell.run(sql)
      let ids = try shell.run("SELECT id FROM Album ORDER BY title, id").compactMap { Int64($0) }
      for (index, expected) in [ids, Array(ids.prefix(2))].enumerated()
      where shown[index] != expected {
        try results[index].next { $0 == expected }
        shown[index] = expected
      }
    }
    subscriptions.forEach { $0.cancel() }
    // A window may report that a row was gone before it could be read; then it reads again.
    #expect(shop.failures.events.allSatisfy { "\($0)".contains("database") })
  }

  @Test(SQLiteShell.isNeeded) func theLatestOfTwoHundredCommitsIsNotMissed() throws {
    let (shop, shell) = try Self.shop()
    let results = AwaitedEvents<[Int64]>()
    let live = try shop.store.liveQuery(Album.all.order { $0.title })
    let subscription = try live.observe { changes in
      results.add(changes.new.compactMap { if case .integer(let id) = $0[0] { id } else { nil } })
    }
    var random = SeededGenerator(seed: 2_026)
    // Each burst ends alone, so its last commit is the one detected.
    for burst in 1...20 {
      for number in 0..<9 {
        let id = Int.random(in: 1...40, using: &random)
        let title = Int.random(in: 0..<1_000, using: &random)
        try shell.run(
          number.isMultiple(of: 3)
            ? "DELETE FROM Album WHERE id = \(id)"
            : "INSERT INTO Album(id, title) VALUES (\(id), 'a\(title)') "
              + "ON CONFLICT DO UPDATE SET title = excluded.title")
      }
      try shell.run("INSERT INTO Album(id, title) VALUES (\(1_000 + burst), 'z\(burst)')")
      let rows = try shell.run("SELECT id FROM Album ORDER BY title, id")
      try results.next { $0.map { "\($0)" } == rows }
    }
    #expect(live.count == (try shop.store.read { tx in try tx.count(Album.all) }))
    subscription.cancel()
    #expect(shop.failures.events == [])
  }

  @Test(SQLiteShell.isNeeded) func alternatingOwnAndForeignCommitsAreAllReported() throws {
    let (shop, shell) = try Self.shop()
    let titles = AwaitedEvents<String>()
    let subscription = try shop.store.observe(\Album.title, of: 1) { titles.add($0.new ?? "") }
    for round in 0..<100 {
      try shop.setTitle("own \(round)")
      try shell.run("UPDATE Album SET title = 'other \(round)' WHERE id = 1")
      try titles.next { $0 == "other \(round)" }
    }
    subscription.cancel()
  }

  @Test(SQLiteShell.isNeeded) func noCallWaitsForATransactionOfAnotherProcess() throws {
    let (shop, shell) = try Self.shop({ $0.busyTimeout = .seconds(600) })
    let titles = AwaitedEvents<String>()
    let subscription = try shop.store.observe(\Album.title, of: 1) { titles.add($0.new ?? "") }
    // A cache of one page: what it writes goes into the log before it commits.
    try shell.run("PRAGMA cache_size = 1; BEGIN IMMEDIATE")
    for number in 0..<2_000 {
      try shell.run("INSERT INTO Album(id, title) VALUES (\(100 + number), 'uncommitted')")
    }
    try shell.run("UPDATE Album SET title = 'late' WHERE id = 1")
    let count = Self.lookCount(shop.store)
    while Self.lookCount(shop.store) < count + 2 { sched_yield() }
    #expect(try shop.store.engine.connections.writer.sync { try !$0.isBehind() })
    try shell.run("COMMIT")
    try titles.next { $0 == "late" }
    subscription.cancel()
  }

  @Test func theStoreListensFromTheFirstObserverToTheLast() throws {
    let shop = try MusicShop()
    let directory = shop.directory.path
    #expect(watchCount(of: directory) == 0)
    let first = try shop.store.observe(\Album.title, of: 1) { _ in }
    let second = try shop.store.liveQuery(Album.all)
    #expect(watchCount(of: directory) == 1)
    first.cancel()
    #expect(watchCount(of: directory) == 1)
    withExtendedLifetime(second) {}
  }

  @Test func noResourceRemainsAfterTheLastObserver() throws {
    let shop = try MusicShop()
    for _ in 0..<20 {
      let subscription = try shop.store.observe(\Album.title, of: 1) { _ in }
      #expect(watchCount(of: shop.directory.path) >= 1)
      subscription.cancel()
    }
    while watchCount(of: shop.directory.path) > 0 { sched_yield() }
    do {
      let live = try shop.store.liveQuery(Album.all)
      #expect(watchCount(of: shop.directory.path) >= 1)
      withExtendedLifetime(live) {}
    }
    while watchCount(of: shop.directory.path) > 0 { sched_yield() }
  }

  @Test func closingTheStoreEndsListeningForGood() throws {
    let shop = try MusicShop()
    let before = try shop.store.observe(\Album.title, of: 1) { _ in }
    shop.store.close()
    while watchCount(of: shop.directory.path) > 0 { sched_yield() }
    #expect(failure { try shop.store.observe(\Album.title, of: 1) { _ in } }?.code == .misuse)
    #expect(watchCount(of: shop.directory.path) == 0)
    withExtendedLifetime(before) {}
    #expect(shop.failures.events == [])
  }

  @Test func listeningDoesNotKeepAStoreOpen() throws {
    let directory = try TemporaryDirectory()
    weak var engine: StoreEngine?
    var subscription: ObservationToken?
    do {
      let store = try Store(at: directory.file("dropped.store"), models: Artist.self, Album.self)
      engine = store.engine
      subscription = try store.observe(\Album.title, of: 1) { _ in }
      withExtendedLifetime(store) { #expect(watchCount(of: directory.path) == 1) }
    }
    // A poll that was running may have held it last.
    while engine != nil { sched_yield() }
    while watchCount(of: directory.path) > 0 { sched_yield() }
    subscription?.cancel()
  }

  @Test(SQLiteShell.isNeeded) func aReadOnlyStoreIsNotifiedToo() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("read.store")
    do {
      let store = try Store(at: path, models: Artist.self, Album.self)
      try store.write { tx in try tx.insert(Album(id: 1, title: "one")) }
    }
    let shell = try SQLiteShell(path)
    try shell.run("SELECT 1 FROM Album")
    var configuration = StoreConfiguration()
    configuration.access = .readOnly
    let store = try Store(at: path, models: Artist.self, Album.self, configuration: configuration)
    let titles = AwaitedEvents<String>()
    let subscription = try store.observe(\Album.title, of: 1) { titles.add($0.new ?? "") }
    try shell.run("UPDATE Album SET title = 'other' WHERE id = 1")
    try titles.next { $0 == "other" }
    subscription.cancel()
  }

  /// Own commits write to the log like foreign ones. They must cause few polls.
  @Test func aStoreThatCommitsInALoopPollsRarely() throws {
    let shop = try MusicShop { $0.durability = .normal }
    let subscription = try shop.store.observe(\Album.title, of: 1) { _ in }
    let before = Self.lookCount(shop.store)
    let commitCount = 2_000
    for number in 0..<commitCount { try shop.setTitle("\(number)") }
    let count = Self.lookCount(shop.store) - before
    subscription.cancel()
    print("\(count) looks beside \(commitCount) own commits")
    #expect(count <= 2 * commitCount)
    #expect(shop.failures.events == [])
  }

  /// The first live query calls a function that waits in the middle of the poll. Its store goes
  /// then, and only after that does the poll come to the second live query.
  @Test("a live query that outlives its store gets the rows of the poll that was running")
  func theEngineStaysWhileAPollRuns() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("polled.store")
    let (isArmed, polling, isDropped) = (Flag(), DispatchGate(), DispatchGate())
    var configuration = StoreConfiguration()
    configuration.functions = [
      SQLFunction("paused") { values in
        if isArmed.take() {
          polling.open()
          isDropped.wait()
        }
        return values[0]
      }
    ]
    weak var engine: StoreEngine?
    let first: LiveQuery<Artist>
    let second: LiveQuery<Artist>
    do {
      var store: Store? = try Store(at: path, models: Artist.self, configuration: configuration)
      try store?.write { tx in try tx.insert(Artist(id: 1, name: "own")) }
      engine = store?.engine
      first = try #require(try store?.liveQuery(Artist.where { _ in .sql("paused(id) > 0") }))
      second = try #require(try store?.liveQuery(Artist.all))
      isArmed.set()
      try PlainDatabase(path).execute("INSERT INTO Artist VALUES (2, 'foreign')")
      polling.wait()
      withExtendedLifetime(store) {}
      store = nil
    }
    #expect(engine != nil)
    isDropped.open()
    while engine != nil { sched_yield() }
    let keys: [[SQLValue]] = [[.integer(1)], [.integer(2)]]
    #expect(first.keys(in: 0..<first.count) == keys)
    #expect(second.keys(in: 0..<second.count) == keys)
  }

  /// Is set once and taken once, on any threads.
  private final class Flag: Sendable {
    private let isSet = Atomic(false)

    func set() { isSet.store(true, ordering: .sequentiallyConsistent) }

    func take() -> Bool { isSet.exchange(false, ordering: .sequentiallyConsistent) }
  }
}
