import Foundation
import Synchronization
import Testing

@testable import ModelStore

/// Several programs write to one file while this one and others observe it; this one writes, too.
@Suite(.tags(.law)) struct ManyWritersTests {
  /// How many commits all of them make: `MODELSTORE_FOREIGN_COMMITS`, or enough for every day.
  private static var commitCount: Int {
    ProcessInfo.processInfo.environment["MODELSTORE_FOREIGN_COMMITS"].flatMap { Int($0) } ?? 800
  }

  /// How often the writers pause, and everything is compared.
  private static var roundCount: Int { min(20, max(4, commitCount / 2000)) }

  /// After this many commits, a writer makes one commit through the command line as well.
  private static let lineInterval = 25

  /// The SQL of one commit of the writer called `place`.
  private static func statements(_ number: Int, of place: Int) -> String {
    let id = 1 + (number * 7 + place * 3) % 9
    switch (number + place) % 6 {
    case 0: return "UPDATE Song SET plays = plays + 1 WHERE id = 1"
    case 1: return "UPDATE Song SET title = '\(place) \(number)' WHERE id = \(id)"
    case 2:
      return
        "INSERT OR REPLACE INTO Album VALUES (\(10 + number % 40), 't\(number % 13)', NULL, NULL)"
    case 3: return "DELETE FROM Album WHERE id = \(10 + (number * 3) % 40)"
    case 4:
      let slot = 1_000_000 * (place + 1) + number
      return """
        BEGIN; DELETE FROM Mix_songs WHERE owner = 1 AND slot % 5 = \(number % 5);
        INSERT INTO Mix_songs VALUES (\(slot), 1, \(slot), \(id)); COMMIT
        """
    default:
      return
        """
        BEGIN; UPDATE Song SET plays = plays + 1 WHERE id = 1;
        UPDATE Album SET title = substr(title || 'x', -40) WHERE id = 3; COMMIT
        """
    }
  }

  private static let runPython = """
    db = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
    db.execute("PRAGMA wal_autocheckpoint = 0")
    db.execute("PRAGMA synchronous = NORMAL")
    for line in sys.stdin:
        for statement in line.strip().split(";"):
            db.execute("BEGIN IMMEDIATE" if statement.strip() == "BEGIN" else statement)
    say("done")
    """

  @Test(
    .ownThreads, OtherProcess.isNeeded, SQLiteShell.isNeeded,
    .enabled(if: WatchingProcess.program != nil, "There is no storecli beside the tests."),
    .timeLimit(.minutes(60)))
  func theStateThatObserversKeepIsThatOfTheFile() async throws {
    let world = try ForeignWorld()
    let store = world.store
    let count = Self.commitCount / 4
    let plays = KeptField(Int64(0))
    let twin = KeptField(Int64(0))
    let title = KeptField("song 2")
    let albums = try KeptQuery(store)
    let songs = KeptList(keys: [1, 2, 2, 3])
    let subscriptions = await [
      try store.observe(.field(\Song.plays, of: 1)) { plays.note($0) },
      try await store.observe(list: \Mix.songs, of: 1) { songs.note($0) },
      try await store.observe(.field(\Song.plays, of: 1)) { twin.note($0) },
      try await store.observe(.field(\Song.title, of: 2)) { title.note($0) },
    ]
    let watchers = try WatchingProcess.program.map { try Watchers($0, of: world) }
    for round in 0..<Self.roundCount {
      let numbers = count * round / Self.roundCount..<count * (round + 1) / Self.roundCount
      try await Self.write(numbers, of: count, to: store) {
        try Self.compare(plays, albums, songs, in: store)
      }
      try watchers?.check(round, world)
      try await store.refresh()
      await store.waitForDelivery()
      let database = world.other
      #expect([[plays.value]] == (try database.rows(Self.playsText.sql)))
      #expect(albums.images == (try database.rows(Self.albumsText.sql)))
      #expect(songs.rows == (try database.rows(Self.songsText.sql)))
    }
    #expect(plays.objections.events == [])
    #expect(plays.values.events == twin.values.events)
    #expect(title.objections.events == [])
    #expect(albums.objections.events == [])
    #expect(songs.objections.events == [])
    for model in ["Song", "Album", "Mix.songs"] {
      #expect(try world.replayed(model) == world.stored(model), "\(model)")
    }
    // Each addition was made exactly once.
    let additions = (0..<4).flatMap { place in
      (0..<count).filter { [0, 5].contains(($0 + place) % 6) }
    }
    let lineCount = (0..<count).count(where: Self.isForLine)
    let playCount = additions.count + (WatchingProcess.program == nil ? 0 : lineCount)
    #expect(plays.value == .integer(Int64(playCount)))
    try watchers?.finish(
      world, playCount: playCount, plays: plays.values.events, titles: title.values.events)
    #expect(try await store.checkIntegrity() == [])
    #expect(world.errors.events == [])
    print(
      "many writers: \(4 * count) commits and those of storecli, "
        + "\(plays.values.events.count) events of one field")
    for subscription in subscriptions { subscription.cancel() }
  }

  /// Whether a commit is also made by the command line.
  private static func isForLine(_ number: Int) -> Bool { number % lineInterval == 0 }

  /// All writers make the commits of `numbers`, and end.
  ///
  /// - Parameter look: Called now and then between two commits of this process.
  private static func write(
    _ numbers: Range<Int>, of count: Int, to store: Store, looking look: () throws -> Void
  ) async throws {
    let path = store.path
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        let shell = try SQLiteShell(path)
        // An automatic checkpoint meets a bug in many versions of SQLite that damages the file.
        try shell.run("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = NORMAL")
        for number in numbers {
          await Task.yield()
          let text = statements(number, of: 0)
          try shell.run(text.replacing("BEGIN;", with: "BEGIN IMMEDIATE;"))
        }
        #expect(try shell.finish() == 0)
      }
      group.addTask {
        let python = try OtherProcess(runPython, path)
        for number in numbers {
          await Task.yield()
          try python.say(statements(number, of: 1).replacing("\n", with: " "))
        }
        #expect(try python.finish() == 0)
      }
      group.addTask {
        await #expect(processExitsWith: .success) {
          [
            path = path as String, start = numbers.lowerBound as Int,
            end = numbers.upperBound as Int
          ]
          in
          var configuration = StoreConfiguration()
          configuration.durability = .normal
          configuration.busyTimeout = .seconds(60)
          let store = try Store(
            at: path, models: Album.self, Song.self, Mix.self, configuration: configuration)
          for number in start..<end { try Self.write(number, of: 2, to: store) }
        }
      }
      group.addTask {
        guard let program = WatchingProcess.program else { return }
        for _ in numbers.filter(isForLine) {
          await Task.yield()
          let code = run(
            program, "update", "-d", path, "--busy-timeout", "60", "-q", "Song", "1", "plays+=1")
          #expect(code == 0)
        }
      }
      for number in numbers {
        try write(number, of: 3, to: store)
        guard number % max(1, count / 20) == 0 else { continue }
        try look()
        await Task.yield()
      }
      try await group.waitForAll()
    }
  }

  /// Compares the copies that observers keep with the file while no program writes, when everything
  /// has been reported.
  private static func compare(
    _ plays: KeptField<Int64>, _ albums: KeptQuery, _ songs: KeptList, in store: Store
  ) throws {
    try store.write { tx in
      store.engine.broker.drain()
      let connection = tx.access.connection
      func rows(_ text: SQLText) throws -> [[SQLValue]] {
        try connection.rows(text) { row in try row.values() }
      }
      let stored = try [playsText, albumsText, songsText].map(rows)
      #expect(stored == [[[plays.value]], albums.images, songs.rows])
    }
  }

  static let playsText: SQLText = "SELECT plays FROM Song WHERE id = 1"
  static let albumsText: SQLText = "SELECT * FROM Album ORDER BY title, id"
  static let songsText: SQLText =
    "SELECT element FROM Mix_songs WHERE owner = 1 ORDER BY label, slot"

  private static func write(_ number: Int, of place: Int, to store: Store) throws {
    let statements = statements(number, of: place).split(separator: ";")
      .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
    try store.write { tx in
      for text in statements where text != "BEGIN" && text != "COMMIT" {
        try tx.execute(SQLText(sql: text))
      }
    }
  }
}

