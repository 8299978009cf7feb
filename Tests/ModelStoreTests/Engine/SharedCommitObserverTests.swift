import Synchronization
import Testing

@testable import ModelStore

/// Receives commits on the committing thread.
private final class Witness: ChangeBroker.Observer {
  let model: String
  let told = Recorder<String>()

  init(_ model: String) { self.model = model }

  var interests: [ChangeBroker.Interest] { [ChangeBroker.Interest(model: model)] }

  func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
    told.add(commit.changes.map(\.line).joined(separator: "; "))
    return []
  }

  func deliver(upTo version: UInt64) {}
}

/// What observers receive of writes that share a COMMIT, and what they read meanwhile (I16).
@Suite(.tags(.unit), .timeLimit(.minutes(30))) struct SharedCommitObserverTests {
  typealias Body = @Sendable (borrowing WriteTransaction) throws -> Void

  private let directory: TemporaryDirectory
  private let store: Store

  init() throws {
    directory = try TemporaryDirectory()
    store = try Store(at: directory.file("a.store"), models: Artist.self, Album.self)
  }

  private static func insert(_ id: Int64, _ name: String) -> Body {
    { tx in try tx.insert(Artist(id: id, name: name)) }
  }

  /// Runs `bodies` together.
  ///
  /// - Returns: The number of transactions.
  private func run(_ bodies: [Body]) async -> Int {
    let before = store.engine.line.transactionCount
    _ = await HeldWriter.run(on: store, bodies)
    await store.waitForDelivery()
    return store.engine.line.transactionCount - before
  }

  private static let bodies: [Body] = [
    insert(1, "m"), insert(2, "c"), { tx in try tx.set(\Artist.name, to: "z", for: 1) },
    { tx in
      try tx.delete(Artist.self, 2)
      try tx.insert(Artist(id: 3, name: "b"))
    }, insert(4, "a"), { tx in try tx.set(\Artist.name, to: "n", for: 1) },
  ]

  /// The result after each write.
  private static let results = [
    ["m"], ["c", "m"], ["c", "z"], ["b", "z"], ["a", "b", "z"], ["a", "b", "n"],
  ]

  /// Follows a live query, and records its rows after each event.
  private func follow(_ query: StoreQuery<Artist>) throws -> (Recorder<String>, ObservationToken) {
    let told = Recorder<String>()
    let rows = Mutex<[Artist]>([])
    let token = try store.liveQuery(query).observe { event in
      let names = rows.withLock { rows in
        event.apply(to: &rows)
        return rows.map(\.name)
      }
      told.add("\(names)")
    }
    return (told, token)
  }

  private static func lines(_ results: [[String]]) -> [String] {
    var lines: [String] = []
    for (index, names) in results.enumerated() where index == 0 || results[index - 1] != names {
      lines.append("\(names)")
    }
    return lines
  }

  @Test func aLiveQueryMovesOnceForEachWrite() async throws {
    let (told, token) = try follow(Artist.all.order { $0.name })
    let count = await run(Self.bodies)
    token.cancel()
    #expect(told.events == Self.lines(Self.results))
    #expect(count == 1)
  }

  /// Such a query reads the file when it is notified. It must not read a state that is newer than
  /// the write that it is notified of.
  @Test func aQueryThatIsReRunReadsTheStateOfItsWrite() async throws {
    let (told, token) = try follow(
      Artist.all.filter(.sql("name = lower(name)")).order { $0.name })
    let count = await run(Self.bodies)
    token.cancel()
    #expect(told.events == Self.lines(Self.results))
    #expect(count == 6)
  }

  @Test(arguments: [1, 2]) func aWindowReadsTheStateOfItsWrite(limit: Int) async throws {
    let (told, token) = try follow(Artist.all.order { $0.name }.limit(limit))
    let count = await run(Self.bodies)
    token.cancel()
    #expect(told.events == Self.lines(Self.results.map { Array($0.prefix(limit)) }))
    #expect(count == 6)
  }

  /// Writes that do not concern the window share their COMMIT with those before it.
  @Test func onlyAWriteThatConcernsAReaderEndsTheTransaction() async throws {
    let (told, token) = try follow(Artist.all.order { $0.name }.limit(1))
    let album: Body = { tx in
      let next = try tx.count(Album.all) + 1
      try tx.insert(Album(id: Int64(next), title: "t"))
    }
    let albums = Recorder<UInt64>()
    let second = try store.observe(Album.self) { albums.add($0.version) }
    let version = store.engine.broker.version
    let count = await run(
      [album, album, Self.insert(1, "m"), album, album, Self.insert(2, "c"), album])
    token.cancel()
    second.cancel()
    #expect(told.events == ["[\"m\"]", "[\"c\"]"])
    #expect(albums.events == [1, 2, 4, 5, 7].map { version + $0 })
    #expect(count == 3)
  }

  @Test func synchronousObserversAreWaitedForByTheirWriters() async throws {
    let told = Recorder<String>()
    let token = try await store.observe(.field(\Artist.name, of: 1), options: .synchronous) {
      told.add($0.new ?? "")
    }
    let held = await HeldWriter(store)
    let tasks = [
      await held.add(Self.insert(1, "a")), await held.add(Self.insert(2, "b")),
      await held.add { tx in try tx.set(\Artist.name, to: "c", for: 1) },
    ]
    held.release()
    try await tasks[0].value
    #expect(told.events.first == "a")
    try await tasks[2].value
    #expect(told.events == ["a", "c"])
    try await tasks[1].value
    token.cancel()
  }

  @Test func anObserverThatBeginsMeanwhileIsReset() async throws {
    let told = Recorder<String>()
    let tokens = Mutex<[ObservationToken]>([])
    let store = store
    let first = try store.observe(Artist.self) { _ in }
    let before = store.engine.broker.version
    let observe: Body = { tx in
      let token = try store.observe(Artist.self) { changes in
        told.add("\(changes.version - before) \(changes.isReset) \(changes.changes.count)")
      }
      tokens.withLock { $0.append(token) }
      try tx.insert(Artist(id: 2, name: "b"))
    }
    let count = await run([Self.insert(1, "a"), observe, Self.insert(3, "c"), { _ in }])
    try await store.write(Self.insert(5, "e"))
    await store.waitForDelivery()
    tokens.withLock { $0 }.forEach { $0.cancel() }
    first.cancel()
    #expect(count == 1)
    #expect(told.events == ["4 true 0", "5 false 1"])
  }

  /// The hook cannot read such rows, and a snapshot has none of the writes before.
  @Test(arguments: [
    "ALTER TABLE item ADD COLUMN extra DEFAULT 7",
    "ALTER TABLE item ADD COLUMN extra GENERATED ALWAYS AS (a * 10) VIRTUAL",
  ])
  func oldImagesAreThoseThatTheWriteBeforeLeft(column: String) async throws {
    let texts = [
      "UPDATE item SET a = 2 WHERE id = 1", "UPDATE item SET a = 3 WHERE id = 1",
      "DELETE FROM item WHERE id = 1", "INSERT INTO item(id, a) VALUES (1, 4)",
      "UPDATE item SET a = 5 WHERE id IN (1, 2)",
    ]
    func events(together isTogether: Bool) async throws -> [String] {
      let path = directory.file(isTogether ? "together.db" : "alone.db")
      try PlainDatabase(path).execute(
        """
        CREATE TABLE item(id INTEGER PRIMARY KEY, a);
        INSERT INTO item VALUES (1, 1), (2, 1);
        \(column);
        """)
      let store = try await Store(at: path)
      let item = try #require(try await store.adopt().first)
      let witness = Witness(item.name)
      let end = store.engine.broker.add(witness)
      let bodies = texts.map { text -> Body in { tx in try tx.execute(SQLText(sql: text)) } }
      // It leaves no image.
      let refused: Body = { tx in
        try tx.execute("UPDATE item SET a = 99 WHERE id = 1")
        throw CancellationError()
      }
      if isTogether {
        _ = await HeldWriter.run(on: store, bodies.flatMap { [refused, $0] })
        #expect(store.engine.line.transactionCount == 1)
      } else {
        for body in bodies { try await store.writeAlone(body) }
      }
      end()
      return witness.told.events
    }
    let alone = try await events(together: false)
    #expect(alone.count == texts.count)
    #expect(try await events(together: true) == alone)
  }
}