/// What an observer of one field keeps: each event must begin where the one before ended.
private final class KeptField<Value: Hashable & Sendable>: Sendable {
  let first: Value
  let values = Recorder<Value>()
  let objections = Recorder<String>()

  init(_ first: Value) { self.first = first }

  func note(_ change: FieldEvent<Value>) {
    let last = values.events.last ?? first
    guard let new = change.new, !change.isReset, change.old == last else {
      return objections.add("\(change) after \(last)")
    }
    values.add(new)
  }
}

extension KeptField<Int64> {
  var value: SQLValue { .integer(values.events.last ?? first) }
}

/// A copy of a result, kept by applying the events of a live query.
private final class KeptQuery: Sendable {
  let list: Mutex<[DynamicRecord]>
  let objections = Recorder<String>()
  private let subscription: Mutex<ObservationToken?> = Mutex(nil)

  var images: [[SQLValue]] { list.withLock { $0.map(\.values) } }

  init(_ store: Store) throws {
    let schema = try store.schema.model(named: "Album")
    let title = try #require(schema.fieldIndex(named: "title"))
    let query = StoreQuery<DynamicRecord>(schema, orderings: [QueryOrdering(fieldIndex: title)])
    list = Mutex(try store.fetch(query))
    let held = try store.liveQuery(query).observe { [weak self] in self?.note($0) }
    subscription.withLock { $0 = held }
  }

  private func note(_ event: QueryChanges<DynamicRecord>) {
    list.withLock { list in
      guard !event.isReset, event.oldCount == list.count else {
        return objections.add("reset \(event.isReset), \(event.oldCount) of \(list.count)")
      }
      event.apply(to: &list)
    }
  }
}

/// A copy of a list, kept by applying its events.
private final class KeptList: Sendable {
  let keys: Mutex<[Int64]>

  var rows: [[SQLValue]] { keys.withLock { $0.map { [.integer($0)] } } }

  let objections = Recorder<String>()

  init(keys: [Int64]) { self.keys = Mutex(keys) }

  func note(_ changes: ListChanges<Int64>) {
    keys.withLock { keys in
      guard !changes.isReset, changes.old.count == keys.count else {
        return objections.add("reset \(changes.isReset), \(changes.old.count) of \(keys.count)")
      }
      changes.apply(to: &keys)
    }
  }
}
